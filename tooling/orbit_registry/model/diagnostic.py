"""Findings of checks as values, and the envelope of every JSON output."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import Position, Problem
from orbit_registry.formats.untrusted import escaped_line

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
        path = escaped_line(self.path)
        if self.position is None:
            return path
        return f"{path}:{self.position.line}:{self.position.column}"


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
    check: str | None = None  # the check of a record that found it: ADR-0016/run-only-in-bridge
    allowed: str | None = None  # why a comment at the place allows it

    @property
    def rule(self) -> str:
        """What reports call the rule: the check of a record, else the code."""
        return self.check or self.code

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order by path and position, then code: the order in which people read a file."""
        position = self.location.position or Position(0, 0)
        return (self.location.path, position.line, position.column, self.code, self.message)

    @property
    def fingerprint(self) -> str:
        """Identity of a finding in the baseline, without the line, which moves."""
        return f"{self.code} {self.location.path} {self.record or '-'} {self.message}"

    def as_dict(self) -> dict[str, object]:
        """Return the diagnostic as the JSON outputs show it."""
        data: dict[str, object] = {"code": self.code}
        if self.check:
            data["check"] = self.check

        position = self.location.position
        data |= {
            "severity": self.severity.value,
            "message": self.message,
            "path": self.location.path,
            "line": position and position.line,
            "column": position and position.column,
            "hint": self.hint,
            "record": self.record,
            "related": [str(location) for location in self.related],
            "fixable": self.fixable,
        }
        return data


def from_problem(problem: Problem, path: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return a problem of a text as a diagnostic of the file at `path`."""
    location = Location(path, problem.position)
    return Diagnostic(problem.code, severity, problem.message, location, problem.hint)


def from_error(
    code: str, path: str, error: OrbitError, root: str, record: str | None = None
) -> Diagnostic:
    """Return an error about the file at `path`.

    An error that begins with its place, `path:3:7: …`, gives the position.
    """
    place = rf"(?:{re.escape(root)}/)?{re.escape(path)}(?::(\d+):(\d+))?:? "
    message = error.message
    position = None
    match = re.match(place, message)
    if match is not None:
        message = message[match.end() :]
        if match[1]:
            position = Position(int(match[1]), int(match[2]))

    message = message.replace(f"{root}/", "")
    return Diagnostic(code, Severity.ERROR, message, Location(path, position), error.hint, record)


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
    body: dict[str, object] = {
        "ok": ok,
        "data": data,
        "diagnostics": list(diagnostics),
        "next": list(next_commands),
    }
    if error is not None:
        body["error"] = error
        body["hint"] = hint

    return body
