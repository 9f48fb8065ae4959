"""New and amended decisions: the record and its document, a file or an entry of a log."""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from orbit_registry.errors import InvalidRecordError, RefusedError, UsageError, WriteError, plural
from orbit_registry.formats.adr import writer
from orbit_registry.formats.adr.model import AdrDocument, is_same_title
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.templates import new_document
from orbit_registry.formats.adr.vocabulary import is_iso_date
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.model.ids import new_uid
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations.adr_style import (
    ANY_TITLE,
    neighbours_in,
    new_path,
    new_text,
    only_entry,
)
from orbit_registry.operations.document_facts import FEATURE
from orbit_registry.operations.lifecycle import NO_COST, entry_in, refuse_closed, with_facts
from orbit_registry.repository.documents import LOG_NAME, first_prompt, home_of, prompts_of
from orbit_registry.repository.guard import (
    refuse_hidden,
    refuse_inherited,
    refuse_secrets,
    write_step,
)
from orbit_registry.repository.ids import allocate, release
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import (
    Edit,
    PreWriteHook,
    build_record,
    new_data,
    prepare_edit,
    writing,
)
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace


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
    fields: Mapping[str, object],
    *,
    key: str | None = None,
    ensured: str | None = None,
    status: str | None = "proposed",
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

    arguments: dict[str, Any] = {
        name: text(name) for name in ("feature", "date", "summary", "body")
    }
    arguments |= {
        name: words(fields, name)
        for name in ("tasks", "deciders", "legacy_ids", "labels", "distinct_from")
    }
    arguments |= {name: words(axes, name) for name in ("paths", "tags")}

    return NewAdr(
        title=str(fields.get("title") or ""), status=status, key=key, ensured=ensured, **arguments
    )


def add_adr(
    workspace: Workspace,
    request: NewAdr,
    author: Author,
    admit: PreWriteHook | None = None,
    *,
    dry_run: bool = False,
) -> AddResult:
    """Take a number, and write the record and its document as one step;
    `admit` is asked before a number is taken.
    """
    kind = workspace.kinds["adr"]
    request = _proposed_if_unfilled(workspace, kind, _checked(workspace, request), author)
    with writing(workspace):
        expected = allocation = allocate(workspace, kind, dry_run=True)[0]
        changes, record = _new_files(workspace, kind, request, author, expected.id)
        if admit is not None:
            admit(record)

        if not dry_run:
            allocation = allocate(workspace, kind)[0]
            if allocation.id != expected.id:  # another work tree was quicker
                changes, record = _new_files(workspace, kind, request, author, allocation.id)

            try:
                write_step(workspace, "adr-add", changes, author=author)
            except WriteError:
                release(workspace, kind, allocation.id)
                raise

        return AddResult(record, changes[0].path, allocation.above)


def _checked(workspace: Workspace, request: NewAdr) -> NewAdr:
    title = " ".join(request.title.split())
    if not title:
        raise UsageError(
            "a decision needs a title", hint='orbit adr new "Use DuckDB for the snapshot"'
        )

    if request.feature is not None and not FEATURE.match(request.feature):
        raise UsageError(
            f"{request.feature!r} is not a feature name", hint="letters, digits, `.`, `_` and `-`"
        )

    if request.status is not None and request.status not in (
        "proposed",
        "accepted",
        "rejected",
        "deprecated",
    ):
        raise UsageError(
            f"a new decision can't be {request.status!r}",
            hint="proposed, accepted, rejected or deprecated",
        )

    adr = workspace.config.adr
    style = request.style or ("log" if adr.log else adr.style)
    if style == "log" and not request.feature and not adr.log:
        raise UsageError(
            "decisions are kept in logs here, so a feature is needed", hint="--feature NAME"
        )

    if request.date is not None:
        refuse_date(request.date)

    today = datetime.now(UTC).strftime("%Y-%m-%d")
    body = _without_title(request.body, title) if request.body else request.body
    return replace(request, title=title, style=style, date=request.date or today, body=body)


def _without_title(body: str, title: str) -> str:
    """Return a text without a first heading that is the decision's title,
    which the document has already.
    """
    text = body.lstrip("\ufeff")
    first = next(iter(parse_markdown(text).headings), None)
    is_title = (
        first and not text[: first.section.start].strip() and is_same_title(title, first.text)
    )

    return (
        text[first.body.start :]
        if first and is_title and text[first.body.start :].strip()
        else body
    )


