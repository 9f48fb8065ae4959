"""`KIND new` and `KIND update`: what a person writes of a record, whatever its kind."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from orbit_registry.checks.duplicates import Neighbour, refusing_copies
from orbit_registry.doors.answers.answer import Answer, answer_of
from orbit_registry.doors.answers.arguments import (
    CHANGED,
    EAGER,
    EARLIER,
    GENERAL,
    NEW,
    OF_FILES,
    OF_RECORDS,
    REMOVED,
    VOTED,
    FieldValues,
)
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.copies import refuse_copies
from orbit_registry.doors.answers.inputs import EXAMPLE, headline_of, text_from
from orbit_registry.doors.answers.kinds import any_kind, in_record
from orbit_registry.doors.answers.notes import doubts, past_review, unmatched_notes, visibility_of
from orbit_registry.doors.answers.record_fields import changed_edit, refuse_managed, verbs_hint
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.answers.votes import vote
from orbit_registry.doors.render.hits import (
    MOST_NAMED,
    near_lines,
    near_text,
    neighbours_data,
    show_commands,
)
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations import edits
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence
from orbit_registry.operations.freshness.verify import fingerprinted
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.writer import Edit, draft_text, fields_of
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import unified_diff

Fields = dict[str, object]
STOP = "s"
ADD = "a"


@operation("record new", is_command=False, of_kind=in_record, writes=True)
def record_new(
    call: Call,
    kind: Annotated[str, GENERAL] = "",
    headline: str | None = None,
    fields: Annotated[FieldValues | None, NEW] = None,
    body_file: str | None = None,
    fingerprint: tuple[str, ...] = (),
    pending: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    editor: Annotated[bool, EAGER] = False,
    task: Annotated[str | None, VOTED] = None,
) -> Answer:
    """Add a record of a kind whose records hold their own text.

    Args:
        kind: Its kind.
        headline [{HEADLINE}]: Its headline: the summary of a learning, the title of others.
        fields: Its fields.
        body_file FILE: Read `{prose}` from a file; - is stdin.
        fingerprint PATH: What it depends on: a file, a folder, FILE#FIELD.
        pending: Let it wait for review, as an agent's record does.
        dry_run: Print what would be written; write nothing.
        yes -y --yes: Do not ask; refuse a duplicate.
        editor: Open it in $VISUAL or $EDITOR first.
        task: The task of the vote, if the record exists already.

    Of a kind:
        Add {a_kind}.

        orbit {kind} new "Retry uploads with a new token"{required} --dry-run
    """
    of_kind = _kind(call, kind)
    registry = call.registry  # before a person is asked for anything

    values = dict(fields or {})
    if headline is not None or not editor:
        option = values.pop(of_kind.headline, None)
        title = None if option is None else str(option)
        values[of_kind.headline] = headline_of(call, of_kind, headline, title, asks=not yes)

    refuse_managed(of_kind, values)
    _read_body(of_kind, values, body_file)
    refuse_missing_evidence(registry.workspace, values.get("evidence"))
    if values.get(of_kind.headline) == "" and not editor:
        hint = f"orbit {of_kind.name} new {EXAMPLE}"
        raise UsageError(f"the {of_kind.headline} is empty", hint=hint)

    if fingerprint:
        previous = values.get("freshness")
        values["freshness"] = fingerprinted(registry.workspace, previous, fingerprint)

    status = {"status": of_kind.initial["agent"]} if pending else {}
    values |= status
    asks = not (yes or os.environ.get("CI"))
    if not editor:
        return _added(call, of_kind, values, task, dry_run=dry_run, asks=asks)

    draft = draft_text(registry.workspace, of_kind, registry.author(), values)
    with call.edited(registry.workspace, f"new-{of_kind.name}", draft) as (text, path):
        edited = {**fields_of(of_kind, text, path), **status}
        return _added(call, of_kind, edited, task, dry_run=dry_run, asks=asks)


@operation("record update", is_command=False, of_kind=any_kind, writes=True)
def record_update(
    call: Call,
    any_id: str,
    fields: Annotated[FieldValues | None, CHANGED] = None,
    removed: Annotated[FieldValues | None, REMOVED] = None,
    status: Annotated[str | None, EARLIER] = None,
    body_file: Annotated[str | None, OF_RECORDS] = None,
    dry_run: bool = False,
    editor: Annotated[bool, OF_FILES] = False,
) -> Answer:
    """Change fields of a record. Lists gain entries; fields that are not named stay.

    Args:
        any_id ID: A record's id, or an earlier name of it.
        fields: The fields that change, and the entries that lists gain.
        removed: The entries that lists lose.
        status STATUS: No field to update: verbs change it.
        body_file FILE: Read `{prose}` from a file; - is stdin.
        dry_run: Print the change as a diff; change nothing.
        editor: Edit the file in $VISUAL or $EDITOR.

    Of a kind:
        Change fields of {a_kind}.

        Lists gain entries; fields that are not named stay.

        orbit {kind} update {id} --add-tag network --dry-run
    """
    registry = call.registry
    # The change itself reads the records once, and refuses those of another kind.
    kind = call.kind or registry.get(any_id).kind
    if status is not None:
        raise UsageError("a status is not a field to update", hint=verbs_hint(kind))

    values, losses = dict(fields or {}), dict(removed or {})
    refuse_managed(kind, values)
    _read_body(kind, values, body_file)
    has_values = bool(values or losses)
    if editor and (has_values or dry_run):
        hint = "change all fields in the editor"
        raise UsageError("--editor allows no other option", hint=hint)

    if not (editor or has_values):
        hint = f"`orbit {kind.name} update --help` lists the fields"
        raise UsageError("there is nothing to change", hint=hint)

    if editor:
        return _updated(call, _in_editor(call, any_id), is_doubted=True)

    refuse_missing_evidence(registry.workspace, values.get("evidence"))
    heading = values.pop("title", None) if kind.in_document else None
    title = None if heading is None else str(heading)
    edit = changed_edit(values, losses)
    if dry_run:
        return _change_planned(call, kind, any_id, edit, title)

    changed = registry.update(any_id, edit, title=title, kind=kind)
    is_doubted = bool(list_in(mapping_in(values, "scope"), "paths") or values.get("evidence"))
    is_scheduled = bool(values.get("review_by"))
    return _updated(call, changed, title, is_doubted=is_doubted, is_scheduled=is_scheduled)


def _kind(call: Call, name: str) -> Kind:
    if call.kind is not None:
        return call.kind
    if not name:
        raise UsageError("`kind` is missing", hint="name the kind of the new record: learning")

    return call.workspace.kinds[name]


def _read_body(kind: Kind, values: Fields, file: str | None) -> None:
    if file is None:
        return
    if values.get(kind.prose) is not None:
        message = f"--{kind.prose} and --body-file say the same thing"
        raise UsageError(message, hint="give one of them")

    values[kind.prose] = text_from(file)


def _added(
    call: Call, kind: Kind, fields: Fields, task: str | None, *, dry_run: bool, asks: bool
) -> Answer:
    registry = call.registry
    text, draft = registry.draft(kind.name, fields)
    near = registry.neighbours(draft)
    if asks and call.person is not None and not all(each.is_settled for each in near):
        chosen = _choice(call, kind, near)
        if chosen is not None:
            task = task or call.person.answer("In which task did it help")
            return answer_of(vote(call, chosen.record.id, task))

        apart = [each.record.id for each in near if each.is_duplicate]
        if apart:
            fields = {**fields, "distinct_from": [*draft.words("distinct_from"), *apart]}
    else:
        refuse_copies(call, near, task)

    if dry_run:
        return _draft_answer(call, draft, text, near)

    peers = registry.collection.records.of_kind(kind.name)
    refuse = partial(refuse_copies, call, task=task)
    admit = refusing_copies(registry.workspace, kind, peers, refuse)
    return _added_answer(call, registry.add(kind.name, fields, admit=admit), near)


def _draft_answer(call: Call, draft: Record, text: str, near: Sequence[Neighbour]) -> Answer:
    lines, data, unknown = _visible(call, draft)
    message = f"would write {draft.path} (its id is chosen when it is written)"
    message = "\n  ".join([message, *lines])
    message = f"{message}\n\n{text}".rstrip("\n")

    whole = {**record_data(draft), "neighbours": neighbours_data(near), "dry_run": True, **data}
    notes = [*unknown, *near_lines(near), *unmatched_notes(call.registry, draft)]
    return Answer(whole, message, notes=notes)


def _added_answer(call: Call, record: Record, near: Sequence[Neighbour]) -> Answer:
    waits = " (waits for review)" if record.phase == "pending" else ""
    accept = []
    if waits and call.author().role != "agent":
        accept = [f"orbit accept {record.id}"]

    lines, data, unknown = _visible(call, record)
    steps = [f"to accept it: {each}" for each in accept]
    head = f"{record.id}{waits}  {record.title}"
    text = "\n  ".join([head, record.path, *steps, *lines])

    whole = {**record_data(record), "neighbours": neighbours_data(near), **data}
    following = [f"orbit show {record.id}", *accept, *show_commands(near), "orbit check"]
    notes = [*unknown, *near_lines(near), *doubts(call.registry, record)]
    return Answer(whole, text, following, notes)


def _visible(call: Call, record: Record) -> tuple[list[str], Mapping[str, object], list[str]]:
    """Return where agents are shown a record, as lines and as data, and why that can't be said."""
    judged, unknown = visibility_of(call.registry, [record])
    judgement = judged.get(record.path)
    lines: list[str] = []
    if judgement is not None and not judgement.is_obvious:
        lines = [*judgement.lines()]

    return lines, {"visibility": None if judgement is None else judgement.as_data()}, unknown


