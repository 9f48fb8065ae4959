"""The report that programs read: {ok, data, diagnostics, next}; its schema is docs/schemas/check.schema.json."""

from __future__ import annotations

import json
from collections import Counter

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.formats.untrusted import inert_json
from orbit_registry.model.diagnostic import Severity, envelope


def render(outcome: CheckOutcome) -> str:
    """Return the report as one JSON object."""
    rows = [diagnostic.as_dict() for diagnostic in outcome.diagnostics]
    report = envelope(data(outcome), ok=outcome.ok, diagnostics=rows, next_commands=following(outcome))
    return inert_json(json.dumps(report, ensure_ascii=False, indent=2)) + "\n"


def data(outcome: CheckOutcome) -> dict[str, object]:
    """Return the counts."""
    counts = Counter(diagnostic.severity for diagnostic in outcome.diagnostics)
    return {
        "checked": outcome.checked_count,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "notes": counts[Severity.NOTE],
        "baselined": len(outcome.baselined),
        "gone": len(outcome.resolved),
        "fixed": [diagnostic.as_dict() for diagnostic in outcome.fixed],
        "base": outcome.base,
    }


def following(outcome: CheckOutcome) -> list[str]:
    """Return the commands that make sense now."""
    commands = []
    if any(diagnostic.fixable for diagnostic in outcome.diagnostics):
        commands.append("orbit check --fix")
    if outcome.baselined:
        commands.append("orbit check --all")
    if outcome.resolved:
        commands.append("orbit baseline update")
    return commands
