"""ORB702: a decision stands in a document and has no record; the registry's backfill is its fix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.ids import sequence_id
from orbit_registry.records.record import Record
from orbit_registry.store.decisions.documents import Document

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each entry of a decision document that no record points at or was once named after."""
    if not context.unclaimed:
        return
    from orbit_registry.text.adr.file_names import own_folders, whole_of  # with it come the readers of decisions

    own = own_folders(record.source.path for record in context.records if record.source is not None)
    for document, entry in context.unclaimed:
        if earlier_names(context, document, entry) or _unread(context, entry) or whole_of(document.path, own):
            continue
        name = f"ADR-{entry.number} ({entry.title})" if entry.number else f"`{entry.title}`"
        message = f"{name} has no record"
        hint = f"`orbit check --fix` adds one, as does `orbit adr backfill {document.path}`"
        other = _with_its_number(context, document, entry)
        if other is not None:
            message = f"`{entry.title}` has no record, and its number is that of {other.id} ({other.title})"
            hint += "; it gets a new number and keeps the old one as a legacy id"
        where = Location(document.path, entry.position)
        can_be_named = document.path.isprintable()
        hint = hint if can_be_named else "give the file a name without line ends and control characters first"
        yield CHECK.at(
            where, message, hint=hint, fixable=can_be_named, related=[context.in_entry(other)] if other else ()
        )


def _with_its_number(context: CheckContext, document: Document, entry: AdrDocument) -> Record | None:
    """Return the record that has the number an entry states; numbers of a log's own are no ids."""
    from orbit_registry.store.adopt.ids import Candidate

    candidate = Candidate(document, entry)
    if candidate.number is None or candidate.is_local(context.config.design):
        return None
    return next(iter(context.records.with_id(sequence_id("ADR-", candidate.number))), None)


def _unread(context: CheckContext, entry: AdrDocument) -> bool:
    """Say whether the record of an entry's number is there and can't be read: that is the finding then."""
    if entry.number is None or not entry.number.isdigit():
        return False
    folder = f"/{sequence_id('ADR-', int(entry.number))}/"
    return any(folder in problem.location.path for problem in context.problems)


def earlier_names(context: CheckContext, document: Document, entry: AdrDocument) -> list[Record]:
    """Return the records whose legacy id is the name that an entry has in its log: `feature/ADR-001`."""
    from orbit_registry.store.adopt.ids import Candidate

    name = Candidate(document, entry).local_name
    return context.records.with_legacy_id(name) if name is not None else []


CHECK = Check(
    "ORB702",
    "entry-without-record",
    Severity.WARNING,
    "A decision stands in a document and has no record.",
    "`orbit check --fix` adds a record beside it and leaves the document as it is",
    run,
)
