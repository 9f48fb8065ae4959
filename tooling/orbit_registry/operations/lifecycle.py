"""Transitions between the statuses of a kind, supersession and votes;
the document follows the record.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.writer import (
    set_date,
    set_status,
    set_successor,
    set_title,
    successor_field,
)
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.judgements.is_named import is_named
from orbit_registry.model.kind import Status
from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import format_time
from orbit_registry.operations.document_facts import STATUS_LIMIT
from orbit_registry.operations.link_targets import location_of, without_answered
from orbit_registry.repository import writer
from orbit_registry.repository.codec import list_in
from orbit_registry.repository.documents import (
    Document,
    first_prompt,
    has_text,
    home_of,
    prompts_of,
    read_documents,
    whole,
)
from orbit_registry.repository.guard import (
    refuse_hidden,
    refuse_secrets,
    refuse_secrets_in,
    write_step,
)
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author, Review
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

NO_COST = "ORB401"  # the check that asks accepted decisions for a cost
_LONGEST_LINK = 500  # characters of a link that `formats.adr.relations` still reads


def transition(
    workspace: Workspace,
    any_id: str,
    to: str,
    author: Author,
    review: Review | None = None,
    *,
    dry_run: bool = False,
) -> Record:
    """Give a record another status; the same status again changes nothing,
    and `dry_run` writes nothing.
    """
    with nullcontext() if dry_run else writer.writing(workspace):
        records = read_collection(workspace).records
        record = records.get(any_id)
        if review is not None and review.expected:
            _refuse_other_digest(workspace, record, review.expected)

        if record.status.name == to:
            return record

        _refuse_replaced(records, record, to)
        changes, result = _transition_changes(workspace, record, to, author, review)
        if not dry_run:
            write_step(workspace, f"{record.kind.name}-{to}", changes, author=author)

        return result


def _refuse_replaced(records: RecordSet, record: Record, to: str) -> None:
    """Raise where a record would go live although it names what replaced it."""
    names = records.replaced_by(record)
    if not names or record.kind.status(to).phase != "live":
        return

    successors = " and ".join(names)
    raise RefusedError(
        f"{record.id} is replaced by {successors}, so it can't become {to}",
        hint=f"`orbit show {names[0]}` says what holds now; if {record.id} is valid again, take "
        "the line out of both records first",
    )


def _refuse_other_digest(workspace: Workspace, record: Record, expected: str) -> None:
    now = whole(workspace, [record])[0].digest
    if now != expected:
        message = f"{record.id} does not say what was read: its digest is {now}, not {expected}"
        raise RefusedError(message, hint=f"read it again: `orbit show {record.id}`")


def transitions(
    workspace: Workspace,
    ids: Iterable[str],
    to: str,
    author: Author,
) -> tuple[list[Record], list[OrbitError]]:
    """Give many records of one kind another status as one step;
    return them, and why the others were left.
    """
    with writer.writing(workspace):
        records = read_collection(workspace).records
        done: list[Record] = []
        errors: list[OrbitError] = []
        changes: list[FileChange] = []

        for any_id in ids:
            try:
                record = records.get(any_id)
                _refuse_replaced(records, record, to)
                record_changes, result = _transition_changes(
                    workspace,
                    record,
                    to,
                    author,
                )
            except OrbitError as error:
                errors.append(error)
                continue

            changes += record_changes
            done.append(result)

        if done:
            write_step(workspace, f"{done[0].kind.name}-{to}", changes, author=author)

        return done, errors


def _transition_changes(
    workspace: Workspace,
    record: Record,
    to: str,
    author: Author,
    review: Review | None = None,
) -> tuple[list[FileChange], Record]:
    refuse_transition(record, to)

    if to == SUPERSEDED and not record.superseded_by:
        raise RefusedError(
            f"{record.id} can't be superseded by nothing",
            hint=f"`orbit {record.kind.name} supersede {record.id} --with NEW-ID` writes both ends",
        )

    document_changes, restated = _document_status(workspace, record, to.capitalize(), to)
    fields = {"status": to, **_review_fields(record, to, review or Review(), author), **restated}
    change, result = writer.prepare_edit(workspace, record, lambda data: {**data, **fields})
    changes = [change, *document_changes]
    if record.phase != "pending":
        return changes, result

    if result.phase == "live":
        _refuse_unfilled(workspace, record, to)
        refuse_secrets_in(changes)
        refuse_hidden(result.data)
        for name, text in other_files(workspace, record):
            refuse_secrets(name, text)
            if name.endswith(".md"):  # others may be pictures
                refuse_hidden({name: text.removeprefix("\ufeff")})

    return _out_of_inbox(workspace, record, result, changes)


def _refuse_unfilled(workspace: Workspace, record: Record, to: str) -> None:
    source = record.source
    if not record.kind.in_document or (source is not None and source.authority == "document"):
        return

    home = home_of(workspace, record)
    if home is not None:
        _refuse_without_reasons(workspace, record, to, *home)

    prose = whole(workspace, [record])[0].prose
    prompt = first_prompt(prose, prompts_of(record.kind.folder, True))
    if prompt is None:
        return

    path, text, entry_start = record.body_path, prose, 0
    if home is not None:
        document, entry = home
        path, text, entry_start = document.path, document.text, entry.span.start

    offset, words = prompt
    start = max(0, text.find(prose, entry_start)) + offset
    line = text.count("\n", 0, start) + 1
    raise RefusedError(
        f"{record.id} can't become {to}: {path}:{line} is a prompt of its template, `{words}`",
        hint=f"answer it, or delete the line; `orbit check` lists what else is unfilled "
        f"({record.id})",
    )


def _refuse_without_reasons(
    workspace: Workspace,
    record: Record,
    to: str,
    document: Document,
    entry: AdrDocument,
) -> None:
    subject = f"{record.id} can't become {to}: {document.path}"
    if not has_text(document.text, entry):
        hint = "write its Context, Decision and Consequences there"
        raise RefusedError(f"{subject} has no text", hint=hint)

    if not entry.has_cost and NO_COST not in workspace.config.setting("checks", "ignore"):
        hint = "add a line `- Cost: …` under Consequences"
        raise RefusedError(f"{subject} names no cost", hint=hint)


def review_outcome(record: Record, to: str) -> str:
    """Return what giving a record another status says of it in review:
    approved, rejected, or nothing.
    """
    if not record.is_undecided or to == SUPERSEDED:
        return ""

    status = record.kind.status(to)
    if status.phase == "live":
        return "approved"

    if record.kind.is_rejection(status):
        return "rejected"

    return ""


def _review_fields(record: Record, to: str, review: Review, author: Author) -> Mapping[str, object]:
    outcome = review_outcome(record, to)
    if not outcome:
        return _retirement_fields(record, to, review, author)

    if outcome == "approved" and not is_named(review.by or author.name):
        raise RefusedError(
            f"git does not know who accepts {record.id}; nothing was written",
            hint='--by "Your Name" says it, as does `git config user.name "Your Name"`',
        )

    fields = {
        "suggested_by": record.approval.get("suggested_by") or record.author,
        f"{outcome}_by": review.by or author.name,
        f"{outcome}_at": format_time(datetime.now(UTC)),
        "reason": review.reason,
    }
    if outcome == "approved":
        fields["change"] = record.change_digest

    return {"approval": {name: value for name, value in fields.items() if value}}


def _retirement_fields(
    record: Record, to: str, review: Review, author: Author
) -> Mapping[str, object]:
    """Return who retired a live record and why, if a reason is given; git knows the rest."""
    is_retired = record.phase == "live" and record.kind.status(to).phase == "closed"
    if not is_retired or not review.reason:
        return {}

    retirement = {
        "retired_by": review.by or author.name,
        "retired_at": format_time(datetime.now(UTC)),
        "retired_reason": review.reason,
    }
    return {"approval": {**record.approval, **retirement}}


def refuse_transition(record: Record, to: str) -> None:
    """Raise when a record may not go to a status; the message names those it may."""
    statuses = record.kind.statuses
    if to not in statuses:
        raise RefusedError(
            f"{record.kind.with_article} has no status {to!r}",
            hint=f"statuses: {', '.join(statuses)}",
        )

    status = record.status
    if to not in status.to:
        hint = record.kind.transitions_help(status, record.id)
        raise RefusedError(f"{record.id} is {status.name} and can't become {to}", hint=hint)


def supersede(
    workspace: Workspace,
    old_id: str,
    new_id: str,
    *,
    author: Author | None = None,
    dry_run: bool = False,
) -> tuple[Record, Record]:
    """Let one record replace another: both ends are written, or neither; `dry_run` writes none."""
    with nullcontext() if dry_run else writer.writing(workspace):
        records = read_collection(workspace).records
        old, new = records.get(old_id), records.get(new_id)
        _refuse_supersession(records, old, new)

        words = _superseded_words(workspace, old, new)
        form = _successor_form(workspace, records, old)
        successor = (new, form) if form else None
        document_changes, restated = _document_status(workspace, old, words, SUPERSEDED, successor)

        def closed(data: dict[str, object]) -> Mapping[str, object]:
            replaced = _with_id(data, "superseded_by", new.id)
            answered = without_answered(replaced, "supersedes", new, is_inverted=True)
            return {**answered, "status": SUPERSEDED, **restated}

        def replacing(data: dict[str, object]) -> Mapping[str, object]:
            return without_answered(_with_id(data, "supersedes", old.id), "supersedes", old)

        old_change, old_record = writer.prepare_edit(workspace, old, closed)
        new_change, new_record = writer.prepare_edit(workspace, new, replacing)
        step = [*document_changes, old_change, new_change]
        if not dry_run:
            write_step(workspace, f"{old.kind.name}-supersede", step, author=author)
        return old_record, new_record


def _refuse_supersession(records: RecordSet, old: Record, new: Record) -> None:
    if old.uid == new.uid:
        raise RefusedError(
            f"{old.id} can't supersede itself",
            hint="name the record that replaces it",
        )

    if old.kind.name != new.kind.name:
        raise RefusedError(
            f"{new.id} is of the kind {new.kind.name}; a record is superseded by one of the "
            f"same kind, {old.kind.name}",
            hint=f"add one with `orbit {old.kind.name} new`, or link the two: `related_to`",
        )

    if old.id in records.stated_successors(new.id):
        raise RefusedError(
            f"{new.id} is itself replaced by {old.id}; that would close a circle",
            hint=f"add a new {old.kind.label.lower()} that says what holds now, and let it "
            f"replace {old.id}",
        )

    if new.phase != "live":
        hint = f"name a live record: `orbit {new.kind.name} list --phase live`"
        if new.phase == "pending":
            hint = f"`orbit accept {new.id}` first, or {hint}"

        raise RefusedError(
            f"{new.id} is {new.status.name}; only an accepted record can replace another",
            hint=hint,
        )

    if old.status.name != SUPERSEDED:
        refuse_transition(old, SUPERSEDED)
    elif new.id not in records.replacements(old):
        by = ", ".join(records.replaced_by(old))
        hint = f"replace {by} with {new.id}"
        if not by:
            by, hint = "another record", f"name its successor in `superseded_by` of {old.path}"

        raise RefusedError(f"{old.id} is already superseded by {by}", hint=hint)


def _with_id(data: Mapping[str, object], name: str, record_id: str) -> dict[str, object]:
    return {**data, name: [*dict.fromkeys((*list_in(data, name), record_id))]}


def _superseded_words(workspace: Workspace, old: Record, new: Record) -> str:
    source, target = old.source, new.source
    if source is None or target is None or source.path == target.path:
        return f"Superseded by {new.id}"

    link = posixpath.relpath(target.path, posixpath.dirname(source.path))
    home = read_documents(workspace, [new]).of(new) if target.heading is not None else None
    if home is not None:
        document, entry = home
        anchor = parse_markdown(document.text).anchors.get(entry.span.start)
        if anchor and len(link) + len(anchor) < _LONGEST_LINK:
            link = f"{link}#{anchor}"

    return f"Superseded by [{new.id}]({link})"


def _successor_form(
    workspace: Workspace, records: RecordSet, old: Record
) -> tuple[str, str] | None:
    """Return key and value by which the newest superseded document of the folder names its
    successor, if it does.
    """
    if old.source is None or not old.kind.in_document:
        return None

    folder = posixpath.dirname(old.source.path)
    peers = [
        record
        for record in records.of_kind(old.kind.name)
        if record.superseded_by
        and record.source
        and posixpath.dirname(record.source.path) == folder
    ]
    documents = read_documents(workspace, peers)

    for document, entry in filter(None, map(documents.of, reversed(peers))):
        form = successor_field(document.text, entry)
        if form:
            return form

    return None


def _document_status(
    workspace: Workspace,
    record: Record,
    words: str,
    status: str,
    successor: tuple[Record, tuple[str, str]] | None = None,
) -> tuple[list[FileChange], dict[str, str]]:
    source = record.source
    if source is None or not record.kind.in_document:
        return [], {}

    follows = source.authority == "document"
    home = home_of(workspace, record)
    if home is None:
        if not follows:
            return [], {}

        message = (
            f"{record.id} follows {source.path}, and its text can't be found there; "
            f"nothing was changed"
        )
        raise RefusedError(message, hint="`orbit check` says what is missing; add that first")

    document, entry = home
    _refuse_unread(document, entry)
    _refuse_lost_relation(document, entry, record.kind.status(status))
    text = None
    if successor is not None:
        new, form = successor
        number = location_of(new).number
        if number is not None:
            text = set_successor(document.text, entry, number, form)

    text = text or set_status(document.text, entry, words)
    now = entry_in(document.path, text, record)

    if now is None or now.status != status:
        message = (
            f"{document.path} can't be changed automatically to say `{words}`; nothing was changed"
        )
        hint = "write the status there by hand, then run `orbit check --fix`"
        raise RefusedError(message, hint=hint)

    changes = [FileChange(document.path, document.text, text)]
    if not follows:
        return changes, {}

    # The words last agreed on tell a document that changed since from one that is older than the
    # record.
    return changes, {"status_raw": now.status_raw.strip()[:STATUS_LIMIT]}


def _refuse_unread(document: Document, entry: AdrDocument) -> None:
    """Raise where a second status would contradict the one that the document states."""
    if entry.status_syntax:
        message = (
            f"{document.path} states `{entry.status_raw}` in {entry.status_syntax}, which Orbit "
            f"does not write; nothing was changed"
        )
        hint = "put the status into a section `## Status` there instead, then `orbit check --fix`"
        raise RefusedError(message, hint=hint)


def _refuse_lost_relation(document: Document, entry: AdrDocument, status: Status) -> None:
    """Raise where a decision would go live, and the line that names its successor would go."""
    if status.phase == "live" and entry.superseding_spans:
        span = entry.superseding_spans[0]
        line = document.text.count("\n", 0, span.start) + 1
        words = " ".join(span.of(document.text).split())
        raise RefusedError(
            f"{document.path}:{line} says `{words}`; nothing was changed",
            hint="delete that line first, if the decision is valid again",
        )


def entry_in(path: str, text: str, record: Record) -> AdrDocument | None:
    """Return a record's decision in the text of its document."""
    source = record.source
    if source:
        return Document(path, text).entry(source.heading)

    return None


