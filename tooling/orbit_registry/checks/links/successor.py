"""ORB304: the status and the supersession of a record contradict each other; an adopted document may settle it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding, is_ours
from orbit_registry.checks.successors import changes_for, named_in_document, why_none
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import SUPERSEDED, Record
from orbit_registry.store.journal import Change


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield records that nothing replaced, and records in force that something replaced."""
    for record in context.records:
        status = record.status
        if status.name != SUPERSEDED and "superseded_by" not in record.data:
            continue
        if status.name == SUPERSEDED and not record.superseded_by:
            yield _without_successor(context, record)
        elif record.superseded_by and status.phase == "live":
            by = record.superseded_by
            message = f"{record.id} is replaced by {', '.join(by)}, but its status is {status.name}"
            hint = f"`orbit {record.kind.name} supersede {record.id} --with {by[0]}`"
            if context.sources.get(record.path) is not None and not is_ours(record):
                hint += "; or, where it holds again, take the line out of both records"
            weight = binding(record, Severity.ERROR, Severity.WARNING)
            yield CHECK.at(
                context.at(record, "status"), message, severity=weight, hint=hint, record=record, fixable=False
            )


def _without_successor(context: CheckContext, record: Record) -> Diagnostic:
    """Return the finding about a record that nothing replaced; it can be mended where the document names what did."""
    named = named_in_document(context, record)
    source = context.sources.get(record.path)
    message = f"{record.id} is superseded, but names no successor in superseded_by"
    hint = "add `superseded_by: [ID]`; where nothing took its place, the status is another"
    if named.records:
        message += f"; its document names {', '.join(other.id for other in named.records)}"
        hint = "`orbit check --fix` writes both ends"
    elif source is not None and source.authority == "document":
        message += why_none(named)
        hint = (
            f"write `Superseded by ADR-NNNN` in {source.path}, then `orbit check --fix`; "
            "where nothing took its place, its status is deprecated"
        )
    where, weight = context.at(record, "status"), binding(record, Severity.WARNING)
    return CHECK.at(where, message, severity=weight, hint=hint, record=record, fixable=bool(named.records))


def fix(context: CheckContext, diagnostic: Diagnostic) -> Sequence[Change]:
    """Write the successors that an adopted record's document names, at both ends."""
    for record in context.records.with_id(diagnostic.record or ""):
        if record.status.name == SUPERSEDED and not record.superseded_by:
            return changes_for(context, record, record.data, named_in_document(context, record))
    return ()


CHECK = Check(
    "ORB304",
    "status-and-successor",
    Severity.ERROR,
    "The status of a record and its successor contradict each other.",
    "make status and `superseded_by` agree",
    run,
    fix,
)
