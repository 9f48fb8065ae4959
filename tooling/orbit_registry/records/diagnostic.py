"""What is wrong in users' data, as a value: where, what, and what to do; it never prints itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orbit_registry.text.position import Position, Problem


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


def from_problem(
    problem: Problem, path: str, severity: Severity = Severity.ERROR, record: str | None = None
) -> Diagnostic:
    """Return what a text reader found as a diagnostic of the file at `path`."""
    return Diagnostic(problem.code, severity, problem.message, Location(path, problem.position), problem.hint, record)
