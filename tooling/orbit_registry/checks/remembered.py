"""Remembers what a run of the checks found, under the key of everything it looked at; deciding nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.position import Position

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


def row_of(one: Diagnostic) -> list[object]:
    """Return a finding as JSON holds it."""
    related = [_place(location) for location in one.related]
    return [one.code, one.severity.value, one.message, _place(one.location), one.hint, one.record, related, one.fixable]


def _place(location: Location) -> list[object]:
    place = location.position
    return [location.path, place.line, place.column] if place is not None else [location.path]


def diagnostic_of(row: Sequence[object]) -> Diagnostic:
    """Return the finding that `row_of` wrote."""
    match row:
        case [str(code), str(severity), str(message), list(place), hint, record, list(related), bool(fixable)]:
            return Diagnostic(
                code=code,
                severity=Severity(severity),
                message=message,
                location=_location(place),
                hint=None if hint is None else str(hint),
                record=None if record is None else str(record),
                related=tuple(_location(one) for one in related),
                fixable=fixable,
            )
    raise ValueError(f"a remembered finding has another form: {row!r}")


def _location(place: Sequence[object]) -> Location:
    match place:
        case [str(path), int(line), int(column)]:
            return Location(path, Position(line, column))
        case [str(path)]:
            return Location(path)
    raise ValueError(f"a remembered place has another form: {place!r}")
