"""ORB410: a record that waited for review, or that an agent made, is in force now; a reviewer should know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record that was pending at the base and is live here, and each live one that an agent made since."""
    for record in context.records:
        if record.phase != "live":
            continue
        before = context.facts.before.get(record.id)
        if before is None or before.uid != record.uid:
            if _is_new_from_agent(context, record):
                message = f"{record.id} was made by an agent and is {record.status.name} without review: {record.title}"
                yield CHECK.at(context.at(record, "status"), message, record=record)
            continue
        if record.kind.status(before.status).phase == "pending":
            approver = _approver(record, context.facts.authors.get(record.id))
            message = f"{record.id} was {before.status} and is {record.status.name} now, {approver}: {record.title}"
            yield CHECK.at(context.at(record, "status"), message, record=record)


def _approver(record: Record, author: str | None) -> str:
    """Return who approved a record, and whether git names the same person for the commit that holds it as it is."""
    said = record.approval.get("approved_by")
    if not said:
        return "and names nobody who approved it"
    if author is None:
        return f"approved by {said} (claimed: it is in no commit yet)"
    if " ".join(author.split()).casefold() == " ".join(said.split()).casefold():
        return f"approved by {said} (confirmed by git)"
    return f"approved by {said} (claimed: the commit is by {author})"


def _is_new_from_agent(context: CheckContext, record: Record) -> bool:
    """Say whether an agent made a record since the base that our commands would have left for review."""
    author = record.data.get("created_by")
    if (
        not isinstance(author, Mapping)
        or author.get("role") != "agent"
        or record.path not in (context.facts.changed or ())
    ):
        return False
    return record.kind.status(record.kind.initial["agent"]).phase != "live"


CHECK = Check(
    "ORB410",
    "went-live",
    Severity.NOTE,
    "A record that waited for review, or that an agent made, is in force now.",
    "approve the change only if you approve the record",
    run,
)
