"""ORB204: another branch took the same id for another record."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose id is another record's on the branch compared with."""
    for record in context.records:
        theirs = context.facts.theirs.get(record.id)
        if theirs is not None and theirs.uid != record.uid:
            message = f"{record.id} is another record on {context.facts.against}; the two will meet in a merge"
            yield CHECK.at(context.at(record, "id"), message, record=record)


CHECK = Check(
    "ORB204",
    "collision-ahead",
    Severity.ERROR,
    "The branch this work goes to has another record under the same id.",
    "take a new number before the merge: `orbit adr renumber ID`, or merge and run `orbit resolve`",
    run,
)
