"""ORB401: a decision names no cost."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.checks.prose import decision_of
from orbit_registry.records.diagnostic import Diagnostic, Severity

_WEIGHT = {"live": Severity.ERROR, "pending": Severity.WARNING}


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each decision without a `Cost:` line, a filled Negative or Risks section, or a "Bad, because"."""
    for record in context.records:
        if not record.kind.in_document or record.phase == "closed" or not record.prose.strip():
            continue
        entry = decision_of(context, record)
        if entry is None or entry.has_cost:
            continue
        severity = _WEIGHT[record.phase] if is_ours(record) else Severity.NOTE
        section = entry.section("consequences")
        where = context.in_entry(record, section)
        yield CHECK.at(where, f"{record.id} names no cost", severity=severity, record=record)


CHECK = Check(
    "ORB401",
    "no-cost",
    Severity.ERROR,
    "A decision names no cost.",
    "add a line `- Cost: …` under Consequences; a choice without a cost was no choice",
    run,
)
