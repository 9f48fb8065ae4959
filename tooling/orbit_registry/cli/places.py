"""Places on the command line: the workspace here, paths as they are from its root, and what leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from posixpath import normpath

import click

from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError, did_you_mean
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import path_from_root


def open_registry() -> Registry:
    """Return the registry of the workspace here, with steps that a killed process began finished or undone."""
    registry = Registry.open()
    registry.recover()
    return registry


def say_astray(registry: Registry, record: Record) -> None:
    """Say on the side where a record that was just written leads nowhere: what the gate would note days later."""
    if record.is_unreachable:
        hint = f"`orbit {record.kind.name} update {record.id} --path 'src/**'`, or `orbit scope suggest {record.id}`"
        _note(f"it names no path and no tag, so no edit will show it: {hint}")
    say_unmatched(registry, record)
    rests = record.evidence or "freshness" in record.data  # to look costs a Markdown parser
    for freshness in registry.freshness([record]).values() if rests else ():
        for reason in freshness.reasons:
            if reason.subject != "scope.paths":  # told glob by glob above
                _note(reason.message + _from_root(registry, *reason.subject.split(":", 1)))


def _from_root(registry: Registry, kind: str, reference: str = "") -> str:
    """Return how evidence that is not there is named right, where a file stands there as seen from here, else ""."""
    named = normpath(f"{_below(registry)}/{reference}") if kind == "file" and _below(registry) else ""
    is_here = bool(named) and (registry.workspace.root / named).is_file()
    return f"; files are named from the project's root: file:{named}" if is_here else ""


def say_unmatched(registry: Registry, record: Record) -> None:
    """Say on the side which globs of a new or changed record match no file."""
    for one in registry.unmatched(record, _below(registry)):
        _note(f"`{one.glob}` matches no file: {one.hint}")


def _below(registry: Registry) -> str:
    """Return the folder that one stands in, from the root; "" at the root or outside of it."""
    root, here = registry.workspace.root.resolve(), Path.cwd().resolve()
    return here.relative_to(root).as_posix() if here.is_relative_to(root) and here != root else ""


def say_unknown(registry: Registry, **asked: Sequence[str]) -> None:
    """Say on the side which tags, labels or features that were asked for no record has, and which one is near."""
    records = registry.collection.records
    for name, words in asked.items():
        used = {word for record in records for word in _words_of(record, name)} if words else set()
        for word in words:
            if word not in used:
                _note(f"no record has the {name} `{word}`; {did_you_mean(word, sorted(used), '`')}".rstrip("; "))


def say_unread(registry: Registry) -> None:
    """Say on the side how many files hold no record that can be read, as the push index counts them."""
    from orbit_registry.hook.index import Index
    from orbit_registry.matching.sync import open_index

    index = open_index(registry.workspace)
    if isinstance(index, Index) and index.unread:
        files = "1 file holds" if index.unread == 1 else f"{index.unread:,} files hold"
        _note(f"{files} no record that can be read: `orbit check` names each")


def say_behind(registry: Registry) -> None:
    """Say on the side that a hook has no push index, or one that is behind the files."""
    from orbit_registry.hook.index import NoIndex
    from orbit_registry.matching.sync import open_index

    index = open_index(registry.workspace)
    if isinstance(index, NoIndex):
        _note("hooks show nothing yet, for there is no push index; this command makes it")
    elif index.stale:
        _note("the push index is behind the files, as a hook's next call finds too: `orbit sync` brings it up to date")


def _words_of(record: Record, name: str) -> Sequence[str]:
    if name == "feature":
        return (record.text(name) or "",)
    return record.scope.tags if name == "tag" else record.words(f"{name}s")


def _note(said: str) -> None:
    click.echo(visible(f"note: {said}"), err=True)


def from_root(registry: Registry, path: str) -> str:
    """Return a path given from where the command runs as one from the workspace's root, "" for the root itself.

    Links are followed in the folders that lead to it, and it need not exist. A folder has a "/" at its end; one that is
    there gets it.

    Raises:
        UsageError: it is empty or outside.
    """
    if not path:
        raise UsageError("a path is empty", hint="`.` is the folder you are in; a shell variable may be unset")
    found = path_from_root(registry.workspace.root, Path.cwd(), path)
    is_folder = found != "" and not found.endswith("/") and (registry.workspace.root / found).is_dir()
    return f"{found}/" if is_folder else found
