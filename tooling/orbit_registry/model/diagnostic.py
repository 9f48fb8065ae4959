"""Findings of checks as values, and the envelope of every JSON output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from orbit_registry.formats.position import Position, Problem

ENVELOPE_SCHEMA = Path(__file__).with_name("envelope.schema.json")


class Severity(StrEnum):
    """How much a diagnostic weighs: an error turns the gate red, a warning and a note don't."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the repository: the path from its root, with `/`, and a position in that file."""

    path: str
    position: Position | None = None

    def __str__(self) -> str:
        if self.position is None:
            return self.path
        return f"{self.path}:{self.position.line}:{self.position.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of a check."""

    code: str
    severity: Severity
    message: str
    location: Location
    hint: str | None = None
    record: str | None = None
    related: tuple[Location, ...] = ()
    fixable: bool = False

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order by place, then code: the order people read a file in."""
        place = self.location.position or Position(0, 0)
        return (self.location.path, place.line, place.column, self.code, self.message)

    @property
    def fingerprint(self) -> str:
        """What the baseline knows a finding by: code, path, record and words, but no line, which moves."""
        return f"{self.code} {self.location.path} {self.record or '-'} {self.message}"

    def as_dict(self) -> dict[str, object]:
        """Return the diagnostic as the JSON outputs show it."""
        place = self.location.position
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "path": self.location.path,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "hint": self.hint,
            "record": self.record,
            "related": [str(location) for location in self.related],
            "fixable": self.fixable,
        }


def from_problem(problem: Problem, path: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return what a text reader found as a diagnostic of the file at `path`."""
    return Diagnostic(problem.code, severity, problem.message, Location(path, problem.position), problem.hint)


def to_row(one: Diagnostic) -> list[object]:
    """Return a diagnostic as values that JSON can hold."""
    related = [_place(location) for location in one.related]
    return [one.code, one.severity.value, one.message, _place(one.location), one.hint, one.record, related, one.fixable]


def _place(location: Location) -> list[object]:
    place = location.position
    return [location.path, place.line, place.column] if place is not None else [location.path]


def from_row(row: Sequence[object]) -> Diagnostic:
    """Return the diagnostic that `row_of` wrote.

    Raises:
        ValueError: it has another form.
    """
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
    raise ValueError(f"a kept diagnostic has another form: {row!r}")


def _location(place: Sequence[object]) -> Location:
    match place:
        case [str(path), int(line), int(column)]:
            return Location(path, Position(line, column))
        case [str(path)]:
            return Location(path)
    raise ValueError(f"a kept place has another form: {place!r}")


def envelope(
    data: object,
    *,
    ok: bool = True,
    diagnostics: Sequence[Mapping[str, object]] = (),
    next_commands: Sequence[str] = (),
    error: str | None = None,
    hint: str | None = None,
) -> dict[str, object]:
    """Return the envelope around `data`; `error` and `hint` say why there are none, as one line each."""
    whole: dict[str, object] = {"ok": ok, "data": data, "diagnostics": list(diagnostics), "next": list(next_commands)}
    return {**whole, "error": error, "hint": hint} if error is not None else whole
