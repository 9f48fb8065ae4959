"""`add` and `update`, and what an agent does instead of a person: it proposes.

The first call shows the nearest records and writes nothing; a confirmed one writes a record that
waits for a person.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from orbit_registry.checks.duplicates import Neighbour, refusing_copies
from orbit_registry.doors.answers.agent_fields import EXAMPLE, WITHHELD, own_fields, required_fields
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import FieldValues
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.copies import refuse_copies, refuse_same_title
from orbit_registry.doors.answers.notes import unmatched_of, visibility_of
from orbit_registry.doors.answers.records import clean
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.hits import (
    near_text,
    neighbours_data,
)
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.lifecycle.touches import Touch
from orbit_registry.matching.visibility import Visibility
from orbit_registry.model.ids import OVERRIDES, RELATED
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations import adr as adrs
from orbit_registry.operations import edits
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence
from orbit_registry.repository.guard import refuse_secrets
from orbit_registry.repository.writer import Edit
from orbit_registry.search.query import Query

AMENDS = "amends"
"""The link from a proposal to the record it would replace; a person supersedes that."""
Fields = dict[str, object]
MOST_NEAR = 5
MOST_RELATED = 3
MOST_NEXT = 6
OF_A_SUCCESSOR = ("title", "scope", "feature", "labels")
"""What a decision in place of another has of it."""
_AXES = ("paths", "tags")
"""Parts of a scope that an agent may also give next to it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed: fields of a kind's record, and the record that it would replace."""

    kind: Kind
    fields: Fields
    instead_of: Record | None = None
    task: str = ""


