"""ORB410: a record that waited for review is in force now; whoever reviews the change should know."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record that was pending at the base and is live here."""
    for record in context.records:
        before = context.facts.before.get(record.id)
        if before is None or before.uid != record.uid or record.phase != "live":
            continue
        if record.kind.status(before.status).phase == "pending":
            message = f"{record.id} was {before.status} and is {record.status.name} now: {record.title}"
            yield CHECK.at(context.at(record, "status"), message, record=record)


CHECK = Check(
    "ORB410",
    "went-live",
    Severity.NOTE,
    "A record that waited for review is in force now.",
    "approve the change only if you approve the record",
    run,
)
