"""ORB807: the file that a record's text was taken from is not what it was then."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import taken_from


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose file has another hash now, or is gone while a copy of its text is there."""
    moved = context.sight.moved
    for record in context.records if moved else ():
        taken = taken_from(record)
        if taken is None or taken not in moved or record.phase == "closed" or taken[0] in context.facts.documents_gone:
            continue
        if moved[taken]:
            said = f"{taken[0]}, from which {record.id} was taken, is not there"
            hint = f"bring it back, or say where it is: `orbit refresh {record.id} --path NEW`; else retire the record"
        else:
            said = f"{taken[0]} has changed since {record.id} was taken from it"
            hint = f"`orbit refresh {record.id} --dry-run` shows the difference, without --dry-run it takes it over"
        yield CHECK.at(context.at(record, "content_hash"), said, hint=hint, record=record)


CHECK = Check(
    "ORB807",
    "changed-source",
    Severity.WARNING,
    "The file that a record's text was taken from has changed since.",
    "look at the difference: `orbit refresh ID --dry-run`, then take it over or leave it",
    run,
)
