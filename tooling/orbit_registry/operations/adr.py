"""New and amended decisions: the record and its entry in a document are written in one step."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from orbit_registry.errors import InvalidRecordError, RefusedError, UsageError, WriteError
from orbit_registry.formats.adr.writer import add_amendment, refuse_restated, set_date, set_title
from orbit_registry.model.ids import new_uid, sequence_id
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations.adr_text import (
    NewText,
    entry_text,
    log_of,
    neighbours_in,
    new_entry,
    new_path,
    new_text,
    with_body,
)
from orbit_registry.operations.lifecycle import entry_in
from orbit_registry.repository.documents import first_prompt, prompts_of, read_documents
from orbit_registry.repository.guard import refuse_for_agent, refuse_secrets_in, write_step
from orbit_registry.repository.ids import allocate, next_number, release
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import (
    Edit,
    PreWriteHook,
    new_data,
    prepare_edit,
    record_path,
    refuse_bad_scope,
    render,
    validated,
    writing,
)
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import inside
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

_FEATURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


@dataclass(frozen=True, slots=True)
class NewAdr:
    """What someone wants to decide; empty fields are left out."""

    title: str
    feature: str | None = None
    tasks: tuple[str, ...] = ()
    deciders: tuple[str, ...] = ()
    legacy_ids: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    summary: str | None = None
    status: str | None = None
    date: str | None = None
    style: str | None = None
    body: str | None = None
    key: str | None = None
    ensured: str | None = None
    distinct_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddResult:
    """A new decision: its record, its document, and which number was the highest before it."""

    record: Record
    document: str
    above: str


def new_adr(
    fields: Mapping[str, object], *, key: str | None = None, ensured: str | None = None, status: str | None = "proposed"
) -> NewAdr:
    """Return a decision of the fields that a program gives; those of another form are left out."""
    scope = fields.get("scope")
    axes = scope if isinstance(scope, Mapping) else {}

    def text(name: str) -> str | None:
        value = fields.get(name)
        return value if isinstance(value, str) else None

    def words(holder: Mapping[str, object], name: str) -> tuple[str, ...]:
        value = holder.get(name)
        return tuple(str(word) for word in value) if isinstance(value, (list, tuple)) else ()

    arguments: dict[str, Any] = {name: text(name) for name in ("feature", "date", "summary", "body")}
    arguments |= {name: words(fields, name) for name in ("tasks", "deciders", "legacy_ids", "labels", "distinct_from")}
    arguments |= {name: words(axes, name) for name in ("paths", "tags")}
    return NewAdr(title=str(fields.get("title") or ""), status=status, key=key, ensured=ensured, **arguments)


def add_adr(
    workspace: Workspace, request: NewAdr, author: Author, admit: PreWriteHook | None = None, *, dry_run: bool = False
) -> AddResult:
    """Take a number, and write the record and its document as one step; `admit` is asked before a number is taken.

    Raises:
        UsageError: a field is missing or has the wrong form; no number is taken.
    """
    kind = workspace.kinds["adr"]
    request = _proposed_if_unfilled(kind, _checked(workspace, kind, request), author)
    with writing(workspace):
        _validate_early(workspace, kind, request, author, admit)
        allocation = next_number(workspace, kind) if dry_run else allocate(workspace, kind)[0]
        changes, record = _new_files(workspace, kind, request, author, allocation.id)
        if not dry_run:
            try:
                write_step(workspace, "adr-add", changes, author=author)
            except WriteError:
                release(workspace, kind, allocation.id)
                raise
        return AddResult(record, changes[0].path, allocation.above)


def _checked(workspace: Workspace, kind: Kind, request: NewAdr) -> NewAdr:
    title = " ".join(request.title.split())
    if not title:
        raise UsageError("a decision needs a title", hint='--title "Use DuckDB for the snapshot"')
    if request.feature is not None and not _FEATURE.match(request.feature):
        raise UsageError(f"{request.feature!r} is no feature name", hint="letters, digits, `.`, `_` and `-`")
    if request.status is not None and request.status not in ("proposed", "accepted", "rejected", "deprecated"):
        raise UsageError(
            f"a new decision can't be {request.status!r}", hint="proposed, accepted, rejected or deprecated"
        )
    adr = workspace.config.adr
    style = request.style or ("log" if adr.log else adr.style)
    if style == "log" and not request.feature and not adr.log:
        raise UsageError("decisions are kept in logs here, so a feature is needed", hint="--feature NAME")
    if request.date is not None:
        refuse_date(request.date)
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return replace(request, title=title, style=style, date=request.date or today)


def _proposed_if_unfilled(kind: Kind, request: NewAdr, author: Author) -> NewAdr:
    """Return the decision, proposed where its text is still to be written and it states no status."""
    status = request.status or kind.initial.get(author.role, kind.initial["agent"])
    if kind.status(status).phase != "live":
        return request
    text = kind.template() if request.body is None else request.body
    prompt = first_prompt(text, prompts_of(kind.folder, True))
    if prompt is None:
        return request
    if request.status is None:
        return replace(request, status=kind.initial["agent"])
    line = f"line {text.count(chr(10), 0, prompt[0]) + 1} of the text" if request.body is not None else "its text"
    raise RefusedError(
        f"a decision can't be {status} while {line} is a prompt of the template: `{prompt[1]}`",
        hint="give the whole text with --body-file, or add it without --status, answer the prompts, and accept it then",
    )


def _refuse_missing_log(workspace: Workspace, log: str) -> None:
    """Raise when a log is gone in which decisions have their text: a new file of its name would hide where it is.

    To be asked under the lock: between two looks another writer may have begun the log.
    """
    if os.path.lexists(workspace.root / log):
        return
    ids = [
        record.id
        for record in read_collection(workspace).records
        if record.source is not None and record.source.path == log
    ]
    if ids:
        count = "1 decision has its text" if len(ids) == 1 else f"{len(ids)} decisions have their text"
        hint = f"bring it back; where it was renamed: `orbit adr backfill --moved {shlex.quote(log)} NEW`"
        raise RefusedError(f"{log} is not there, and {count} in it", hint=hint)


def refuse_date(text: str) -> None:
    """Raise when a text is no date as decisions write it: YYYY-MM-DD or YYYY-MM."""
    try:
        date.fromisoformat(text if len(text) == 10 else f"{text}-01")
    except ValueError:
        raise UsageError(f"{text!r} is no date", hint="YYYY-MM-DD or YYYY-MM") from None


def _validate_early(
    workspace: Workspace, kind: Kind, request: NewAdr, author: Author, admit: PreWriteHook | None
) -> None:
    """Find out what is wrong before a number is taken for it; a log is not parsed here, which costs the most."""
    config = workspace.config
    record_id = sequence_id(kind.prefix, 0)
    path = log_of(config, request.feature) if request.style == "log" else f"{config.adr.folder}/{record_id}.md"
    inside(workspace.root, path)
    if request.style == "log":
        _refuse_missing_log(workspace, path)
    record, text = _record(workspace, kind, request, author, record_id, NewText(path, None, "", record_id))
    new = FileChange(record.path, None, text)
    refuse_for_agent(workspace, [new], author=author)
    refuse_secrets_in([new, FileChange(f"the text of {request.title!r}", None, request.body)])
    if request.body is not None:
        status = request.status or kind.initial["agent"]
        if request.style == "log":
            entry_text(kind, path, "", _placeholders(request, record_id, status), request.body)
        else:
            _new_file(workspace, kind, request, record_id, status)
    if admit is not None:
        admit(record)


def _record(
    workspace: Workspace, kind: Kind, request: NewAdr, author: Author, record_id: str, document: NewText
) -> tuple[Record, str]:
    """Return the record that will point at a document, and its file's text."""
    heading = {"heading": document.heading} if document.heading else {}
    source = {"path": document.path, **heading, "format": str(request.style), "authority": "record"}
    names = list(dict.fromkeys((*request.legacy_ids, *document.names)))
    fields = {**_fields(request), "legacy_ids": names, "source": source}
    data = new_data(kind, record_id, new_uid(), author, fields)
    path = record_path(workspace, kind, record_id)
    text = render(workspace, kind, data, path)
    record = validated(text, kind, path, is_new=True)
    refuse_bad_scope(record)
    return record, text


