"""New and amended decisions: the record and its document, a file or an entry of a log."""

import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from typing import Any

from orbit_registry.errors import (
    InvalidRecordError,
    OrbitError,
    RefusedError,
    UsageError,
    did_you_mean,
    plural,
)
from orbit_registry.formats.adr import writer
from orbit_registry.formats.adr.model import AdrDocument, Section, is_same_title
from orbit_registry.formats.adr.options import rejected_data
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.templates import new_document
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.judgements.is_moment import DAY_REMEDY, is_review_day
from orbit_registry.model.ids import new_uid
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.review_in_document import may_state_review
from orbit_registry.model.votes import format_time
from orbit_registry.operations.adr_style import (
    ANY_TITLE,
    neighbours_in,
    new_path,
    new_text,
    only_entry,
)
from orbit_registry.operations.document_facts import FEATURE
from orbit_registry.operations.lifecycle import NO_COST, entry_in, with_facts
from orbit_registry.repository.codec import mapping_in
from orbit_registry.repository.documents import LOG_NAME, first_prompt, home_of, prompts_of
from orbit_registry.repository.guard import (
    refuse_closed,
    refuse_date,
    refuse_hidden,
    refuse_inherited,
    refuse_secrets,
    write_step,
)
from orbit_registry.repository.ids import allocate, release
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import (
    PreWriteHook,
    build_record,
    new_data,
    prepare_edit,
    writing,
)
from orbit_registry.workspace.author import Author
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
    uses: tuple[str, ...] = ()
    review_by: str | None = None
    revisit_when: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    """Ids of live decisions that it replaces; its document says so."""


_AXES = ("paths", "tags", "uses")
"""What of a new decision goes into its scope."""
_FOR_PEOPLE = ("style", "supersedes")
"""What no program gives."""


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
    scope = mapping_in(fields, "scope")
    arguments: dict[str, Any] = {"key": key, "ensured": ensured, "status": status}
    for field in dataclass_fields(NewAdr):
        value = scope.get(field.name) if field.name in _AXES else fields.get(field.name)
        if field.name in arguments or field.name in _FOR_PEOPLE:
            continue
        if field.default == () and isinstance(value, list | tuple):
            arguments[field.name] = tuple(map(str, value))
        elif field.default is None and isinstance(value, str):
            arguments[field.name] = value

    return NewAdr(str(fields.get("title") or ""), **arguments)


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
    request = _checked(workspace, request)
    request = _proposed_if_unfilled(workspace, kind, request, author)

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
            except OrbitError:
                release(workspace, kind, allocation.id)
                raise

        return AddResult(record, changes[0].path, allocation.above)


def _refuse_misspelt_feature(workspace: Workspace, feature: str) -> None:
    """Raise where no folder has a feature's name, and one has nearly that name."""
    design = workspace.root / workspace.config.design
    try:
        features = sorted(entry.name for entry in os.scandir(design) if entry.is_dir())
    except OSError:
        return

    near = "" if feature in features else did_you_mean(feature, features, "`")
    if near:
        folder = f"{workspace.config.design}/{feature}"
        raise UsageError(
            f"there is no feature {feature!r}; nothing was written",
            hint=f"{near}if it is a new one, make its folder first: `mkdir {folder}`",
        )


def _checked(workspace: Workspace, request: NewAdr) -> NewAdr:
    title = " ".join(request.title.split())
    if not title:
        raise UsageError(
            "a decision needs a title",
            hint='orbit adr new "Use DuckDB for the snapshot"',
        )

    if request.feature is not None and not FEATURE.match(request.feature):
        raise UsageError(
            f"{request.feature!r} is not a feature name",
            hint="letters, digits, `.`, `_` and `-`",
        )

    if request.feature is not None:
        _refuse_misspelt_feature(workspace, request.feature)

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
            "decisions are kept in logs here, so a feature is needed",
            hint="--feature NAME",
        )

    if request.date is not None:
        refuse_date(request.date)
    if request.review_by is not None:
        refuse_review_day(request.review_by)

    body = request.body
    if body:
        body = _without_title(body, title)

    return replace(request, title=title, style=style, date=request.date or _today(), body=body)


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _without_title(body: str, title: str) -> str:
    """Return a text without a first heading that is the decision's title,
    which the document has already.
    """
    text = body.lstrip("\ufeff")
    first = next(iter(parse_markdown(text).headings), None)
    if first is None or text[: first.section.start].strip():
        return body

    below = text[first.body.start :]
    if not below.strip() or not is_same_title(title, first.text):
        return body

    return below


