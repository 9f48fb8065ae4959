"""ORB304: the status and the supersession of a record contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.records.diagnostic import Diagnostic, Severity

SUPERSEDED = "superseded"


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield records that nothing replaced, and records in force that something replaced."""
    for record in context.records:
        status = record.status
        if status.name != SUPERSEDED and "superseded_by" not in record.data:
            continue
        if status.name == SUPERSEDED and not record.superseded_by:
            message = f"{record.id} is superseded, but names no successor in superseded_by"
            hint = "add `superseded_by: [ID]`; where nothing took its place, the status is another"
            yield CHECK.at(
                context.at(record, "status"),
                message,
                severity=binding(record, Severity.WARNING),
                hint=hint,
                record=record,
            )
        elif record.superseded_by and status.phase == "live":
            by = record.superseded_by
            message = f"{record.id} is replaced by {', '.join(by)}, but its status is {status.name}"
            hint = f"`orbit {record.kind.name} supersede {record.id} --with {by[0]}`"
            weight = binding(record, Severity.ERROR, Severity.WARNING)
            yield CHECK.at(context.at(record, "status"), message, severity=weight, hint=hint, record=record)


CHECK = Check(
    "ORB304",
    "status-and-successor",
    Severity.ERROR,
    "The status of a record and its successor contradict each other.",
    "make status and `superseded_by` agree",
    run,
)
