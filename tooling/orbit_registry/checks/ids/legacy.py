"""ORB202: an earlier name leads to more than one record."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each legacy id that several records have, or that is another record's own id."""
    for record in context.records:
        for index, name in enumerate(record.legacy_ids):
            yield from _shared(context, record, index, name)


def _shared(context: CheckContext, record: Record, index: int, name: str) -> Iterator[Diagnostic]:
    others = [other for other in context.records.with_id(name) if other.uid != record.uid]
    verb = "is the id of"
    if not others:
        others = [other for other in context.records.with_legacy_id(name) if other.uid != record.uid]
        verb = "was also the name of"
    if not others:
        return
    named = ", ".join(f"{other.id} ({other.title})" for other in others)
    author = record.data.get("created_by")
    imported = isinstance(author, dict) and author.get("role") == "import"
    yield CHECK.at(
        context.at(record, "legacy_ids", index),
        f"{name} names two things: it was the name of {record.id} ({record.title}), and {verb} {named}",
        severity=Severity.WARNING if imported else Severity.NOTE,
        record=record,
        related=[context.at(other, "id") for other in others],
    )


CHECK = Check(
    "ORB202",
    "ambiguous-legacy-id",
    Severity.WARNING,
    "An earlier name leads to more than one record.",
    "cite the records by their own ids; remove the legacy id where it is wrong",
    run,
)