def _choice(call: Call, kind: Kind, near: Sequence[Neighbour]) -> Neighbour | None:
    """Return the record that a person votes for instead; None to add the new one."""
    person = call.person
    if person is None:
        return None

    listed = list(near[:MOST_NAMED])
    person.show("this may be known already:")
    for number, neighbour in enumerate(listed, start=1):
        person.show(f"  {number}  {near_text(neighbour)}")

    numbers = [str(number) for number in range(1, len(listed) + 1)] if kind.voted else []
    question = "add it (a), or stop (s)"
    if numbers:
        question = "vote for one (its number), add this one too (a), or stop (s)"

    usual = STOP if any(neighbour.is_duplicate for neighbour in near) else ADD
    answer = person.choice(question, [*numbers, ADD, STOP], usual)
    if answer == STOP:
        person.stop()

    if answer == ADD:
        return None

    return listed[int(answer) - 1]


def _change_planned(call: Call, kind: Kind, any_id: str, edit: Edit, title: str | None) -> Answer:
    planned, changes = edits.plan_change(call.workspace, any_id, edit, title, kind=kind)
    diff = unified_diff(changes)
    data = {**record_data(planned), "diff": diff, "dry_run": True}
    return Answer(data, diff.rstrip("\n") or "no change")


def _updated(
    call: Call,
    record: Record,
    title: str | None = None,
    *,
    is_doubted: bool = False,
    is_scheduled: bool = False,
) -> Answer:
    files = [record.source.path] if title is not None and record.source else []
    lines, data, unknown = _visible(call, record)
    text = "\n  ".join([f"{record.id}  {record.title}", *files, record.path, *lines])

    notes = [*unknown]
    if is_doubted:
        notes += doubts(call.registry, record)
    elif is_scheduled:
        notes += past_review(record)

    return Answer({**record_data(record), **data}, text, ["orbit check"], notes)


def _in_editor(call: Call, any_id: str) -> Record:
    record = call.registry.get(call.of_kind(any_id))
    before = read_text(call.workspace.root / record.path)
    digest = hashlib.sha256(before.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    with call.edited(call.workspace, f"{record.id}-{digest}", before) as (after, _):
        return edits.replace_text(call.registry.refresh(), record.id, before, after)
