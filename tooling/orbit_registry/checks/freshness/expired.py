"""ORB803: a record is past the moment until which it says it holds."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import Cause


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record that has expired."""
    for record in context.resting:
        freshness = context.freshness.get(record.path)
        if freshness is not None and freshness.cause is Cause.EXPIRED:
            message = f"{record.id} {freshness.reasons[0].message}, and is not shown any more"
            hint = f"retire it, or let it hold longer: `orbit verify {record.id} --expires DATE`"
            yield CHECK.at(context.at(record, "freshness", "expires_at"), message, hint=hint, record=record)


CHECK = Check(
    "ORB803",
    "expired",
    Severity.WARNING,
    "A record has expired: it is not shown any more.",
    "retire it, or let it hold longer: `orbit verify ID --expires DATE`",
    run,
)
