"""Every seam of Orbit: what a package can add to it, and how it is found.

A package says what it adds in one value, `extra`, of type `Extra`, and names it in its metadata:

    [project.entry-points."orbit_registry.extras"]
    loop = "orbit_loop:extra"

Those that ship with Orbit say it in the same way; they are in `SHIPPED`, so that a checkout
without metadata has them too. A value names modules and imports none: what is not used costs
nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

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

    target: str  # `package.module:function`
    line: str


@dataclass(frozen=True, slots=True)
class Extra:
    """What a package adds."""

    name: str
    """What people call it: `loop`."""

    operations: Sequence[str] = ()
    """Modules with operations, `@operation(…)`, for all doors; see `answers.table`."""

    checks: Sequence[str] = ()
    """Modules with checks of the gate, `@check(…)`; see `checks.check`."""

    commands: Mapping[str, Mapping[str, Command]] = field(default_factory=dict)
    """Commands by the job that they are listed under and by their names."""


@cache
def extras() -> tuple[Extra, ...]:
    """Return what the installed packages add, those that ship with Orbit first."""
    shipped = [_load(f"{name}:extra") for name in SHIPPED if find_spec(name) is not None]
    others = [_load(value) for value in _values() if value.partition(":")[0] not in SHIPPED]
    return (*shipped, *others)


def _values() -> Iterator[str]:
    """Yield the values that installed packages name in their metadata.

    `importlib.metadata` answers the same, and takes 30 ms of each command.
    """
    for folder in dict.fromkeys(sys.path):
        for file in sorted(Path(folder).glob("*.dist-info/entry_points.txt")):
            with suppress(OSError):
                yield from _values_in(file.read_text("utf-8", "replace"))


def _values_in(text: str) -> Iterator[str]:
    _, _, after = text.partition(f"[{GROUP}]")
    section, _, _ = after.partition("\n[")
    for line in section.splitlines():
        value = line.partition("=")[2].strip()
        if value:
            yield value


def _load(target: str) -> Extra:
    module, _, name = target.partition(":")
    extra: Extra = getattr(importlib.import_module(module), name)
    return extra
