"""Remembers what a run of the checks found, under the key of everything it looked at; deciding nothing itself."""

from __future__ import annotations

from orbit_registry.records.diagnostic import Diagnostic, diagnostic_of, row_of
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace
from orbit_registry.values import dataclass

CACHE = "checked"


@dataclass(frozen=True, slots=True)
class Result:
    """What the checks found, every finding in order."""

    diagnostics: tuple[Diagnostic, ...]
    checked_count: int
    base: str | None


def recall(workspace: Workspace, key: str) -> Result | None:
    """Return what an earlier run found under the same key."""
    match KeptValue(workspace, CACHE, key).value:
        case {"diagnostics": list(rows), "checked": int(checked), "base": None | str() as base}:
            return Result(tuple(diagnostic_of(row) for row in rows), checked, base)
    return None


def remember(workspace: Workspace, key: str, result: Result) -> None:
    """Keep a result; a disk that refuses is let be."""
    rows = [row_of(diagnostic) for diagnostic in result.diagnostics]
    value = {"diagnostics": rows, "checked": result.checked_count, "base": result.base}
    KeptValue(workspace, CACHE, key).keep(value)
