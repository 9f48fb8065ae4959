"""A record and its document (7xx); where they differ is `differences`', what is wrong in a document `headings`'."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.ids import sequence_id
from orbit_registry.records.record import BODY, Record
from orbit_registry.store.decisions.documents import Document
from orbit_registry.text.position import Position

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument


@check(
    "ORB702",
    "entry-without-record",
    Severity.WARNING,
    "A decision stands in a document and has no record.",
    "`orbit check --fix` adds a record beside it and leaves the document as it is",
)
def entry_without_record(context: CheckContext) -> Iterator[Diagnostic]:
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
        yield entry_without_record.at(
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


@check(
    "ORB703",
    "document-missing",
    Severity.ERROR,
    "The file that holds a record's text is not there.",
    "bring the file itself back (links are not followed); where it moved, `orbit adr backfill --moved OLD NEW` "
    "corrects a decision; of another kind, import the new file and retire this record",
)
def document_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose document is not there, or stands outside the project."""
    for record in context.records if context.facts.documents_gone else ():
        source = record.source
        if source is not None and source.path in context.facts.documents_gone:
            message = f"{record.id} has its text in {source.path}, which is not there"
            pointer = ("source", "path") if record.kind.in_document else ("file" if "file" in record.data else "path",)
            yield document_missing.at(context.at(record, *pointer), message, record=record)


@check(
    "ORB704",
    "entry-missing",
    Severity.ERROR,
    "A document holds no entry for the decision that has its text there.",
    "bring the entry back, or correct `source.heading`: ADR-0042, or the title as the heading has it",
)
def entry_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose document holds no entry for it."""
    for record in context.records:
        source = context.sources.get(record.path)
        if source is None or record.path in context.homes or source.path not in context.documents.by_path:
            continue
        document = context.documents.by_path[source.path]
        count = len(document.file.entries)
        if source.heading is not None:
            message = f"{source.path} has no entry {source.heading}, where {record.id} has its text"
        elif count > 1:
            message = f"{source.path} holds {count} decisions, and {record.id} does not say which one it is"
        else:
            why = document.file.skipped_reason
            message = f"{source.path} holds no decision{f' ({why})' if why else ''}, and {record.id} has its text there"
        step = "path" if source.heading is None else "heading"
        yield entry_missing.at(context.at(record, "source", step), message, record=record)


@check(
    "ORB705",
    "two-texts",
    Severity.WARNING,
    "A decision's text stands in two places.",
    "keep the one in the document, and delete the other",
)
def two_texts(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each text file beside a record whose text stands in a document, and those an import put aside."""
    for record in context.records:
        for name in (BODY, "imported-body.md"):
            path = f"{record.folder}/{name}"
            if path not in context.facts.beside or (name == BODY and record.source is None):
                continue
            home = record.source.path if record.source is not None else record.body_path
            message = f"{record.id} has two texts: {home}, which counts, and {name} beside the record"
            hint = f"move into {home} what only {name} says, then delete {path}"
            where = Location(path, Position(1))
            yield two_texts.at(where, message, hint=hint, record=record, related=[context.in_entry(record)])
    yield from _under_earlier_names(context)


def _under_earlier_names(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each entry of a log under a name that a record had, where that record has its text elsewhere."""
    for document, entry in context.unclaimed:
        for record in earlier_names(context, document, entry):
            if record.source is not None and record.source.path == document.path:
                continue
            home = record.source.path if record.source is not None else record.body_path
            message = (
                f"ADR-{entry.number} ({entry.title}) is an earlier name of {record.id}, which has its text in {home}"
            )
            hint = f"let `source` of {record.id} name this entry, or remove the entry"
            where = Location(document.path, entry.position)
            yield two_texts.at(where, message, severity=Severity.NOTE, hint=hint, record=record)


@check(
    "ORB706",
    "unfinished-step",
    Severity.WARNING,
    "A change of several files was begun and not ended.",
    "the next command that writes finishes or undoes it, as does `orbit check --fix`",
)
def unfinished_step(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each step in the journal."""
    for name in context.facts.journals:
        step = name.rpartition("-")[0] or name
        message = f"the step {step} was begun and not ended: its process was killed, or is still at work"
        yield unfinished_step.at(Location(f".orbit/state/journal/{name}"), message, fixable=True)


@check(
    "ORB712",
    "shared-entry",
    Severity.ERROR,
    "Two records have their text in one entry of a document.",
    "give each record its own entry, or delete the record that should not be",
)
def shared_entry(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record but the first that points at an entry."""
    held: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in context.records:
        home = context.homes.get(record.path)
        if home is not None:
            held[home[0].path, home[1].span.start].append(record)
    for (path, _), records in held.items():
        for record in records[1:]:
            message = f"{record.id} and {records[0].id} have their text in the same entry of {path}"
            where = context.at(record, "source", "path")
            yield shared_entry.at(where, message, record=record, related=[context.at(records[0], "source", "path")])


@check(
    "ORB713",
    "changed-copy",
    Severity.WARNING,
    "The copy of a text is not what was taken over.",
    "change the file that it was taken from and refresh the record, or bring the copy back from git",
)
def changed_copy(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record with a copy that was changed by hand, or by a merge."""
    for record in context.records:
        source = record.source
        if (
            not record.kind.in_file
            or source is None
            or not record.prose
            or not {"file", "content_hash"} <= {*record.data}
        ):
            continue
        found = hashlib.sha256(record.prose.encode("utf-8", "surrogateescape")).hexdigest()
        if record.text("content_hash") != f"sha256:{found}":
            message = f"the copy that {record.id} keeps is not the text that was taken over"
            path = record.text("path")
            hint = f"`orbit refresh {record.id}` takes {path} over again" if path else "bring the copy back from git"
            yield changed_copy.at(Location(source.path), message, hint=hint, record=record)
