"""MCP tools that propose, vote and run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orbit_registry.answers.records import clean
from orbit_registry.checks.duplicates import Neighbour, refusing_copies
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.lifecycle.touches import Touch
from orbit_registry.mcp.read_tools import shown_to_agents
from orbit_registry.mcp.tool import (
    WITHHELD,
    ToolCall,
    ToolResult,
    own_fields,
    required_fields,
)
from orbit_registry.model.ids import OVERRIDES, RELATED
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations import adr as adrs
from orbit_registry.operations import lifecycle
from orbit_registry.render.hits import duplicate_message, near_text, neighbours_data, override_hint
from orbit_registry.render.records import record_data
from orbit_registry.repository.guard import refuse_secrets
from orbit_registry.repository.writer import Edit
from orbit_registry.resources.run import RunOptions, run
from orbit_registry.search.query import Query
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace

REPLACES = "amends"  # link from a proposal to the record it would replace; a person supersedes that
Fields = dict[str, object]
MOST_NEAR = 5
_MOST_RELATED = 3
_OF_A_SUCCESSOR = (
    "title",
    "scope",
    "feature",
    "labels",
)  # what a decision in place of another has of it


def call_fields(kind: Kind, call: ToolCall, *, new: bool) -> Fields:
    """Return the fields of a call: those under `fields`,
    or an alias's arguments named after fields.
    """
    allowed = own_fields(kind, new=new)
    fields = call.fields("fields") or {
        name: call.arguments[name] for name in allowed if name in call.arguments
    }
    fields = _with_scope(fields)
    hint = f"for example {_example(kind)}; fields: {', '.join(allowed)}"
    for name in fields:
        if name in WITHHELD:
            raise UsageError(
                f"`{name}` can't be given: the registry or a person says it", hint=hint
            )

        if name not in allowed and not name.startswith("x-"):
            receiver = (
                f"a new {kind.label.lower()}" if kind.in_document else f"a {kind.label.lower()}"
            )
            raise UsageError(f"`{name}` can't be given to {receiver} here", hint=hint)

    if not fields:
        raise UsageError(f"no field of the {kind.label.lower()} is given", hint=hint)

    refuse_secrets("", fields)
    return fields


_AXES = ("paths", "tags")
"""Parts of a scope that an agent may also give next to it."""


def _with_scope(fields: Fields) -> Fields:
    """Return fields with `paths` and `tags` in their scope."""
    axes = {axis: fields[axis] for axis in _AXES if axis in fields}
    if not axes:
        return fields

    scope = fields.get("scope")
    stated_axes = scope if isinstance(scope, Mapping) else {}
    others = {name: value for name, value in fields.items() if name not in axes}
    return {**others, "scope": {**axes, **stated_axes}}


def _example(kind: Kind) -> str:
    """Return the fields of a record of a kind, as an agent gives them."""
    words = dict.fromkeys(required_fields(kind), "…")
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


def change(call: ToolCall, record: Record, edit: Edit, title: str | None = None) -> Record:
    """Change a pending record."""
    workspace, author = call.registry.workspace, call.caller.author()
    if record.kind.in_document:
        return adrs.update_adr(workspace, record.id, edit, title, author=author)
    return lifecycle.change_fields(workspace, record.id, edit, author=author)


def _link_edit(rel: str, to: str) -> Edit:
    return lambda data: {**data, "links": _append_once(data.get("links"), {"rel": rel, "to": to})}


def _replacement_edit(old: Record) -> Edit:
    with_link = _link_edit(REPLACES, old.id)
    return lambda data: {
        **with_link(data),
        "distinct_from": _append_once(data.get("distinct_from"), old.id),
    }


def _review_commands(new: Record, old: Record | None = None) -> list[str]:
    kind = new.kind
    steps = [f"orbit accept {new.id}"] if kind.approving_verb else []
    return steps + (
        [f"orbit {kind.name} supersede {old.id} --with {new.id}"] if old is not None else []
    )


def _append_once(current: object, entry: object) -> list[object]:
    entries = list(current) if isinstance(current, (list, tuple)) else []
    return entries if entry in entries else [*entries, entry]


def add(call: ToolCall) -> ToolResult:
    """Propose a record, or a change of one: the first call shows similar ones,
    a confirmed one writes it.
    """
    if call.text("id"):
        return update(call)

    if not call.text("kind"):
        raise UsageError(
            "`kind` is missing",
            hint="name the `kind` of a new record, or the `id` of one to change",
        )

    kind = call.registry.workspace.kinds[call.text("kind")]
    return _propose(call, kind, call_fields(kind, call, new=True))


def update(call: ToolCall) -> ToolResult:
    """Change a pending record; for a live one, propose a replacement."""
    record = _record_named(call, "id")
    is_decided = record.kind.in_document and record.phase == "live"
    changes = call_fields(record.kind, call, new=is_decided)
    _refuse_inherited(record)

    if record.phase == "closed":
        raise RefusedError(
            f"{record.id} is {record.status.name} and is kept as it was", hint="`add` a new record"
        )

    if record.phase == "pending":
        title = changes.pop("title", None) if record.kind.in_document else None
        changed = change(
            call, record, lambda data: merged(data, changes), None if title is None else str(title)
        )
        return _written_result(call, changed)

    if is_decided and not changes.get("body"):
        hint = (
            "give `body`, the whole new text, with what you change; title, scope, feature "
            "and labels stay"
        )
        raise RefusedError(
            f"{record.id} is {record.status.name}: its text is proposed anew", hint=hint
        )

    names = (
        {*_OF_A_SUCCESSOR, *changes}
        if is_decided
        else own_fields(record.kind).keys() - {"legacy_ids"}
    )

    fields = {
        name: value
        for name, value in merged(record.data, changes).items()
        if name in names or name.startswith("x-")
    }
    return _propose(call, record.kind, fields, instead_of=record)


def supersede(call: ToolCall) -> ToolResult:
    """Propose a replacement of a live record; a person closes it."""
    old = _record_named(call, "id")
    if old.phase != "live":
        raise RefusedError(
            f"{old.id} is {old.status.name}: it holds nothing to replace", hint="`add` a new record"
        )

    _refuse_inherited(old)

    if not call.text("by"):
        return _propose(call, old.kind, call_fields(old.kind, call, new=True), instead_of=old)

    new = _record_named(call, "by")
    if new.kind.name != old.kind.name:
        raise RefusedError(
            f"{new.id} is of another kind than {old.id}", hint=f"`add` a {old.kind.label.lower()}"
        )

    if new.phase != "pending":
        by_a_person = f"a person runs `orbit {old.kind.name} supersede {old.id} --with {new.id}`"
        hint = (
            by_a_person
            if new.phase == "live"
            else "name one that waits, or give `fields` of a new one"
        )
        raise RefusedError(
            f"{new.id} is {new.status.name}; an agent proposes with records that wait", hint=hint
        )

    return _written_result(call, change(call, new, _replacement_edit(old)), old)


def _refuse_inherited(record: Record) -> None:
    if record.origin:
        hint = (
            f"`add` a decision; a person runs `orbit link ID overrides {record.id} --reason TEXT`"
        )
        raise RefusedError(
            f"{record.id} is inherited; it is changed where it comes from", hint=hint
        )


def link(call: ToolCall) -> ToolResult:
    """Link a pending record to another."""
    record, to = _record_named(call, "id"), _record_named(call, "to")
    if record.phase != "pending":
        hint = (
            f"link from a record that waits, or propose another one: `add` with the id {record.id}"
        )
        raise RefusedError(
            f"{record.id} is {record.status.name}; an agent changes only what waits", hint=hint
        )

    if record.uid == to.uid:
        raise RefusedError(
            f"{record.id} can't be linked to itself", hint="name another record in `to`"
        )

    if call.text("rel") == OVERRIDES:
        _refuse_inherited(to)

    return _written_result(call, change(call, record, _link_edit(call.text("rel"), to.id)))


def _record_named(call: ToolCall, argument: str) -> Record:
    any_id = call.text(argument)
    if argument == "id":
        _refuse_other_kind(call, any_id)
    return call.registry.get(any_id)


def _refuse_other_kind(call: ToolCall, any_id: str) -> None:
    kind = call.text("kind")
    if kind and (record := call.registry.get(any_id)).kind.name != kind:
        raise UsageError(
            f"{record.id} is of the kind {record.kind.name}",
            hint="call the tool that serves every kind",
        )


def _propose(
    call: ToolCall, kind: Kind, fields: Fields, instead_of: Record | None = None
) -> ToolResult:
    registry, workspace, author = call.registry, call.registry.workspace, call.caller.author()
    request = adrs.new_adr(fields)
    if kind.in_document:
        planned = adrs.add_adr(workspace, request, author, dry_run=True).record
        draft = replace(planned, prose=request.body or "")
    else:
        fields = fields if instead_of is None else dict(_replacement_edit(instead_of)(fields))
        draft = registry.draft(kind.name, fields, author)[1]

    near = [
        near
        for near in registry.neighbours(draft)
        if instead_of is None or near.record.id != instead_of.id
    ]
    if not (call.is_set("confirm") or call.words("distinct_from")):
        return _preview(call, instead_of, draft, near)

    if kind.in_document:
        record = adrs.add_adr(workspace, request, author).record
        record = (
            record if instead_of is None else change(call, record, _replacement_edit(instead_of))
        )
        return _written_result(call, record, instead_of)

    _refuse_duplicate(near)
    admit = refusing_copies(
        workspace, kind, registry.collection.records.of_kind(kind.name), _refuse_duplicate
    )
    return _written_result(call, registry.add(kind.name, fields, author, admit), instead_of)


def _preview(
    call: ToolCall, old: Record | None, draft: Record, near: Sequence[Neighbour]
) -> ToolResult:
    kind = draft.kind
    alike = [replace(neighbour, record=clean(neighbour.record)) for neighbour in near[:MOST_NEAR]]
    listed_ids = {neighbour.record.id for neighbour in alike} | ({old.id} if old else set())
    related = [record for record in _related(call, draft) if record.id not in listed_ids][
        : MOST_NEAR - len(alike)
    ]
    lines = ["Nothing is written yet."]

    if old is not None:
        lines.append(
            f"{old.id} is {old.status.name}: this would be proposed in its place, for a person "
            f"to decide."
        )

    if kind.in_document and not draft.prose:
        lines.append("It has no `body`: its document would hold only the prompts of the template.")

    lines += [f"near: {near_text(neighbour)}" for neighbour in alike]
    lines += [f"related: {record.id}: {record.title}" for record in related]
    live = [neighbour.record for neighbour in alike if neighbour.record.phase == "live"]
    voted = [record.id for record in (*live, *related)]
    task = call.text("task") or "TASK"
    votes = [f'vote {{"id": "{record_id}", "task": "{task}"}}' for record_id in voted if kind.voted]
    lines += [f"If one says it already, strengthen it: {votes[0]}"] if votes else []

    same = [neighbour.record.id for neighbour in alike if neighbour.is_duplicate]
    again = (
        f'"distinct_from": ["{same[0]}"]' if same and not kind.in_document else '"confirm": true'
    )
    lines.append(f"To write it all the same, call again with the same arguments and {again}.")
    nearest = neighbours_data(alike) + [
        {"id": record.id, "score": None, "title": record.title, "difference": None}
        for record in related
    ]
    judged = shown_to_agents(call.registry, draft)
    touched = _touched(call, draft)
    lines += [f"same question: {_touch_text(touch)}" for touch in touched]
    data = {
        "written": False,
        "nearest": nearest,
        "touches": [touch.as_data(draft, is_written=False) for touch in touched],
        "draft": record_data(draft),
    }
    if judged is not None:
        lines += judged.lines()
        data["visibility"] = judged.as_data()

    following = [*votes, *(f'show {{"id": "{entry["id"]}"}}' for entry in nearest)]
    return ToolResult(
        data,
        "\n".join(lines),
        next=following[:6],
        record_ids=[str(entry["id"]) for entry in nearest],
    )


def _related(call: ToolCall, draft: Record) -> list[Record]:
    try:
        result = call.registry.search(Query(draft.title, kind=draft.kind.name, limit=_MOST_RELATED))
    except UsageError:  # the headline has only words that nearly every text has
        return []
    return [clean(hit.record) for hit in result.hits]


def _refuse_duplicate(near: Sequence[Neighbour]) -> None:
    same = next((neighbour for neighbour in near if neighbour.is_duplicate), None)
    if same is not None:
        existing = clean(same.record)
        votes = existing.kind.voted and existing.phase == "live"
        instead = (
            f'`vote` {{"id": "{existing.id}", "task": …}} strengthens it'
            if votes
            else f"`show` {existing.id}"
        )

        neighbour = replace(same, record=existing)
        differs = f'call again with "distinct_from": ["{existing.id}"]'
        hint = f"{instead}; {override_hint(neighbour, differs)}"
        raise RefusedError(duplicate_message(neighbour), hint=hint)


def _touched(call: ToolCall, record: Record) -> list[Touch]:
    """Return the decisions on the same question as one that waits, without secrets."""
    if not record.kind.in_document or record.phase == "closed":
        return []

    whole = record if record.prose else call.registry.whole([record])[0]
    return [replace(touch, record=clean(touch.record)) for touch in call.registry.touches(whole)]


def _touch_text(touch: Touch) -> str:
    reasons = "; ".join(touch.reasons)
    return f"{touch.record.id} ({reasons}): {touch.record.title}"


def _touch_calls(new: Record, touch: Touch) -> list[str]:
    """Return the calls that say how a proposal relates to a decision on the same question."""
    old = touch.record.id
    calls = [] if touch.record.origin else [f'supersede {{"id": "{old}", "by": "{new.id}"}}']
    calls += [
        f'link {{"id": "{new.id}", "rel": "{rel}", "to": "{old}"}}' for rel in (REPLACES, RELATED)
    ]
    fields = f'{{"distinct_from": ["{old}"]}}'
    return [*calls, f'update {{"id": "{new.id}", "fields": {fields}}}']


def _written_result(call: ToolCall, record: Record, instead_of: Record | None = None) -> ToolResult:
    steps = _review_commands(record, instead_of)
    waits = record.status.waits
    lines = [
        f"{record.id}{' (waits for review)' if waits else ''}  {record.title}",
        f"  {record.path}",
    ]
    judged = shown_to_agents(call.registry, record)
    lines += [f"  {line}" for line in (() if judged is None else judged.lines())]
    lines += [f"note: {unmatched}" for unmatched in call.registry.unmatched(record)]
    lines += [f"A person decides: {', then '.join(steps)}"] if waits and steps else []

    touched = _touched(call, record)
    for touch in touched:
        lines.append(f"same question: {_touch_text(touch)}")
    if touched:
        lines.append(f"Say how it relates to each: {'; '.join(_touch_calls(record, touched[0]))}")

    return ToolResult(
        {
            "written": True,
            **record_data(record),
            "visibility": None if judged is None else judged.as_data(),
            "touches": [touch.as_data(record) for touch in touched],
        },
        "\n".join(lines),
        next=[f'show {{"id": "{record.id}"}}'],
        paths=[path for path in record.scope.paths if not set(path) & set("*?[{!")],
        record_ids=[record.id, *([instead_of.id] if instead_of else [])],
    )


_USUAL_SECONDS = 60.0


def may_run(workspace: Workspace) -> bool:
    """Return whether configuration and environment both allow it:
    a cloned repository alone must not.
    """
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True


def run_script(call: ToolCall) -> ToolResult:
    """Run a reviewed script; an agent can't trust another."""
    workspace = call.registry.workspace
    if not may_run(workspace):
        raise RefusedError(
            "scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on"
        )

    record = call.registry.get(call.text("id"))
    time_limit = call.arguments.get("seconds")
    seconds = float(time_limit) if isinstance(time_limit, int | float) else _USUAL_SECONDS
    options = RunOptions(call.words("arguments"), seconds, surface="mcp:run", captured=True)
    ran = run(workspace, record, call.caller.author(), options)
    ended = f"ended after {seconds:g} s" if ran.is_over_time else f"exit code {ran.exit_code}"
    text = "\n".join(
        filter(None, (f"{record.id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip()))
    )

    return ToolResult(ran.as_data(record.id), text, record_ids=[record.id])