def _proposed_if_unfilled(
    workspace: Workspace, kind: Kind, request: NewAdr, author: Author
) -> NewAdr:
    status = request.status or kind.initial.get(author.role, kind.initial["agent"])
    if kind.status(status).phase != "live":
        return request

    text = kind.template() if request.body is None else request.body
    prompt = first_prompt(text, prompts_of(kind.folder, True))
    without_cost = (
        prompt is None
        and NO_COST not in workspace.config.setting("checks", "ignore")
        and _no_cost(request)
    )
    if prompt is None and not without_cost:
        return request
    if request.status is None:
        return replace(request, status=kind.initial["agent"])

    if prompt is None:
        raise RefusedError(
            f"a decision can't be {status} without a cost, and the text names none",
            hint="add a line `- Cost: …` under Consequences, or add it with `--status proposed`",
        )

    line = (
        f"line {text.count(chr(10), 0, prompt[0]) + 1} of the text"
        if request.body is not None
        else "its text"
    )

    raise RefusedError(
        f"a decision can't be {status} while {line} is a prompt of the template: `{prompt[1]}`",
        hint="give the whole text with --body-file, or add it without --status, answer the "
        "prompts, and accept it then",
    )


def _no_cost(request: NewAdr) -> bool:
    """Say whether a text, read as one decision, names no cost."""
    body = (request.body or "").lstrip("\ufeff")
    entry = only_entry(f"# {ANY_TITLE}\n\n{body}", "docs/adr/0001-new.md")
    return entry is not None and not entry.has_cost


def _refuse_missing_log(workspace: Workspace, log: str) -> None:
    """To be asked under the lock: between two looks another writer may have begun the log."""
    if os.path.lexists(workspace.root / log):
        return

    ids = [
        record.id
        for record in read_collection(workspace).records
        if record.source is not None and record.source.path == log
    ]
    if ids:
        count = plural(len(ids), "decision has its text", "decisions have their text")
        hint = (
            f"bring it back; if it was renamed: `orbit adr backfill --moved {shlex.quote(log)} NEW`"
        )
        raise RefusedError(f"{log} is not there, and {count} in it", hint=hint)


def refuse_date(text: str) -> None:
    """Raise when a text is not a date as decisions write it: YYYY-MM-DD or YYYY-MM."""
    if not is_iso_date(text):
        raise UsageError(f"{text!r} is not a date", hint="YYYY-MM-DD or YYYY-MM")