def _new_files(
    workspace: Workspace, kind: Kind, request: NewAdr, author: Author, record_id: str
) -> tuple[list[FileChange], Record]:
    status = request.status or kind.initial.get(author.role, kind.initial["agent"])
    if request.style == "log":
        fields = _placeholders(request, record_id, status)
        new = new_entry(workspace, kind, log_of(workspace.config, request.feature), fields, request.body)
    else:
        new = _new_file(workspace, kind, request, record_id, status)
    record, text = _record(workspace, kind, request, author, record_id, new)
    if entry_in(new.path, new.after, record) is None:
        raise InvalidRecordError(
            f"{new.path}: the new entry can't be found again in the text written",
            hint="close a block of code or comment that is open where it goes, else give another title or --style",
        )
    return [FileChange(new.path, new.before, new.after), FileChange(record.path, None, text)], record


def _fields(request: NewAdr) -> dict[str, object]:
    names = ("title", "status", "date", "tasks", "feature", "deciders", "summary", "labels", "distinct_from", "key")
    values = {name: getattr(request, name) for name in (*names, "ensured")}
    scope = {"paths": list(request.paths), "tags": list(request.tags)}
    return {
        **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
        "scope": {axis: words for axis, words in scope.items() if words},
    }


def _placeholders(request: NewAdr, record_id: str, status: str) -> dict[str, str]:
    return {
        "id": record_id,
        "number": record_id.rpartition("-")[2],
        "title": request.title,
        "status": status.capitalize(),
        "date": str(request.date),
        "tasks": " · ".join(f"[{task}]" for task in request.tasks),
        "legacy": " · ".join(f"legacy_id: `{name}`" for name in request.legacy_ids),
        "deciders": ", ".join(request.deciders),
        "tags": ", ".join(request.labels),
    }