@operation("add", is_command=False, tool="add", writes=True)
def add(
    call: Call,
    fields: FieldValues,
    kind: str = "",
    any_id: str = "",
    task: str = "",
    confirm: bool = False,
    distinct_from: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Answer:
    """Propose a record, or a change of one: the first call shows similar ones,
    a confirmed one writes it.

    Args:
        fields: Its fields.
        kind: Kind of the record.
        any_id [ID]: Instead of a kind: the record to change.
        task: The task of the vote, if the record exists already.
        confirm: Write it.
        distinct_from: Records that look alike but differ.
        paths: Globs of the files that it applies to, as in `fields`.
        tags: Its topics, as in `fields`.
    """
    if any_id:
        return update(call, any_id, fields, confirm, distinct_from, paths, tags)

    if not kind:
        raise UsageError(
            "`kind` is missing",
            hint=(
                "name the `kind` of a new record, or the `id` of one to change; for example "
                f'{{"kind": "learning", "fields": {EXAMPLE}}}'
            ),
        )

    of_kind = call.workspace.kinds[kind]
    refuse_missing_evidence(call.workspace, fields.get("evidence"))
    values = allowed_fields(of_kind, {**_axes(paths, tags), **fields}, new=True)
    proposal = Proposal(of_kind, values, task=task)
    return _proposed(call, proposal, confirm, distinct_from)


@operation("update", is_command=False, tool="update", writes=True)
def update(
    call: Call,
    any_id: str,
    fields: FieldValues,
    confirm: bool = False,
    distinct_from: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Answer:
    """Change a pending record; for a live one, propose a replacement.

    Args:
        any_id ID: The record.
        fields: The fields that change.
        confirm: Write it.
        distinct_from: Records that look alike but differ.
        paths: Globs of the files that it applies to, as in `fields`.
        tags: Its topics, as in `fields`.
    """
    record = call.registry.get(call.of_kind(any_id))
    if record.phase == "closed":
        raise RefusedError(
            f"{record.id} is {record.status.name} and is kept as it was", hint="`add` a new record"
        )

    is_decided = record.kind.in_document and record.phase == "live"
    changes = {**_axes(paths, tags), **fields}
    changes = allowed_fields(record.kind, changes, new=is_decided)
    refuse_missing_evidence(call.workspace, changes.get("evidence"))
    _refuse_inherited(record)

    if record.phase == "pending":
        title = changes.pop("title", None) if record.kind.in_document else None
        heading = None if title is None else str(title)
        changed = _change(call, record, lambda data: merged(data, changes), heading)
        return _written(call, changed)

    if is_decided and not changes.get("body"):
        hint = (
            "give `body`, the whole new text, with what you change; title, scope, feature "
            "and labels stay"
        )
        message = f"{record.id} is {record.status.name}: its text is proposed anew"
        raise RefusedError(message, hint=hint)

    names = own_fields(record.kind).keys() - {"legacy_ids"}
    if is_decided:
        names = {*OF_A_SUCCESSOR, *changes}

    successor: Fields = {}
    for name, value in merged(record.data, changes).items():
        if name in names or name.startswith("x-"):
            successor[name] = value

    proposal = Proposal(record.kind, successor, record)
    return _proposed(call, proposal, confirm, distinct_from)


def propose_successor(
    call: Call,
    old_id: str,
    by: str,
    fields: Mapping[str, object],
    confirm: bool,
    distinct_from: Sequence[str] = (),
) -> Answer:
    """Propose a replacement of a live record; a person closes it."""
    old = call.registry.get(call.of_kind(old_id))
    if old.phase != "live":
        raise RefusedError(
            f"{old.id} is {old.status.name}: it holds nothing to replace", hint="`add` a new record"
        )

    _refuse_inherited(old)
    if not by:
        proposal = Proposal(old.kind, allowed_fields(old.kind, fields, new=True), old)
        return _proposed(call, proposal, confirm, distinct_from)

    new = call.registry.get(by)
    if new.kind.name != old.kind.name:
        raise RefusedError(
            f"{new.id} is of another kind than {old.id}", hint=f"`add` a {old.kind.label.lower()}"
        )

    if new.phase != "pending":
        hint = "name one that waits, or give `fields` of a new one"
        if new.phase == "live":
            hint = f"a person runs `{_supersede(old, new)}`"
        message = f"{new.id} is {new.status.name}; an agent proposes with records that wait"
        raise RefusedError(message, hint=hint)

    return _written(call, _change(call, new, _replacement_edit(old)), old)


def propose_link(call: Call, any_id: str, rel: str, other_id: str) -> Answer:
    """Link a pending record to another."""
    record = call.registry.get(any_id)
    other = call.registry.get(other_id)
    if record.phase != "pending":
        hint = (
            f"link from a record that waits, or propose another one: `add` with the id {record.id}"
        )
        message = f"{record.id} is {record.status.name}; an agent changes only what waits"
        raise RefusedError(message, hint=hint)

    if record.uid == other.uid:
        raise RefusedError(
            f"{record.id} can't be linked to itself", hint="name another record in `to`"
        )

    if rel == OVERRIDES:
        _refuse_inherited(other)

    return _written(call, _change(call, record, _link_edit(rel, other.id)))


def allowed_fields(kind: Kind, values: Mapping[str, object], *, new: bool) -> Fields:
    """Return the fields of a call, if an agent may give them."""
    allowed = own_fields(kind, new=new)
    fields = _with_scope(values)
    hint = f"for example {_example(kind)}; fields: {', '.join(allowed)}"
    for name in fields:
        if name in WITHHELD:
            message = f"`{name}` can't be given: the registry or a person says it"
            raise UsageError(message, hint=hint)

        if name not in allowed and not name.startswith("x-"):
            article = "a new" if kind.in_document else "a"
            message = f"`{name}` can't be given to {article} {kind.label.lower()} here"
            raise UsageError(message, hint=hint)

    if not fields:
        raise UsageError(f"no field of the {kind.label.lower()} is given", hint=hint)

    refuse_secrets("", fields)
    return fields


def _axes(paths: Sequence[str], tags: Sequence[str]) -> Fields:
    """Return the parts of a scope that a call has next to its fields."""
    axes = {"paths": list(paths), "tags": list(tags)}
    return {axis: words for axis, words in axes.items() if words}


def _with_scope(values: Mapping[str, object]) -> Fields:
    """Return fields with `paths` and `tags` in their scope."""
    axes = {axis: values[axis] for axis in _AXES if axis in values}
    fields = {name: value for name, value in values.items() if name not in axes}
    scope = values.get("scope")
    if axes:
        fields["scope"] = {**axes, **scope} if isinstance(scope, Mapping) else axes

    return fields


def _example(kind: Kind) -> str:
    """Return the fields of a record of a kind, as an agent gives them."""
    words: dict[str, object] = dict.fromkeys(required_fields(kind), "…")
    if kind.in_document:
        words["body"] = "## Context …"

    return json.dumps({**words, "paths": ["src/**"]}, ensure_ascii=False)


def merged(data: Mapping[str, object], changes: Mapping[str, object]) -> Fields:
    """Return a record's data with some fields replaced; null removes one, scope axes merge."""
    result: Fields = dict(data)
    for name, value in changes.items():
        current = result.get(name)
        if name == "scope" and isinstance(value, Mapping) and isinstance(current, Mapping):
            axes = {**current, **value}
            value = {axis: words for axis, words in axes.items() if words not in (None, [])}

        if value in (None, [], {}):
            result.pop(name, None)
        else:
            result[name] = value

    return result


def _change(call: Call, record: Record, edit: Edit, title: str | None = None) -> Record:
    """Change a pending record."""
    return edits.change_fields(call.workspace, record.id, edit, title, author=call.author())


def _link_edit(rel: str, to: str) -> Edit:
    return lambda data: {**data, "links": _append_once(data.get("links"), {"rel": rel, "to": to})}


def _replacement_edit(old: Record) -> Edit:
    with_link = _link_edit(AMENDS, old.id)
    return lambda data: {
        **with_link(data),
        "distinct_from": _append_once(data.get("distinct_from"), old.id),
    }


def _append_once(current: object, entry: object) -> list[object]:
    entries = list(current) if isinstance(current, (list, tuple)) else []
    if entry in entries:
        return entries

    return [*entries, entry]


def _supersede(old: Record, new: Record) -> str:
    return f"orbit {old.kind.name} supersede {old.id} --with {new.id}"


def _refuse_inherited(record: Record) -> None:
    if record.origin:
        hint = (
            f"`add` a decision; a person runs `orbit link ID overrides {record.id} --reason TEXT`"
        )
        raise RefusedError(
            f"{record.id} is inherited; it is changed where it comes from", hint=hint
        )


def _proposed(
    call: Call, proposal: Proposal, confirm: bool, distinct_from: Sequence[str] = ()
) -> Answer:
    """Write a proposal, or show what is near it first."""
    kind, old, registry = proposal.kind, proposal.instead_of, call.registry
    fields = dict(proposal.fields)
    if distinct_from:
        fields.setdefault("distinct_from", list(distinct_from))

    request = adrs.new_adr(fields)
    if kind.in_document:
        planned = adrs.add_adr(call.workspace, request, call.author(), dry_run=True).record
        draft = replace(planned, prose=request.body or "")
    else:
        fields = fields if old is None else dict(_replacement_edit(old)(fields))
        draft = registry.draft(kind.name, fields, call.author())[1]

    near = registry.neighbours(draft)
    if old is not None:
        near = [each for each in near if each.record.id != old.id]
    if not (confirm or distinct_from):
        return _preview(call, proposal, draft, near)

    if kind.in_document:
        apart = [*request.distinct_from]
        if old is not None:
            apart.append(old.id)

        unless_same = partial(refuse_same_title, call, apart=apart)
        record = adrs.add_adr(call.workspace, request, call.author(), unless_same).record
        if old is not None:
            record = _change(call, record, _replacement_edit(old))
        return _written(call, record, old, near)

    refuse_copies(call, near)
    peers = registry.collection.records.of_kind(kind.name)
    admit = refusing_copies(call.workspace, kind, peers, partial(refuse_copies, call))
    return _written(call, registry.add(kind.name, fields, call.author(), admit), old, near)


def _preview(call: Call, proposal: Proposal, draft: Record, near: Sequence[Neighbour]) -> Answer:
    kind, old = draft.kind, proposal.instead_of
    alike = [replace(each, record=clean(each.record)) for each in near[:MOST_NEAR]]
    listed_ids = {each.record.id for each in alike}
    if old is not None:
        listed_ids.add(old.id)

    related = [record for record in _related(call, draft) if record.id not in listed_ids]
    related = related[: MOST_NEAR - len(alike)]
    lines = ["Nothing is written yet."]
    if old is not None:
        lines.append(
            f"{old.id} is {old.status.name}: this would be proposed in its place, for a person "
            f"to decide."
        )

    if kind.in_document and not draft.prose:
        lines.append("It has no `body`: its document would hold only the prompts of the template.")

    lines += [f"near: {near_text(each)}" for each in alike]
    lines += [f"related: {record.id}: {record.title}" for record in related]
    live = [each.record for each in alike if each.record.phase == "live"]
    task = proposal.task or "TASK"
    voted = [record.id for record in (*live, *related) if kind.voted]
    if voted:
        call_of_vote = _tool_call("vote", id=voted[0], task=task)
        lines.append(f"If one says it already, strengthen it: {call_of_vote}")

    same = [each.record.id for each in alike if each.is_duplicate]
    again = '"confirm": true'
    if same and not kind.in_document:
        again = f'"distinct_from": ["{same[0]}"]'
    lines.append(f"To write it all the same, call again with the same arguments and {again}.")

    nearest = neighbours_data(alike)
    for record in related:
        nearest.append({"id": record.id, "score": None, "title": record.title, "difference": None})

    touched = _touched(call, draft)
    lines += [f"same question: {_touch_text(touch)}" for touch in touched]
    data: Fields = {
        "written": False,
        "nearest": nearest,
        "touches": [touch.as_data(draft, is_written=False) for touch in touched],
        "draft": record_data(draft),
    }
    judged, _ = visibility_of(call.registry, [draft])
    if draft.path in judged:
        lines += _visible_lines(judged[draft.path], "give `paths` in `fields`")
        data["visibility"] = judged[draft.path].as_data()

    ids = [str(row["id"]) for row in nearest]
    votes = [f"orbit vote {record_id} --task {shlex.quote(task)}" for record_id in voted]
    following = [*votes, *(f"orbit show {record_id}" for record_id in ids)]
    return Answer(data, lines, following[:MOST_NEXT], record_ids=ids)


def _related(call: Call, draft: Record) -> list[Record]:
    try:
        query = Query(draft.title, kind=draft.kind.name, limit=MOST_RELATED)
        result = call.registry.search(query)
    except UsageError:  # the headline has only words that nearly every text has
        return []
    return [clean(hit.record) for hit in result.hits]


def _visible_lines(judgement: Visibility, remedy: str) -> Iterator[str]:
    """Yield when agents are shown a proposal; where no edit shows it, what its author calls."""
    reason = judgement.reason
    if reason is not None and reason.commands:
        called = replace(reason, text=f"{reason.text}: {remedy}", commands=())
        judgement = replace(judgement, reason=called)

    yield from judgement.lines()


def _touched(call: Call, record: Record) -> list[Touch]:
    """Return the decisions on the same question as one that waits, without secrets."""
    if not record.kind.in_document or record.phase == "closed":
        return []

    whole = record if record.prose else call.registry.whole([record])[0]
    return [replace(touch, record=clean(touch.record)) for touch in call.registry.touches(whole)]


def _touch_text(touch: Touch) -> str:
    reasons = "; ".join(touch.reasons)
    return f"{touch.record.id} ({reasons}): {touch.record.title}"


def _touch_calls(new: Record, touch: Touch) -> list[str]:
    """Return the calls that say how a proposal relates to a decision on the same question.

    Clients list `add`, which changes what waits, but neither `update` nor `link`.
    """
    old = touch.record.id
    changes: list[Fields] = []
    for rel in (AMENDS, RELATED):
        links = _append_once(new.data.get("links"), {"rel": rel, "to": old})
        changes.append({"links": links})

    changes.append({"distinct_from": _append_once(new.data.get("distinct_from"), old)})
    return [_tool_call("add", id=new.id, fields=fields) for fields in changes]


def _tool_call(tool: str, **arguments: object) -> str:
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def _written(
    call: Call, record: Record, instead_of: Record | None = None, near: Sequence[Neighbour] = ()
) -> Answer:
    waits = record.status.waits
    suffix = " (waits for review)" if waits else ""
    lines = [f"{record.id}{suffix}  {record.title}", f"  {record.path}"]
    judged, _ = visibility_of(call.registry, [record])
    judgement = judged.get(record.path)
    if judgement is not None:
        change = _tool_call("add", id=record.id, fields={"paths": ["GLOB"]})
        lines += [f"  {each}" for each in _visible_lines(judgement, change)]

    lines += [f"note: {unmatched}" for unmatched in unmatched_of(call.registry, record)]
    copied = (replace(each, record=clean(each.record)) for each in near if each.is_settled)
    lines += [f"note: near {near_text(each)}" for each in copied]
    steps = [f"orbit accept {record.id}"] if record.kind.approving_verb else []
    if instead_of is not None:
        steps.append(_supersede(instead_of, record))
    if waits and steps:
        lines.append(f"A person decides: {', then '.join(steps)}")

    touched = _touched(call, record)
    lines += [f"same question: {_touch_text(touch)}" for touch in touched]
    if touched:
        lines.append(f"Say how it relates to each: {'; '.join(_touch_calls(record, touched[0]))}")

    data = {
        "written": True,
        **record_data(record),
        "visibility": None if judgement is None else judgement.as_data(),
        "touches": [touch.as_data(record) for touch in touched],
    }
    ids = [record.id] if instead_of is None else [record.id, instead_of.id]
    paths = [path for path in record.scope.paths if not set(path) & set("*?[{!")]
    return Answer(data, lines, [f"orbit show {record.id}"], paths=paths, record_ids=ids)
