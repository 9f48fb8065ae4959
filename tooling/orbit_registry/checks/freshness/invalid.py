"""ORB806: a moment in a record's freshness that can't be meant."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import AHEAD, stated, when


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each moment that no calendar has, and each verification dated ahead."""
    for record in context.resting:
        for name in ("expires_at", "verified_at"):
            at = when(record, name)
            if name in stated(record) and at is None:
                message = f"no calendar has {stated(record)[name]}"
                yield CHECK.at(context.at(record, "freshness", name), message, record=record)
            elif name == "verified_at" and at is not None and at > context.now + AHEAD:
                message = f"{record.id} was verified on {at:%Y-%m-%d}, which is yet to come"
                yield CHECK.at(context.at(record, "freshness", name), message, record=record)


CHECK = Check(
    "ORB806",
    "impossible-moment",
    Severity.ERROR,
    "A record expires or was verified at a moment that can't be meant.",
    "correct the moment: RFC 3339 with a zone, such as 2027-01-31T00:00:00Z",
    run,
)