def with_facts(document: Document, record: Record, facts: Mapping[str, str]) -> str | None:
    """Return a document that states another `date`, `status` or `title`;
    None where it has no such entry.
    """
    setters = {"date": set_date, "status": set_status, "title": set_title}
    text = document.text
    # The title comes last: an entry without a number is found by it.
    for name, value in sorted(facts.items()):
        entry = entry_in(document.path, text, record)
        if entry is None:
            return None

        text = setters[name](text, entry, value)

    return text


def _out_of_inbox(
    workspace: Workspace,
    record: Record,
    result: Record,
    changes: list[FileChange],
) -> tuple[list[FileChange], Record]:
    """Return the changes with the record's whole folder moved out of the inbox, if it is there."""
    path = writer.record_path(workspace, record.kind, record.id)
    if record.path == path or record.kind.in_document:
        return changes, result

    record_change, *others = changes
    old_line = writer.schema_line(workspace, record.kind, record.path)
    new_line = writer.schema_line(workspace, record.kind, path)
    text = (record_change.after or "").replace(f"# {old_line}\n", f"# {new_line}\n", 1)

    # No reader may find a folder without its record: that comes first and goes last.
    folder = path.rpartition("/")[0]
    added = [FileChange(path, None, text)]
    removed: list[FileChange] = []
    for name, content in other_files(workspace, record):
        added.append(FileChange(f"{folder}/{name}", None, content))
        removed.append(FileChange(f"{record.folder}/{name}", content, None))

    removed.append(FileChange(record_change.path, record_change.before, None))
    return [*added, *removed, *others], replace(result, path=path)


def other_files(workspace: Workspace, record: Record) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the other files in a record's folder:
    votes, long text, attachments.
    """
    folder = workspace.root / record.folder
    for file in sorted(folder.rglob("*")):
        if file.is_dir() and not file.is_symlink():
            continue

        name = file.relative_to(folder).as_posix()
        if f"{record.folder}/{name}" != record.path:
            yield name, read_bytes(file, limit=DOCUMENT_LIMIT).decode("utf-8", "surrogateescape")
