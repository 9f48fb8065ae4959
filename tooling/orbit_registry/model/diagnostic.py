"""Findings of checks as values, and the envelope of every JSON output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from orbit_registry.formats.position import Position, Problem

ENVELOPE_SCHEMA = Path(__file__).with_name("envelope.schema.json")


class Severity(StrEnum):
    """Weight of a diagnostic: only an error turns the gate red."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A path from the repository's root, with `/`, and a position in that file."""

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
        """Order by path and position, then code: the order in which people read a file."""
        position = self.location.position or Position(0, 0)
        return (self.location.path, position.line, position.column, self.code, self.message)

    @property
    def fingerprint(self) -> str:
        """Identity of a finding in the baseline: code, path, record and message, without the line, which moves."""
        return f"{self.code} {self.location.path} {self.record or '-'} {self.message}"

    def as_dict(self) -> dict[str, object]:
        """Return the diagnostic as the JSON outputs show it."""
        position = self.location.position
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "path": self.location.path,
            "line": position.line if position else None,
            "column": position.column if position else None,
            "hint": self.hint,
            "record": self.record,
            "related": [str(location) for location in self.related],
            "fixable": self.fixable,
        }


def from_problem(problem: Problem, path: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return a problem of a text as a diagnostic of the file at `path`."""
    return Diagnostic(problem.code, severity, problem.message, Location(path, problem.position), problem.hint)


def to_row(diagnostic: Diagnostic) -> list[object]:
    """Return a diagnostic as a list that JSON can hold."""
    related = [_location_row(location) for location in diagnostic.related]
    return [
        diagnostic.code,
        diagnostic.severity.value,
        diagnostic.message,
        _location_row(diagnostic.location),
        diagnostic.hint,
        diagnostic.record,
        related,
        diagnostic.fixable,
    ]


def _location_row(location: Location) -> list[object]:
    position = location.position
    return [location.path, position.line, position.column] if position is not None else [location.path]


def from_row(row: Sequence[object]) -> Diagnostic:
    """Return the diagnostic that `to_row` wrote.

    Raises:
        ValueError: the row has another form.
    """
    match row:
        case [str(code), str(severity), str(message), list(location), hint, record, list(related), bool(fixable)]:
            return Diagnostic(
                code=code,
                severity=Severity(severity),
                message=message,
                location=_location_from(location),
                hint=None if hint is None else str(hint),
                record=None if record is None else str(record),
                related=tuple(_location_from(other) for other in related),
                fixable=fixable,
            )
    raise ValueError(f"a kept diagnostic has another form: {row!r}")


def _location_from(row: Sequence[object]) -> Location:
    match row:
        case [str(path), int(line), int(column)]:
            return Location(path, Position(line, column))
        case [str(path)]:
            return Location(path)
    raise ValueError(f"a kept place has another form: {row!r}")


def envelope(
    data: object,
    *,
    ok: bool = True,
    diagnostics: Sequence[Mapping[str, object]] = (),
    next_commands: Sequence[str] = (),
    error: str | None = None,
    hint: str | None = None,
) -> dict[str, object]:
    """Return the envelope around `data`; `error` and `hint` explain a failure, in one line each."""
    body: dict[str, object] = {"ok": ok, "data": data, "diagnostics": list(diagnostics), "next": list(next_commands)}
    return {**body, "error": error, "hint": hint} if error is not None else body