def _new_file(workspace: Workspace, kind: Kind, request: NewAdr, record_id: str, status: str) -> NewText:
    neighbours = neighbours_in(workspace, workspace.config.adr.folder)
    path = new_path(workspace, neighbours, record_id, request.title, str(request.date))
    if (workspace.root / path).exists():
        raise RefusedError(f"{path} is there already", hint="give another title")
    inside(workspace.root, path)
    fields = _placeholders(request, record_id, status)
    return NewText(path, None, with_body(path, new_text(kind, neighbours, path, fields, status), request.body))


def amend_adr(
    workspace: Workspace,
    any_id: str,
    text: str,
    task: str,
    date: str | None = None,
) -> Record:
    """Add a dated amendment, anchored at a task, to a decision's entry; the entry's own words stay.

    Raises:
        RefusedError: the decision is closed, has no entry to amend, or the amendment has no text or no task.
        UsageError: the date is none.
    """
    if not text.strip() or not task.strip():
        raise RefusedError("an amendment needs a text and a task", hint='`orbit adr amend ID --task T --text "…"`')
    if date is not None:
        refuse_date(date)
    with writing(workspace):
        record = read_collection(workspace).records.get(any_id)
        if record.phase == "closed":
            raise RefusedError(f"{record.id} is {record.status.name} and is kept as it was", hint="decide anew")
        home = read_documents(workspace, [record]).of(record)
        if home is None:
            raise RefusedError(f"{record.id} has no entry in a document", hint="`orbit check` says what is missing")
        document, entry = home
        day = date or datetime.now(UTC).strftime("%Y-%m-%d")
        after = add_amendment(document.text, entry, day, task, text)
        refuse_restated(document.text, after, document.path)
        change, result = prepare_edit(workspace, record, lambda data: _with_task(data, task))
        write_step(workspace, "adr-amend", [FileChange(document.path, document.text, after), change])
        return result


def _with_task(data: dict[str, object], task: str) -> Mapping[str, object]:
    value = data.get("tasks")
    tasks = [str(name) for name in value] if isinstance(value, list) else []
    return {**data, "tasks": tasks if task in tasks else [*tasks, task]}


def update_adr(
    workspace: Workspace, any_id: str, edit: Edit, title: str | None = None, *, author: Author | None = None
) -> Record:
    """Change a decision's fields; title and date change in the record and the document both.

    Raises:
        RefusedError: the decision is closed.
        UsageError: the new date is none.
    """
    with writing(workspace):
        result, changes = plan_update(workspace, any_id, edit, title)
        write_step(workspace, "adr-update", changes, author=author)
        return result


def plan_update(
    workspace: Workspace, any_id: str, edit: Edit, title: str | None = None
) -> tuple[Record, list[FileChange]]:
    """Return the decision and the changes of files that `update_adr` would make now; see there for what is raised."""
    record = read_collection(workspace).records.get(any_id)
    if record.phase == "closed":
        raise RefusedError(f"{record.id} is {record.status.name} and is kept as it was", hint="decide anew")
    flat = " ".join(title.split()) if title is not None else None

    def whole(fields: dict[str, object]) -> Mapping[str, object]:
        changed = dict(edit(fields))
        source = changed.get("source")
        if flat is not None and isinstance(source, dict) and source.get("heading") == record.title:
            changed["source"] = {**source, "heading": flat}  # an entry without a number is found by its title
        return {**changed, "title": flat} if flat is not None else changed

    change, result = prepare_edit(workspace, record, whole)
    return result, [*_document_change(workspace, record, result), change]


def _document_change(workspace: Workspace, old: Record, new: Record) -> list[FileChange]:
    """Return what a new title and a new date change in a decision's document."""
    home = read_documents(workspace, [old]).of(old)
    if home is None:
        return []
    document, entry = home
    text = document.text
    if new.title != old.title:
        text = set_title(text, entry, new.title)
    day = new.text("date")
    if day is not None and day != old.text("date"):
        refuse_date(day)
        moved = entry_in(document.path, text, old)
        text = set_date(text, moved, day) if moved else text
    return [FileChange(document.path, document.text, text)]
