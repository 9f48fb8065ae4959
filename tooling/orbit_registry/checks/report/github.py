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
    position = diagnostic.location.position
    properties = {
        "file": diagnostic.location.path,
        "line": str(position.line) if position else "1",
        "col": str(position.column) if position else "1",
        "title": diagnostic.code,
    }
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = "\n".join(printable(text) for text in (diagnostic.message, diagnostic.hint) if text)
    return f"::{_COMMANDS[diagnostic.severity]} {joined}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
