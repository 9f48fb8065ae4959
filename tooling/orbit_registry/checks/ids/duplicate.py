"""ORB201: two files claim one id."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each file whose id another file has too."""
    for record_id, held in context.records.collisions.items():
        for record in held:
            others = [context.at(other, "id") for other in held if other is not record]
            named = ", ".join(location.path for location in others)
            yield CHECK.at(
                context.at(record, "id"), f"{record_id} is also the id of {named}", record=record, related=others
            )


CHECK = Check(
    "ORB201",
    "duplicate-id",
    Severity.ERROR,
    "Two records have the same id.",
    "keep one: `orbit resolve` renumbers a decision; delete the copy of anything else",
    run,
)