def _new_files(
    workspace: Workspace, kind: Kind, request: NewAdr, author: Author, record_id: str
) -> tuple[list[FileChange], Record]:
    status = request.status or kind.initial.get(author.role, kind.initial["agent"])
    fields = {
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

    refuse_secrets(f"the text of {request.title!r}", request.body or "")
    refuse_hidden({"title": request.title, "body": (request.body or "").removeprefix("\ufeff")})

    if request.style == "log":
        path = _log_of(workspace.config, request.feature)
        _refuse_missing_log(workspace, path)
        new = new_entry(workspace, kind, path, fields, request.body)
    else:
        neighbours = neighbours_in(workspace, workspace.config.adr.folder)
        path = new_path(neighbours, record_id, request.title, str(request.date))
        if (workspace.root / path).exists():
            raise RefusedError(f"{path} is there already", hint="give another title")

        inside(workspace.root, path)
        new = NewText(
            path,
            None,
            _with_body(path, new_text(kind, neighbours, path, fields, status), request.body),
        )

    heading = {"heading": new.heading} if new.heading else {}
    source = {"path": path, **heading, "format": str(request.style), "authority": "record"}
    names = list(dict.fromkeys((*request.legacy_ids, *new.names)))
    data = new_data(
        kind,
        record_id,
        new_uid(),
        author,
        {**_fields(request), "legacy_ids": names, "source": source},
    )
    text, record = build_record(workspace, kind, author, record_id, data)
    entry = entry_in(path, new.after, record)
    _refuse_other_title(request.title, entry)

    if entry is None:
        raise InvalidRecordError(
            f"{path}: the new entry can't be found again in the text written",
            hint="close a block of code or comment that is open where it goes, else give "
            "another title or --style",
        )

    return [FileChange(path, new.before, new.after), FileChange(record.path, None, text)], record


def _refuse_other_title(title: str, entry: AdrDocument | None) -> None:
    """Raise where a document would not read as the title that was given."""
    if entry is not None and not is_same_title(title, entry.title):
        message = (
            f"`{title}` can't be a title: a document shows it as `{entry.title}`; nothing "
            f"was written"
        )
        raise InvalidRecordError(message, hint="leave comments and tags out of the title")


def _fields(request: NewAdr) -> dict[str, object]:
    names = (
        "title",
        "status",
        "date",
        "tasks",
        "feature",
        "deciders",
        "summary",
        "labels",
        "distinct_from",
        "key",
    )
    values = {name: getattr(request, name) for name in (*names, "ensured")}
    scope = {"paths": list(request.paths), "tags": list(request.tags)}

    return {
        **{
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        },
        "scope": {axis: words for axis, words in scope.items() if words},
    }


def amend_adr(
    workspace: Workspace, any_id: str, text: str, task: str, date: str | None = None
) -> Record:
    """Add a dated amendment, anchored at a task, to a decision's entry;
    the entry's own words stay.
    """
    if not text.strip() or not task.strip():
        raise RefusedError(
            "an amendment needs a text and a task", hint='`orbit adr amend ID --task T --text "…"`'
        )

    if date is not None:
        refuse_date(date)

    with writing(workspace):
        record = read_collection(workspace).records.get(any_id)
        refuse_closed(record, f"`orbit {record.kind.name} new` decides again")
        refuse_inherited(workspace, record.path)
        home = home_of(workspace, record)

        if home is None:
            raise RefusedError(
                f"{record.id} has no entry in a document", hint="`orbit check` says what is missing"
            )

        document, entry = home
        day = date or datetime.now(UTC).strftime("%Y-%m-%d")
        after = writer.add_amendment(document.text, entry, day, task, text)
        writer.refuse_restated(document.text, after, document.path)
        change, result = prepare_edit(workspace, record, lambda data: _with_task(data, task))
        write_step(
            workspace, "adr-amend", [FileChange(document.path, document.text, after), change]
        )

        return result


def _with_task(data: dict[str, object], task: str) -> Mapping[str, object]:
    value = data.get("tasks")
    tasks = [str(name) for name in value] if isinstance(value, list) else []
    return {**data, "tasks": tasks if task in tasks else [*tasks, task]}


def update_adr(
    workspace: Workspace,
    any_id: str,
    edit: Edit,
    title: str | None = None,
    *,
    author: Author | None = None,
) -> Record:
    """Change a decision's fields; title and date change in the record and the document both."""
    with writing(workspace):
        result, changes = plan_update(workspace, any_id, edit, title)
        write_step(workspace, "adr-update", changes, author=author)
        return result


def plan_update(
    workspace: Workspace, any_id: str, edit: Edit, title: str | None = None
) -> tuple[Record, list[FileChange]]:
    """Return the decision and the changes of files that `update_adr` would make now;
    see there for what is raised.
    """
    record = read_collection(workspace).records.get(any_id)
    refuse_closed(record, f"`orbit {record.kind.name} new` decides again")
    flat = " ".join(title.split()) if title is not None else None

    def whole(fields: dict[str, object]) -> Mapping[str, object]:
        changed = dict(edit(fields))
        source = changed.get("source")
        if flat is not None and isinstance(source, dict) and source.get("heading") == record.title:
            changed["source"] = {
                **source,
                "heading": flat,
            }  # an entry without a number is found by its title
        return {**changed, "title": flat} if flat is not None else changed

    change, result = prepare_edit(workspace, record, whole)
    return result, [*_document_change(workspace, record, result), change]


def _document_change(workspace: Workspace, old: Record, new: Record) -> list[FileChange]:
    home = home_of(workspace, old)
    if home is None:
        return []

    document, day = home[0], new.text("date")
    facts = {"title": new.title} if new.title != old.title else {}
    if day is not None and day != old.text("date"):
        refuse_date(day)
        facts["date"] = day

    text = with_facts(document, old, facts) or document.text
    if "title" in facts:
        _refuse_other_title(new.title, entry_in(document.path, text, new))

    return [FileChange(document.path, document.text, text)]


_FACT_SECTIONS = frozenset(("status", "date", "changelog"))
"""Sections of a document that state facts instead of reasons."""
_SECTION = re.compile(r"(?<=\n)#+ (?P<name>[^\n]+)\n\n(?P<item>-)?")
_WHOLE_DATE = len("2026-04-01")


@dataclass(frozen=True, slots=True)
class NewText:
    """The document of a new decision, as it was and as it will be,
    and how the record finds the decision in it.
    """

    path: str
    before: str | None
    after: str
    heading: str | None = (
        # what the record's `source.heading` says; None where the document is the decision's own
        None
    )
    names: tuple[str, ...] = ()  # names of the decision in its log, such as `D10`


def _log_of(config: Config, feature: str | None) -> str:
    return config.adr.log or f"{config.design}/{feature}/{LOG_NAME}"


def new_entry(
    workspace: Workspace, kind: Kind, path: str, fields: Mapping[str, str], body: str | None
) -> NewText:
    """Return a log with a new entry: next to and like the newest one in the project's log,
    else ascending by id.
    """
    file = inside(workspace.root, path)
    before = read_text(file, limit=DOCUMENT_LIMIT) if file.exists() else None
    name = path.split("/")[-2] if path.endswith(f"/{LOG_NAME}") else ""
    log = before or (f"# {name}: decisions\n" if name else "# Decisions\n")
    entry = entry_text(kind, path, log, fields, body)

    record_id, title, date = fields["id"], fields["title"], fields["date"]
    heading = (
        writer.next_entry_heading(log, path, record_id, title, date)
        if path == workspace.config.adr.log
        else None
    )
    if heading is None:
        return NewText(path, before, writer.insert_entry(log, entry, record_id), record_id)

    if heading.number is None:
        if len(date) < _WHOLE_DATE:
            raise UsageError(f"{path} names its entries by the day", hint=f"--date {date}-01")

        if any(other.title == title for other in read_document(log, path).entries):
            message = (
                f"{path} has an entry `{title}` already, and its entries are told apart "
                f"by their titles"
            )
            raise RefusedError(message, hint="give another title")

    after = writer.add_entry(log, path, heading.line + entry[entry.index("\n") :])
    found_by = title if heading.number is None else f"ADR-{heading.number}"
    return NewText(path, before, after, found_by, (heading.code,) if heading.code else ())


def entry_text(kind: Kind, path: str, log: str, fields: Mapping[str, str], body: str | None) -> str:
    """Return a new entry, its headings on the levels that the log's entries have."""
    template = new_document(kind.template("entry.md"), fields)
    deeper = max(0, _level_of_entries(log, path) - _level_of_entries(template, path))
    return _with_body(path, _labelled(writer.shift_headings(template, deeper), log, path), body)


def _labelled(entry: str, log: str, path: str) -> str:
    """Return a new entry with labels in place of its headings,
    where the log's last entry has `**Context.**`.
    """
    sections = [
        section for last in read_document(log, path).entries[-1:] for section in last.sections
    ]
    if not sections or not all(
        section.run_in for section in sections if section.key not in _FACT_SECTIONS
    ):
        return entry

    labels = [section for section in sections if section.run_in]
    if not labels:
        return entry

    line = log[: labels[0].body.start].rpartition("\n")[2].strip()
    before, _, after = line.partition(labels[0].heading)
    return _SECTION.sub(
        lambda match: f"{before}{match['name']}{after}" + ("\n\n-" if match["item"] else " "), entry
    )


def _level_of_entries(text: str, path: str) -> int:
    starts = {entry.span.start for entry in read_document(text, path).entries}
    return next(
        (
            heading.level
            for heading in parse_markdown(text).headings
            if heading.section.start in starts
        ),
        1,
    )


def _with_body(path: str, document: str, body: str | None) -> str:
    if body is None:
        return document

    entries = read_document(document, path).entries
    lines, sections = document.split("\n"), entries[0].sections if entries else ()
    starts = [section.position.line - 1 for section in sections] + [len(lines)]
    prose_starts = [
        starts[at] for at, section in enumerate(sections) if section.key not in _FACT_SECTIONS
    ]
    head = lines[: prose_starts[0]] if prose_starts else lines

    for at, section in enumerate(sections):
        if section.key in _FACT_SECTIONS and prose_starts and starts[at] > prose_starts[0]:
            head += lines[starts[at] : starts[at + 1]]

    newline = "\r\n" if "\r\n" in document else "\n"
    prose = writer.nest_headings(body, _level_of_entries(document, path))
    result = newline.join(("\n".join(head).rstrip(), "", *prose.split("\n"), ""))
    writer.refuse_restated(document, result, path)

    return result
