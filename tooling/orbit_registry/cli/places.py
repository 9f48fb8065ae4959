"""Places named on the command line: paths as they are from the root, and globs that lead nowhere; it reads no file."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import click

from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.records.record import Record
from orbit_registry.registry import Registry


def say_unmatched(registry: Registry, record: Record) -> None:
    """Say on the side which globs of a record that was just written match no file."""
    root, here = registry.workspace.root.resolve(), Path.cwd().resolve()
    below = here.relative_to(root).as_posix() if here.is_relative_to(root) and here != root else ""
    for one in registry.unmatched(record, below):
        click.echo(visible(f"note: `{one.glob}` matches no file: {one.hint}"), err=True)


def from_root(registry: Registry, path: str) -> str:
    """Return a path given from where the command runs as one from the workspace's root, "" for the root itself.

    Links are followed in the folders that lead to it, and it need not exist. A "/" at its end stays: it asks about a
    folder.

    Raises:
        UsageError: it is outside.
    """
    root = registry.workspace.root
    whole = Path.cwd() / path
    named = PurePosixPath(path).name not in ("", "..", ".")
    place = whole.parent.resolve() / whole.name if named else whole.resolve()
    if not place.is_relative_to(root):
        raise UsageError(f"{path!r} leads out of the project", hint=f"name a file or folder below {root}")
    relative = place.relative_to(root).as_posix()
    relative = "" if relative == "." else relative
    return f"{relative}/" if relative and path.endswith(("/", "/.", "/..")) else relative
