"""Checks of decisions and their documents (7xx)."""

from __future__ import annotations

import hashlib
import posixpath
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, grouped
from orbit_registry.checks.rules.links import (
    DocumentSuccessors,
    changes_for,
    successors_in_document,
)
from orbit_registry.errors import plural
from orbit_registry.formats.adr.front_matter import BROKEN, KEY_TWICE
from orbit_registry.formats.adr.model import LONGEST_TITLE, AdrDocument, is_same_title, title_key
from orbit_registry.formats.position import Position, Span
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity, from_problem
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.record import BODY, Record, Source
from orbit_registry.operations.document_facts import STATUS_LIMIT, Candidate
from orbit_registry.repository.documents import LOG_NAME, Document
from orbit_registry.workspace.journal import FileChange


@check(
    "ORB702",
    Severity.WARNING,
    "`orbit check --fix` adds a record and leaves the document unchanged",
)
def entry_without_record(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision in a document has no record."""
    if not context.unclaimed:
        return

    from orbit_registry.formats.adr.file_names import own_folders, owning_folder  # slow to import

    folders = own_folders(
        record.source.path for record in context.records if record.source is not None
    )
    gone = _records_of_gone_documents(context)
    for document, entry in context.unclaimed:
        if (
            earlier_names(context, document, entry)
            or _unread(context, document, entry)
            or owning_folder(document.path, folders)
        ):
            continue

        name = f"ADR-{entry.number} ({entry.title})" if entry.number else f"`{entry.title}`"
        message = f"{name} has no record"
        command = shlex.join(("orbit", "adr", "backfill", document.path))
        hint = f"`orbit check --fix` adds one, as does `{command}`"
        related: list[Location] = []

        other = _with_its_number(context, document, entry)
        if other is not None:
            message = (
                f"`{entry.title}` has no record, and its number is that of {other.id} "
                f"({other.title})"
            )
            hint += "; it gets a new number and keeps the old one as a legacy id"
            related.append(context.in_entry(other))

        is_fixable = document.path.isprintable()
        if not is_fixable:
            hint = "give the file a name without line ends and control characters first"

        lost = (
            record
            for record in gone.get(title_key(entry.title), ())
            if is_same_title(record.title, entry.title)
        )
        if old := next((record.source.path for record in lost if record.source is not None), ""):
            message = (
                f"{name} has no record; {old} is gone, which had the text of a decision "
                f"of this title"
            )
            hint = _move_hint(old, document.path)
            is_fixable = False

        where = Location(document.path, entry.position)
        yield entry_without_record.at(
            where, message, hint=hint, fixable=is_fixable, related=related
        )


def _with_its_number(
    context: CheckContext, document: Document, entry: AdrDocument
) -> Record | None:
    """Return the record that has the number an entry states; numbers of a log's own are no ids."""
    candidate = Candidate(document, entry)
    if candidate.number is None or candidate.is_local(context.config.design):
        return None
    return next(iter(context.records.with_id(sequence_id("ADR-", candidate.number))), None)


def _records_of_gone_documents(context: CheckContext) -> dict[str, list[Record]]:
    """Return the records whose document is gone, by `title_key`."""
    gone = context.facts.documents_gone
    if not gone:
        return {}

    records = (
        record
        for record in context.records
        if record.source is not None and record.source.path in gone
    )
    return grouped(records, lambda record: title_key(record.title))


def _move_hint(old: str, new: str) -> str:
    return f"`{shlex.join(('orbit', 'adr', 'backfill', '--moved', old, new))}`"


def _moved_hint(context: CheckContext, path: str) -> str | None:
    """Return the command that follows a document, or its folder, which git saw move."""
    renames = context.renames_of_documents
    if renames is None:
        return None

    folder = posixpath.dirname(path)
    for old in filter(None, (folder, path)):
        new = renames.path(old)
        if new is not None:
            return _move_hint(old, new)

    return None


def _unread(context: CheckContext, document: Document, entry: AdrDocument) -> bool:
    """Say whether the record of an entry is there and can't be read: that is the finding then."""
    number = entry.number or ""
    is_broken = number.isdigit() and sequence_id("ADR-", int(number)) in context.broken
    return is_broken or document.path in context.text_of_broken


def earlier_names(context: CheckContext, document: Document, entry: AdrDocument) -> list[Record]:
    """Return the records whose legacy id is the name that an entry has in its log:
    `feature/ADR-001`.
    """
    name = Candidate(document, entry).local_name
    if name is not None:
        return context.records.with_legacy_id(name)

    return []


@check(
    "ORB703",
    Severity.ERROR,
    "bring the file back (no link); if renamed: `orbit adr backfill --moved OLD NEW`; "
    "if deleted: delete the record's folder",
)
def document_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """The file that holds a record's text is not there."""
    gone = context.facts.documents_gone - context.facts.not_checked_out
    if not gone:
        return

    entries = grouped(context.unclaimed, lambda pair: title_key(pair[1].title))
    for record in context.records:
        source = record.source
        if source is None or source.path not in gone:
            continue

        message = f"{record.id} has its text in {source.path}, which is not there"
        if not record.kind.in_document:
            where = context.at(record, "file" if "file" in record.data else "path")
            yield document_missing.at(where, message, record)
            continue

        hint = _moved_hint(context, source.path)
        for document, entry in entries.get(title_key(record.title), ()):
            if is_same_title(record.title, entry.title):
                hint = _move_hint(source.path, document.path)
                break

        where = context.at(record, "source", "path")
        yield document_missing.at(where, message, record, hint=hint)


@check(
    "ORB704",
    Severity.ERROR,
    "bring the entry back, or correct `source.heading`: ADR-0042, or the title as the heading "
    "has it",
)
def entry_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """A document holds no entry for the decision that has its text there."""
    for record in context.records:
        source = context.sources.get(record.path)
        if (
            source is None
            or source.path in context.conflicts
            or record.path in context.homes
            or source.path not in context.documents.by_path
        ):
            continue

        document = context.documents.by_path[source.path]
        count = len(document.file.entries)
        if source.heading is not None:
            message = (
                f"{source.path} has no entry {source.heading}, which is named as the text "
                f"of {record.id}"
            )
        elif count > 1:
            message = (
                f"{source.path} holds {plural(count, 'decision')}, and {record.id} does not say "
                f"which one it is"
            )
        else:
            message = f"{source.path} holds no decision"
            if document.file.skipped_reason:
                message += f" ({document.file.skipped_reason})"
            message += f", and {record.id} has its text there"

        step = "path" if source.heading is None else "heading"
        yield entry_missing.at(context.at(record, "source", step), message, record)


@check("ORB705", Severity.WARNING, "keep the one in the document, and delete the other")
def two_texts(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision's text is in two files."""
    for record in context.records:
        for name in (BODY, "imported-body.md"):
            path = f"{record.folder}/{name}"
            if path not in context.facts.body_files or (name == BODY and record.source is None):
                continue

            home = _home(record)
            message = (
                f"{record.id} has two texts: {home}, which counts, and {name} in the "
                f"record's folder"
            )
            hint = f"move into {home} what only {name} says, then delete {path}"
            where = Location(path, Position(1))
            related = [context.in_entry(record)]
            yield two_texts.at(where, message, record, hint=hint, related=related)

    yield from _under_earlier_names(context)


def _home(record: Record) -> str:
    """Return the path of the file that holds a decision's text."""
    if record.source is not None:
        return record.source.path

    return record.body_path


def _under_earlier_names(context: CheckContext) -> Iterator[Diagnostic]:
    for document, entry in context.unclaimed:
        for record in earlier_names(context, document, entry):
            if record.source is not None and record.source.path == document.path:
                continue

            home = _home(record)
            name = f"ADR-{entry.number} ({entry.title})"
            message = f"{name} is an earlier name of {record.id}, which has its text in {home}"
            if f"ADR-{entry.number}" == record.id:
                message = f"this entry of {name} is not its text, which is {home}"

            hint = f"let `source` of {record.id} name this entry, or remove the entry"
            where = Location(document.path, entry.position)
            yield two_texts.at(where, message, record, severity=Severity.NOTE, hint=hint)


@check(
    "ORB706",
    Severity.WARNING,
    "the next command that writes finishes or undoes it, as does `orbit check --fix`",
)
def unfinished_step(context: CheckContext) -> Iterator[Diagnostic]:
    """A change of several files was begun and not ended."""
    for name in context.facts.journals:
        step = name.rpartition("-")[0] or name
        message = (
            f"the step {step} was begun and not ended: its process was killed, or is still at work"
        )
        yield unfinished_step.at(Location(f".orbit/state/journal/{name}"), message, fixable=True)


@check(
    "ORB712",
    Severity.ERROR,
    "give each record its own entry, or delete the record that should not be",
)
def shared_entry(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records have their text in one entry of a document."""
    by_entry: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in context.records:
        home = context.homes.get(record.path)
        if home is not None:
            by_entry[home[0].path, home[1].span.start].append(record)

    for (path, _), records in by_entry.items():
        for record in records[1:]:
            message = f"{record.id} and {records[0].id} have their text in the same entry of {path}"
            where = context.at(record, "source", "path")
            yield shared_entry.at(
                where, message, record, related=[context.at(records[0], "source", "path")]
            )


@check(
    "ORB713",
    Severity.WARNING,
    "change the file that it was taken from and refresh the record, or bring the copy back from "
    "git",
)
def changed_copy(context: CheckContext) -> Iterator[Diagnostic]:
    """The copy of a text is not what was taken over."""
    for record in context.records:
        if not record.kind.in_file or not {"file", "content_hash"} <= {*record.data}:
            continue

        source = record.source
        if source is None or not record.prose:
            continue

        digest = hashlib.sha256(record.prose.encode("utf-8", "surrogateescape")).hexdigest()
        if record.text("content_hash") != f"sha256:{digest}":
            message = f"the copy that {record.id} keeps is not the text that was imported"
            hint = "bring the copy back from git"
            path = record.text("path")
            if path:
                hint = f"`orbit refresh {record.id}` takes {path} over again"
            yield changed_copy.at(Location(source.path), message, record, hint=hint)


_GLOBAL_DIGITS = 4
"""Shorter numbers in logs are local to their document, so they may come again elsewhere."""


@check(
    "ORB714",
    Severity.ERROR,
    "finish the merge: `orbit resolve`, or choose in the file, then `git add` it",
)
def document_in_conflict(context: CheckContext) -> Iterator[Diagnostic]:
    """A document has the conflict markers of a merge that is not finished."""
    homes = {source.path for source in context.sources.values()}
    for path, line in context.conflicts.items():
        message = "the document has conflict markers of git, so what it states is not clear"
        severity = Severity.ERROR if path in homes else Severity.WARNING
        yield document_in_conflict.at(Location(path, Position(line)), message, severity=severity)


@check(
    "ORB707",
    Severity.ERROR,
    "give one of the two headings a number that is free, or delete the entry that is written "
    "down twice",
)
def heading_twice(context: CheckContext) -> Iterator[Diagnostic]:
    """Two headings carry one number."""
    ours = context.our_documents
    headings: dict[tuple[str, str], list[tuple[str, Location]]] = defaultdict(list)
    for path, document in context.documents.by_path.items():
        if document.file.format != "log":
            continue

        for entry in document.file.entries:
            number = entry.number or ""
            if number:
                scope = "" if len(number) >= _GLOBAL_DIGITS else path
                headings[scope, number].append((entry.title, Location(path, entry.position)))

    for (_, number), locations in headings.items():
        first_title, first = locations[0]
        for title, location in locations[1:]:
            message = (
                f"ADR-{number} is the number of two decisions: `{title}` here and "
                f"`{first_title}` at {first}"
            )
            hint = (
                "give one of the two headings a number that is free; after a merge: `orbit resolve`"
            )
            if title.casefold().split() == first_title.casefold().split():
                message = f"ADR-{number} ({title}) is written down twice: here and at {first}"
                hint = (
                    "keep the entry that is right and delete the other; after a merge: "
                    "`orbit resolve`"
                )

            severity = Severity.ERROR if {location.path, first.path} & ours else Severity.WARNING
            of = f"ADR-{number}"
            yield heading_twice.at(
                location, message, of, severity=severity, hint=hint, related=[first]
            )


# Numbers of a log's own are not compared with global ones; one that has its newest entry on top is
# in order too.
@check(
    "ORB708",
    Severity.WARNING,
    "move the whole entry, heading and text, above the first one with a higher number",
)
def entry_order(context: CheckContext) -> Iterator[Diagnostic]:
    """The entries of a log don't ascend by number."""
    ours = context.our_documents
    for path, document in context.documents.by_path.items():
        if document.file.format != "log" or _is_falling(document):
            continue

        above = {True: "0", False: "0"}
        for entry in document.file.entries:
            if not entry.number or not entry.number.isdigit():
                continue

            number = int(entry.number)
            is_global = len(entry.number) >= _GLOBAL_DIGITS
            if number < int(above[is_global]):
                order = f"ADR-{entry.number} is below ADR-{above[is_global]}"
                message = f"{order}; the entries of a log ascend by number"
                severity = Severity.WARNING if path in ours else Severity.NOTE
                yield entry_order.at(Location(path, entry.position), message, severity=severity)

            above[is_global] = max(above[is_global], entry.number, key=int)


def _is_falling(document: Document) -> bool:
    """Say whether a log has its newest entry on top, as some do that are not ours."""
    numbers = [
        int(entry.number) for entry in document.entries if entry.number and entry.number.isdigit()
    ]
    falls = all(upper > lower for upper, lower in pairwise(numbers))
    return falls and document.path.rpartition("/")[2] != LOG_NAME


@check("ORB709", Severity.WARNING, "make the heading and the file's name agree")
def number_differs(context: CheckContext) -> Iterator[Diagnostic]:
    """A document's heading and its file's name carry different numbers."""
    return _problems(context, "adr-number-differs", "ORB709")


@check(
    "ORB710",
    Severity.WARNING,
    "write proposed, accepted, rejected, deprecated, or superseded by ADR-NNNN",
)
def status_unclear(context: CheckContext) -> Iterator[Diagnostic]:
    """A document states a status that is none, or two that differ, or its front matter has a key
    twice or can't be read.
    """
    yield from _problems(context, "adr-status-unknown", "ORB710")
    yield from _problems(context, "adr-status-twice", "ORB710")
    yield from _problems(context, KEY_TWICE, "ORB710")
    yield from _problems(context, BROKEN, "ORB710")


@check("ORB711", Severity.WARNING, "write YYYY-MM-DD or YYYY-MM")
def date_unclear(context: CheckContext) -> Iterator[Diagnostic]:
    """A document states a date that can't be read."""
    yield from _problems(context, "adr-date-unclear", "ORB711")
    # A record's date tells which of two orders is meant.
    homes = (
        context.homes[record.path]
        for record in context.records
        if record.text("date") and record.path in context.homes
    )
    dated = {(document.path, entry.span) for document, entry in homes}
    yield from _problems(context, "adr-date-order", "ORB711", dated)


def _problems(
    context: CheckContext, problem_code: str, code: str, without: Collection[tuple[str, Span]] = ()
) -> Iterator[Diagnostic]:
    for path, document in context.documents.by_path.items():
        if path in context.conflicts:
            continue

        severity = Severity.WARNING if path in context.our_documents else Severity.NOTE
        for entry in document.file.entries:
            if (path, entry.span) in without:
                continue
            for problem in entry.problems:
                if problem.code == problem_code:
                    yield replace(from_problem(problem, path, severity), code=code)


_NEARNESS = {"closed": 0, "pending": 1, "live": 2}  # how near each phase is to being live


def _finding(
    context: CheckContext,
    record: Record,
    source: Source,
    entry: AdrDocument,
    differing: Sequence[tuple[str, str, str]],
) -> Diagnostic:
    listed = "; ".join(
        f"{name}: {_shown(ours)} in the record, {_shown(theirs)} in the document"
        for name, ours, theirs in differing
    )
    message = (
        f"{record.id} differs from its document ({listed}); the {context.decides(source)} decides"
    )
    in_document = context.in_entry(record)
    in_record = context.at(record, differing[0][0])
    if context.decides(source) == "record":
        hint = (
            f"`orbit check --fix` rewrites {source.path}; change a record with `orbit adr "
            f"update {record.id}`"
        )
        return record_and_document_differ.at(
            in_document, message, record, hint=hint, related=[in_record]
        )

    hint = f"`orbit check --fix` rewrites the record from {source.path}"
    can_fix = True
    reason = _held_back(context, record, entry)
    if reason:
        message += f", but {reason}"
        verb = next((name for name, to in record.kind.verbs.items() if to == entry.status), None)
        step = f"set `status: {entry.status}` in {record.path}"
        if verb is not None and entry.status in record.stated_status.to:
            step = f"run `orbit {record.kind.name} {verb} {record.id}`"

        hint = f"if it is {entry.status}, {step}"
        if record.stated_status.name != "unknown":
            hint = (
                f"if {record.id} is {record.stated_status.name}, write `{_written_status(record)}` "
                f"in {source.path}; {hint}"
            )

        can_fix = len(differing) > 1

    return record_and_document_differ.at(
        in_record,
        message,
        record,
        severity=Severity.WARNING,
        hint=hint,
        related=[in_document],
        fixable=can_fix,
    )


def _held_back(context: CheckContext, record: Record, entry: AdrDocument) -> str | None:
    """Return why a fix leaves the status: it makes none live,
    and closes a live one on a change or order.
    """
    if entry.status == record.stated_status.name:
        return None

    phase = record.kind.status(entry.status).phase
    if _NEARNESS[phase] > _NEARNESS[record.stated_status.phase]:
        return f"a fix never makes a {record.stated_status.name} decision {entry.status}"
    if context.authority is not None or record.stated_status.phase != "live" or phase == "live":
        return None
    if entry.status_raw.strip()[:STATUS_LIMIT] == (record.text("status_raw") or ""):
        return "it has not changed since they last agreed"
    if entry.status not in record.stated_status.to:
        return f"an accepted decision becomes {entry.status} only by `orbit adr`"

    return None


def differences(record: Record, entry: AdrDocument) -> list[tuple[str, str, str]]:
    """Return the fields that record and document state differently:
    name, record's value, document's value.
    """
    differing = []
    if entry.title and not is_same_title(record.title, entry.title):
        differing.append(("title", record.title, entry.title))

    source = record.source
    follows = source is not None and source.authority == "document"
    never_stated = follows and not entry.status_raw.strip() and not record.text("status_raw")
    if record.stated_status.name != entry.status and not never_stated:
        differing.append(
            ("status", record.stated_status.name, entry.status_raw.strip() or entry.status)
        )

    # `2026-05` and `2026-05-17` agree; an unclear date is ORB711.
    date = record.text("date")
    day = entry.date
    if (
        date
        and day
        and not (date.startswith(day) or day.startswith(date) or date == entry.date_raw.strip())
    ):
        differing.append(("date", date, day))

    return differing


def _words(text: str) -> str:
    return " ".join(text.split())


def _shown(text: str) -> str:
    return f"`{cut(_words(text), 80)}`"


def _write_follower(context: CheckContext, diagnostic: Diagnostic) -> Sequence[FileChange]:
    for record in context.records.with_id(diagnostic.record or ""):
        home = context.homes.get(record.path)
        source = record.source
        if home is None or source is None:
            continue

        document, entry = home
        names = [name for name, _, _ in differences(record, entry)]
        if context.decides(source) == "record":
            return _document_follows(document, record, names)

        if _held_back(context, record, entry):
            names.remove("status")
        if not names:
            return ()
        return _record_follows(context, record, entry, names)

    return ()


def _document_follows(
    document: Document, record: Record, names: Sequence[str]
) -> Sequence[FileChange]:
    # It brings the readers of decisions.
    from orbit_registry.operations.lifecycle import with_facts

    values = {
        "title": record.title,
        "status": _written_status(record),
        "date": record.text("date") or "",
    }
    text = with_facts(document, record, {name: values[name] for name in names})
    if text is None or text == document.text:
        return ()

    return (FileChange(document.path, document.text, text),)


def _written_status(record: Record) -> str:
    by = record.superseded_by
    if record.stated_status.name == "superseded" and by:
        return f"Superseded by {', '.join(by)}"
    return record.stated_status.name


def _record_follows(
    context: CheckContext, record: Record, entry: AdrDocument, names: Sequence[str]
) -> Sequence[FileChange]:
    data = dict(record.data)
    if "title" in names:
        data["title"] = _words(entry.title)[:LONGEST_TITLE]

    successors = DocumentSuccessors()
    if "status" in names:
        successors = successors_in_document(context, record)
        data["status"] = entry.status
        if entry.status_raw.strip():
            data["status_raw"] = entry.status_raw.strip()[:STATUS_LIMIT]

    if "date" in names:
        data["date"] = entry.date

    return changes_for(context, record, data, successors)


@check(
    "ORB701",
    Severity.ERROR,
    "`orbit check --fix` rewrites the side that is not the authority",
    fix=_write_follower,
)
def record_and_document_differ(context: CheckContext) -> Iterator[Diagnostic]:
    """Title, status or date of a decision differ between its record and its document."""
    for record in context.records:
        home = context.homes.get(record.path)
        source = context.sources.get(record.path)
        if home is None or source is None or source.path in context.conflicts:
            continue

        differing = differences(record, home[1])
        if differing:
            yield _finding(context, record, source, home[1], differing)
