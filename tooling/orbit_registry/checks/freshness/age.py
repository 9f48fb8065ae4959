"""ORB805: nobody has vouched for a record for longer than its volatility allows."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import Cause, stated


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record that wants another look."""
    for record in context.resting:
        freshness = context.freshness.get(record.path)
        for reason in freshness.reasons if freshness is not None else ():
            if reason.cause is Cause.AGE:
                hint = f"`orbit verify {record.id}` where it still holds, else correct or retire it"
                name = "verified_at" if "verified_at" in stated(record) else "volatility"
                where = context.at(record, "freshness", name)
                yield CHECK.at(where, f"{record.id} was {reason.message}", hint=hint, record=record)


CHECK = Check(
    "ORB805",
    "verified-long-ago",
    Severity.NOTE,
    "Nobody has vouched for a record for longer than its volatility allows.",
    "`orbit verify ID` where it still holds, else correct or retire it",
    run,
)
