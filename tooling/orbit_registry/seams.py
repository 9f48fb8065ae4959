"""Every seam of Orbit: what a package can add to it, and how it is found.

A package says what it adds in one value, `extra`, of type `Extra`, and names it in its metadata:

    [project.entry-points."orbit_registry.extras"]
    loop = "orbit_loop:extra"

Those that ship with Orbit say it in the same way; they are in `SHIPPED`, so that a checkout
without metadata has them too. A value names modules and imports none: what is not used costs
nothing. A target is written as `package.module:function`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from orbit_registry.errors import ConfigError

NO_LOOP = "install the package of the loop again: orbit_loop"
Entry = TypeVar("Entry")
GROUP = "orbit_registry.extras"
SHIPPED = (
    "orbit_loop",
    "orbit_enforce",
    "orbit_measure",
    "orbit_fleet",
    "orbit_import_orbit",
    "orbit_notify",
)
"""The packages next to this one; any of them may be deleted."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is written for the command line alone: where it is, and its line of help."""

    target: str
    line: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site that is no index of a kind."""

    title: str

    description: str
    """What it shows of a site; `{}` is the title of the site."""

    wanted: str
    """Takes the published records; says whether the site has the page."""

    html: str
    """Takes what is published and the page's address; returns HTML."""

    markdown: str
    """Takes what is published and the links of the page; returns Markdown."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the snapshot."""

    sql: str
    """Its `CREATE TABLE`."""

    rows: str
    """Takes the records that the snapshot has; yields mappings by column."""


@dataclass(frozen=True, slots=True)
class Extra:
    """What a package adds."""

    name: str
    """What people call it: `loop`."""

    operations: Sequence[str] = ()
    """Modules with operations, `@operation(…)`, for all doors; see `doors.answers.table`."""

    checks: Sequence[str] = ()
    """Modules with checks of the gate, `@check(…)`; see `checks.check`."""

    commands: Mapping[str, Mapping[str, Command]] = field(default_factory=dict)
    """Commands by the job that they are listed under and by their names."""

    ways: Mapping[str, str] = field(default_factory=dict)
    """Functions for options of the core's commands: `check --loop`, `brief --for plan`."""

    tools: str = ""
    """The package whose `tools.yaml` has the words of its MCP tools; see `doors/mcp/tools.yaml`."""

    kinds: str = ""
    """The package whose folder `kinds` has a folder for each kind of record; see `model.kind`."""

    importers: Sequence[str] = ()
    """Modules with `IMPORTERS` for `orbit import --from`; see `exchange/importers/importer.py`."""

    exporters: Sequence[str] = ()
    """Modules with `EXPORTERS` for `orbit export rules`; see `exchange/exporters/rules.py`."""

    pages: Mapping[str, Page] = field(default_factory=dict)
    """Pages of the site by their folder."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    """Tables of the snapshot by name."""

    record_checks: str = ""
    """The module that runs what records state under `checks:`; the first installed one does.

    It has the functions of `lifecycle.record_checks.Runner`.
    """

    checks_on_pages: str = ""
    """Takes what is published, records, files and the site's map; returns what the pages of these
    records show of their checks, by path.
    """

    outcome: str = ""
    """Takes the workspace and an id; returns what became of a record where it was shown, as data,
    and the same as a line. `orbit show` has it.
    """

    notifier: str = ""
    """Takes the workspace, a topic and texts by key; sends those that are new, returns how many."""


@cache
def extras() -> tuple[Extra, ...]:
    """Return what the installed packages add, those that ship with Orbit first."""
    return tuple([_extra(target) for target in _extra_targets()])


def packages() -> Iterator[Path]:
    """Yield the folders of the installed packages that add something, or a module's file."""
    for target in _extra_targets():
        spec = find_spec(target.partition(":")[0])
        if spec is not None and spec.origin is not None:
            file = Path(spec.origin)
            yield file.parent if spec.submodule_search_locations else file


@cache
def _extra_targets() -> tuple[str, ...]:
    shipped = [f"{name}:extra" for name in SHIPPED if find_spec(name) is not None]
    listed = dict.fromkeys(_entry_points())
    others = [target for target in listed if target.partition(":")[0] not in SHIPPED]
    # Metadata may name a package whose folder was deleted: it adds nothing.
    return (*shipped, *(target for target in others if find_spec(_package(target)) is not None))


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]


def load(target: str) -> Any:
    """Return what a target names: a module, or `module:name`.

    Raises:
        ConfigError: It can't be loaded, whatever its package does when it is imported.
    """
    module, _, name = target.partition(":")
    try:
        loaded = importlib.import_module(module)
        if name:
            return getattr(loaded, name)

        return loaded
    except (Exception, SystemExit) as error:
        reason = str(error) or type(error).__name__
        message = f"could not load {target}, which adds to Orbit: {reason}"
        hint = f"correct or uninstall the package {_package(target)}"
        raise ConfigError(message, hint=hint) from error


def add(entries: dict[str, Entry], added: Mapping[str, Entry], what: str, package: str) -> None:
    """Add what a package has, by names that nothing has yet: it adds, and replaces nothing.

    Raises:
        ConfigError: A name is there already.
    """
    for name in added:
        if name in entries:
            message = f"{package} adds the {what} `{name}`, which is there already"
            raise ConfigError(message, hint=f"give it another name, or uninstall {package}")

    entries.update(added)


def targets(seam: str) -> list[str]:
    """Return what the packages say of a seam that takes one target, without those that say
    nothing.
    """
    listed = [getattr(extra, seam) for extra in extras()]
    return [target for target in listed if target]


def way(option: str) -> Callable[..., Any] | None:
    """Return what a package does for an option of a command; None if none has it."""
    for extra in extras():
        if option in extra.ways:
            function: Callable[..., Any] = load(extra.ways[option])
            return function

    return None


def kind_folders() -> Iterator[Path]:
    """Yield the folders with kinds of records."""
    for package in targets("kinds"):
        yield from _in_package(package, "kinds")


def tool_files() -> Iterator[Path]:
    """Yield the files with the words of MCP tools."""
    for package in targets("tools"):
        yield from _in_package(package, "tools.yaml")


def _in_package(package: str, name: str) -> Iterator[Path]:
    spec = find_spec(package)
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / name


def _extra(target: str) -> Extra:
    extra = load(target)
    if not isinstance(extra, Extra):
        message = f"{target}, which adds to Orbit, is no `Extra` of `orbit_registry.seams`"
        raise ConfigError(message, hint="correct it, or uninstall its package")

    return extra


def version_of(package: str) -> str | None:
    """Return the version of an installed package, which the folder of its metadata names."""
    for folder in _metadata():
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        if name == package and version:
            return version

    return None


def _entry_points() -> Iterator[str]:
    """Yield the targets of the group in the metadata of installed packages."""
    for folder in _metadata():
        yield from _targets_in(folder / "entry_points.txt")


def _metadata() -> Iterator[Path]:
    """Yield the folders with metadata of installed packages.

    `importlib.metadata` gives the same in 25 ms, which each command would wait for.
    """
    for folder in sys.path:
        try:
            names = [name for name in os.listdir(folder or ".") if name.endswith("-info")]
        except OSError:
            continue

        for name in names:
            yield Path(folder, name)


def _targets_in(file: Path) -> Iterator[str]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return

    section = text.partition(f"[{GROUP}]")[2].partition("\n[")[0]
    for line in section.splitlines():
        target = line.partition("=")[2].strip()
        if target:
            yield target
