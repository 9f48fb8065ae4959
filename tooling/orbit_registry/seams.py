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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec

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
    points = [each.value for each in entry_points(group=GROUP)]
    others = [_load(value) for value in points if value.partition(":")[0] not in SHIPPED]
    return (*shipped, *others)


def _load(target: str) -> Extra:
    module, _, name = target.partition(":")
    extra: Extra = getattr(importlib.import_module(module), name)
    return extra