def _proposed_if_unfilled(
    workspace: Workspace,
    kind: Kind,
    request: NewAdr,
    author: Author,
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
            f"a decision can't be {status} without a cost, and no line of the text is read as one",
            hint="write `- Cost: …` under Consequences, `Bad, because …`, or what gets slower or "
            "harder; or use `--status proposed`",
        )

    start, line = prompt
    where = "its text"
    if request.body is not None:
        number = text.count("\n", 0, start) + 1
        where = f"line {number} of the text"

    raise RefusedError(
        f"a decision can't be {status} while {where} is a prompt of the template: `{line}`",
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


def refuse_review_day(text: str) -> None:
    """Raise when a text is not a month or a day, from which on a review is due."""
    if not is_review_day(text):
        raise UsageError(f"{text!r} is not a month or a day", hint=DAY_REMEDY)


def _new_files(
    workspace: Workspace,
    kind: Kind,
    request: NewAdr,
    author: Author,
    record_id: str,
) -> tuple[list[FileChange], Record]:
    status = request.status or kind.initial.get(author.role, kind.initial["agent"])
    tasks = [f"[{task}]" for task in request.tasks]
    legacy_ids = [f"legacy_id: `{name}`" for name in request.legacy_ids]
    fields = {
        "id": record_id,
        "number": record_id.rpartition("-")[2],
        "title": request.title,
        "status": status.capitalize(),
        "date": str(request.date),
        "tasks": " · ".join(tasks),
        "legacy": " · ".join(legacy_ids),
        "deciders": ", ".join(request.deciders),
        "tags": ", ".join(request.labels),
    }

    body = request.body or ""
    refuse_secrets(f"the text of {request.title!r}", body)
    refuse_hidden({"title": request.title, "body": body.removeprefix("\ufeff")})
    if request.style == "log":
        new = _log_with_entry(workspace, kind, request, fields)
    else:
        new = _new_document(workspace, kind, request, fields, status)

    path = new.path
    source = {"path": path}
    if new.heading:
        source["heading"] = new.heading

    source |= {"format": str(request.style), "authority": "record"}
    names = list(dict.fromkeys((*request.legacy_ids, *new.names)))
    values = {**_fields(request), "legacy_ids": names, "source": source}
    values["rejected"] = rejected_data(body)

    data = new_data(kind, record_id, new_uid(), author, values)
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


@dataclass(frozen=True, slots=True)
class NewText:
    """The document of a new decision, as it was and as it will be,
    and how the record finds the decision in it.
    """

    path: str
    before: str | None
    after: str
    heading: str | None = None
    """What the record's `source.heading` says; None where the document is the decision's own."""
    names: tuple[str, ...] = ()  # names of the decision in its log, such as `D10`


def _log_with_entry(
    workspace: Workspace, kind: Kind, request: NewAdr, fields: Mapping[str, str]
) -> NewText:
    body = request.body
    if request.supersedes:
        sentence = ", ".join(record.id for record in _replaced(workspace, request))
        body = f"Supersedes {sentence}\n\n{body or ''}"

    path = workspace.config.adr.log or f"{workspace.config.design}/{request.feature}/{LOG_NAME}"
    _refuse_missing_log(workspace, path)
    return new_entry(workspace, kind, path, fields, body)


def _new_document(
    workspace: Workspace, kind: Kind, request: NewAdr, fields: Mapping[str, str], status: str
) -> NewText:
    neighbours = neighbours_in(workspace, workspace.config.adr.folder)
    path = new_path(neighbours, fields["id"], request.title, str(request.date))
    if (workspace.root / path).exists():
        raise RefusedError(f"{path} is there already", hint="give another title")

    inside(workspace.root, path)
    document = new_text(kind, neighbours, path, fields, status)
    document = _with_body(path, document, request.body)
    return NewText(path, None, _with_sentence(path, document, _replaced(workspace, request)))


def _refuse_other_title(title: str, entry: AdrDocument | None) -> None:
    """Raise where a document would not read as the title that was given."""
    if entry is not None and not is_same_title(title, entry.title):
        message = (
            f"`{title}` can't be a title: a document shows it as `{entry.title}`; nothing "
            f"was written"
        )
        raise InvalidRecordError(message, hint="leave comments and tags out of the title")


def _replaced(workspace: Workspace, request: NewAdr) -> list[Record]:
    """Return the decisions that a new one replaces; refuse what it can't."""
    if not request.supersedes:
        return []

    records = read_collection(workspace).records
    replaced = [records.get(any_id) for any_id in request.supersedes]
    for record in replaced:
        refuse_inherited(workspace, record.path)
        if not record.kind.in_document or record.phase != "live":
            raise RefusedError(
                f"{record.id} is {record.kind.with_article}, {record.status.name}; "
                "a new decision replaces an accepted one",
                hint="`orbit adr list` shows them; leave --supersedes out",
            )

    return replaced


def _with_sentence(path: str, document: str, replaced: Sequence[Record]) -> str:
    """Return a document that says, above its prose, which decisions it replaces."""
    if not replaced:
        return document

    links = []
    for record in replaced:
        name = record.id
        if record.source is not None:
            link = posixpath.relpath(record.source.path, posixpath.dirname(path))
            name = f"[{record.id}]({link})"
        links.append(name)

    lines = document.split("\n")
    at = _start_of_prose(_sections_of(document, path), lines)
    above = "\n".join(lines[:at]).rstrip()
    sentence = f"Supersedes {', '.join(links)}"
    return "\n".join([above, "", sentence, "", *lines[at:]])


def _fields(request: NewAdr) -> dict[str, object]:
    """Return the fields of the record; those of its document are left out."""
    fields = asdict(request)
    for name in ("style", "body", "supersedes"):
        del fields[name]

    scope = {axis: list(fields.pop(axis)) for axis in _AXES}
    fields["scope"] = {axis: words for axis, words in scope.items() if words}
    return fields


def amend_adr(
    workspace: Workspace,
    any_id: str,
    text: str,
    task: str,
    date: str | None = None,
    review_by: str | None = None,
) -> Record:
    """Add a dated amendment, with its task, to a decision's entry; the entry's own words stay.

    Who amends a decision has looked at it: that answers a review that is due. The date that is
    stated stays, unless `review_by` gives the next one.
    """
    if not text.strip() or not task.strip():
        raise RefusedError(
            "an amendment needs a text and a task",
            hint='`orbit adr amend ID --task T --text "…"`',
        )

    if date:
        refuse_date(date)
    if review_by:
        refuse_review_day(review_by)

    with writing(workspace):
        records = read_collection(workspace).records
        records.refuse_other_kind(any_id, workspace.kinds["adr"])
        record = records.get(any_id)
        refuse_closed(record, f"`orbit {record.kind.name} new` decides again")
        refuse_inherited(workspace, record.path)
        home = home_of(workspace, record)

        if home is None:
            raise RefusedError(
                f"{record.id} has no entry in a document",
                hint="`orbit check` says what is missing",
            )

        document, entry = home
        after = writer.add_amendment(document.text, entry, date or _today(), task, text)
        writer.refuse_restated(document.text, after, document.path)

        amended = FileChange(document.path, document.text, after)

        # Who changes a decision has looked at it, which matters where a look is asked for.
        terms = record.review_terms
        review: dict[str, object] = {}
        if review_by or terms.by or terms.when or may_state_review(document.text):
            review["reviewed_at"] = format_time(datetime.now(UTC))
        if review_by is not None:
            review["review_by"] = review_by

        tasks = dict.fromkeys((*record.words("tasks"), task))
        change, result = prepare_edit(
            workspace, record, lambda data: {**data, "tasks": [*tasks], **review}
        )
        write_step(workspace, "adr-amend", [amended, change])

        return result


def document_with(
    workspace: Workspace, old: Record, new: Record, facts: Mapping[str, str]
) -> list[FileChange]:
    """Return the change of a decision's document that states other facts: title or date."""
    home = home_of(workspace, old)
    if home is None:
        return []

    document = home[0]
    text = with_facts(document, old, facts) or document.text
    if "title" in facts:
        _refuse_other_title(new.title, entry_in(document.path, text, new))

    return [FileChange(document.path, document.text, text)]


_FACT_SECTIONS = frozenset(("status", "date", "changelog"))
"""Sections of a document that state facts instead of reasons."""
_SECTION = re.compile(r"(?<=\n)#+ (?P<name>[^\n]+)\n\n(?P<item>-)?")
_WHOLE_DATE = len("2026-04-01")


def new_entry(
    workspace: Workspace,
    kind: Kind,
    path: str,
    fields: Mapping[str, str],
    body: str | None,
) -> NewText:
    """Return a log with a new entry: next to and like the newest one in the project's log,
    else ascending by id.
    """
    file = inside(workspace.root, path)
    before = read_text(file, limit=DOCUMENT_LIMIT) if file.exists() else None
    log = before or _empty_log(path)
    entry = entry_text(kind, path, log, fields, body)

    record_id, title, date = fields["id"], fields["title"], fields["date"]
    heading = None
    if path == workspace.config.adr.log:
        heading = writer.next_entry_heading(log, path, record_id, title, date)

    if heading is None:
        return NewText(path, before, writer.insert_entry(log, entry, record_id), record_id)

    found_by = title
    if heading.number is not None:
        found_by = f"ADR-{heading.number}"
    else:
        _refuse_unclear_entry(log, path, title, date)

    after = writer.add_entry(log, path, heading.line + entry[entry.index("\n") :])
    names = (heading.code,) if heading.code else ()
    return NewText(path, before, after, found_by, names)


def _empty_log(path: str) -> str:
    if path.endswith(f"/{LOG_NAME}"):
        return f"# {path.split('/')[-2]}: decisions\n"
    return "# Decisions\n"


def _refuse_unclear_entry(log: str, path: str, title: str, date: str) -> None:
    """Raise where a log without numbers could not tell a new entry from the others."""
    if len(date) < _WHOLE_DATE:
        raise UsageError(f"{path} names its entries by the day", hint=f"--date {date}-01")

    if any(other.title == title for other in read_document(log, path).entries):
        message = (
            f"{path} has an entry `{title}` already, and its entries are told apart by their titles"
        )
        raise RefusedError(message, hint="give another title")


def entry_text(kind: Kind, path: str, log: str, fields: Mapping[str, str], body: str | None) -> str:
    """Return a new entry, its headings on the levels that the log's entries have."""
    template = new_document(kind.template("entry.md"), fields)
    deeper = max(0, _level_of_entries(log, path) - _level_of_entries(template, path))
    entry = writer.shift_headings(template, deeper)
    return _with_body(path, _labelled(entry, log, path), body)


def _labelled(entry: str, log: str, path: str) -> str:
    """Return a new entry with labels in place of its headings,
    where the log's last entry has `**Context.**`.
    """
    entries = read_document(log, path).entries
    if not entries:
        return entry

    sections = entries[-1].sections
    labels = [section for section in sections if section.run_in]
    reasons = [section for section in sections if section.key not in _FACT_SECTIONS]
    if not labels or not all(section.run_in for section in reasons):
        return entry

    first = labels[0]
    line = log[: first.body.start].rpartition("\n")[2].strip()
    before, _, after = line.partition(first.heading)

    def labelled(match: re.Match[str]) -> str:
        end = "\n\n-" if match["item"] else " "
        return f"{before}{match['name']}{after}{end}"

    return _SECTION.sub(labelled, entry)


def _level_of_entries(text: str, path: str) -> int:
    starts = {entry.span.start for entry in read_document(text, path).entries}
    for heading in parse_markdown(text).headings:
        if heading.section.start in starts:
            return heading.level

    return 1


def _with_body(path: str, document: str, body: str | None) -> str:
    if body is None:
        return document

    lines = document.split("\n")
    sections = _sections_of(document, path)
    at = _start_of_prose(sections, lines)
    head = lines[:at]

    # Facts below the prose of the template stay.
    ends = [*(section.position.line - 1 for section in sections[1:]), len(lines)]
    for section, end in zip(sections, ends, strict=True):
        start = section.position.line - 1
        if section.key in _FACT_SECTIONS and start > at:
            head += lines[start:end]

    newline = "\r\n" if "\r\n" in document else "\n"
    text = writer.nest_headings(body, _level_of_entries(document, path))
    result = newline.join(("\n".join(head).rstrip(), "", *text.split("\n"), ""))
    writer.refuse_restated(document, result, path)

    return result


def _sections_of(document: str, path: str) -> Sequence[Section]:
    entries = read_document(document, path).entries
    if entries:
        return entries[0].sections

    return ()


def _start_of_prose(sections: Iterable[Section], lines: Sequence[str]) -> int:
    """Return the number of the line at which the reasons of a decision begin."""
    prose = (section for section in sections if section.key not in _FACT_SECTIONS)
    first = next(prose, None)
    if first is None:
        return len(lines)

    return first.position.line - 1
