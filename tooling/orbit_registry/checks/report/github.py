"""Annotations for GitHub's log commands: one line a finding, escaped so that no message ends a command."""

from __future__ import annotations

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.report.text import printable, summary
from orbit_registry.model.diagnostic import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(outcome: CheckOutcome) -> str:
    """Return one annotation a line, then the line that counts."""
    return "".join(f"{line}\n" for line in (*map(annotation, outcome.diagnostics), summary(outcome)))


def annotation(diagnostic: Diagnostic) -> str:
    """Return a finding as a log command."""
    place = diagnostic.location.position
    properties = {
        "file": diagnostic.location.path,
        "line": str(place.line) if place else "1",
        "col": str(place.column) if place else "1",
        "title": diagnostic.code,
    }
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = "\n".join(printable(text) for text in (diagnostic.message, diagnostic.hint) if text)
    return f"::{_COMMANDS[diagnostic.severity]} {told}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
