"""MCP tools that propose, vote and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orbit_registry.checks.duplicates import Neighbour, copies_of
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.mcp.read_tools import clean
from orbit_registry.mcp.tools import WITHHELD, Answer, Asked, own_fields
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations import adr as adrs
from orbit_registry.operations import lifecycle, voting
from orbit_registry.render.hits import known_already, near_text, neighbours_data, settles
from orbit_registry.render.records import record_data, vote_data
from orbit_registry.repository.guard import refuse_secrets
from orbit_registry.repository.writer import Edit, records_added
from orbit_registry.resources.run import Order, run
from orbit_registry.search.query import Query
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace

REPLACES = "amends"
"""The link of a proposal to the record in whose place it would stand; a person writes the supersession."""
Fields = dict[str, object]
MOST_NEAR = 5
_SEARCHED = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would be written: a kind, its fields, and the record in force in whose place it would stand."""

    kind: Kind
    fields: Fields
    instead_of: Record | None = None

    def whole(self) -> Fields:
        """Return the fields with what says of which record this is another version."""
        if self.instead_of is None:
            return dict(self.fields)
        old = self.instead_of.id
        return {**self.fields, "links": _with(self.fields.get("links"), {"rel": REPLACES, "to": old}),
                "distinct_from": _with(self.fields.get("distinct_from"), old)}  # fmt: skip


def given_fields(kind: Kind, asked: Asked, *, new: bool) -> Fields:
    """Return the fields of a call: those under `fields`, or the arguments of an alias that have the kind's names.

    Raises:
        UsageError: one of them is not for an agent to give, or there is none.
        RefusedError: one holds what looks like a secret.
    """
    known = own_fields(kind, new=new)
    found = asked.fields("fields") or {name: asked.arguments[name] for name in known if name in asked.arguments}
    for name in found:
        if name in WITHHELD:
            raise UsageError(f"`{name}` can't be given: the registry or a person says it", hint=_which(known))
        if name not in known and not name.startswith("x-"):
            raise UsageError(f"`{name}` can't be given to {_one(kind)} here", hint=_which(known))
    if not found:
        raise UsageError(f"no field of the {kind.label.lower()} is given", hint=_which(known))
    refuse_secrets("", found)
    return found


def _which(known: Mapping[str, object]) -> str:
    return f"fields: {', '.join(known)}"


def _one(kind: Kind) -> str:
    return f"a new {kind.label.lower()}" if kind.in_document else f"a {kind.label.lower()}"


def merged(data: Mapping[str, object], given: Mapping[str, object]) -> Fields:
    """Return a record's data with some fields replaced; null takes one away, a scope is changed axis by axis."""
    result: Fields = dict(data)
    for name, value in given.items():
        held = result.get(name)
        if name == "scope" and isinstance(value, Mapping) and isinstance(held, Mapping):
            axes = {**held, **value}
            value = {axis: words for axis, words in axes.items() if words not in (None, [])}
        if value in (None, [], {}):
            result.pop(name, None)
        else:
            result[name] = value
    return result


def change(asked: Asked, record: Record, edit: Edit, title: str | None = None) -> Record:
    """Change a record that waits for review.

    Raises:
        RefusedError: it holds, or is closed.
    """
    workspace, author = asked.registry.workspace, asked.caller.author()
    if record.kind.in_document:
        return adrs.update_adr(workspace, record.id, edit, title, author=author)
    return lifecycle.change_fields(workspace, record.id, edit, author=author)


def linked(rel: str, to: str) -> Edit:
    """Return the edit that gives a record a link; the same link again changes nothing."""
    return lambda data: {**data, "links": _with(data.get("links"), {"rel": rel, "to": to})}


def in_place_of(old: Record) -> Edit:
    """Return the edit that says that a pending record would stand in the place of another."""
    with_link = linked(REPLACES, old.id)
    return lambda data: {**with_link(data), "distinct_from": _with(data.get("distinct_from"), old.id)}


def steps_of_a_person(new: Record, old: Record | None = None) -> list[str]:
    """Return the commands by which a person lets a proposal hold, and close what it replaces."""
    kind = new.kind
    verb = next((verb for verb, to in kind.verbs.items() if kind.status(to).phase == "live"), None)
    steps = [f"orbit {kind.name} {verb} {new.id}"] if verb else []
    return steps + ([f"orbit {kind.name} supersede {old.id} --with {new.id}"] if old is not None else [])


def _with(held: object, one: object) -> list[object]:
    entries = list(held) if isinstance(held, (list, tuple)) else []
    return entries if one in entries else [*entries, one]


# ---------------------------------------------------------------------------------------------------------- the tools


def add(asked: Asked) -> Answer:
    """Propose a record: the first call shows the nearest ones, a second one that says so writes it."""
    kind = asked.registry.workspace.kinds[asked.text("kind")]
    return _proposed(asked, Proposal(kind, given_fields(kind, asked, new=True)))


def update(asked: Asked) -> Answer:
    """Change a record that waits; for one in force, propose another in its place."""
    record = _named(asked, "id")
    given = given_fields(record.kind, asked, new=False)
    if record.phase == "closed":
        raise RefusedError(f"{record.id} is {record.status.name} and is kept as it was", hint="`add` a new record")
    if record.phase == "pending":
        title = given.pop("title", None) if record.kind.in_document else None
        changed = change(asked, record, lambda data: merged(data, given), None if title is None else str(title))
        return _written(asked, changed)
    if record.kind.in_document:
        raise RefusedError(
            f"{record.id} is in force; an agent may not change it",
            hint=f'propose another one with `supersede` {{"id": "{record.id}", "fields": {{"title": …}}}}',
        )
    own = own_fields(record.kind).keys() - {"legacy_ids"}
    fields = {name: value for name, value in merged(record.data, given).items() if name in own or name.startswith("x-")}
    return _proposed(asked, Proposal(record.kind, fields, instead_of=record))


def supersede(asked: Asked) -> Answer:
    """Propose that another record takes the place of one in force; a person closes it."""
    old = _named(asked, "id")
    if old.phase != "live":
        raise RefusedError(f"{old.id} is {old.status.name}: it holds nothing to replace", hint="`add` a new record")
    if not asked.text("by"):
        return _proposed(asked, Proposal(old.kind, given_fields(old.kind, asked, new=True), instead_of=old))
    new = _named(asked, "by")
    if new.kind.name != old.kind.name:
        raise RefusedError(f"{new.id} is of another kind than {old.id}", hint=f"`add` a {old.kind.label.lower()}")
    if new.phase != "pending":
        by_a_person = f"a person runs `orbit {old.kind.name} supersede {old.id} --with {new.id}`"
        hint = by_a_person if new.phase == "live" else "name one that waits, or give `fields` of a new one"
        raise RefusedError(f"{new.id} is {new.status.name}; an agent proposes with records that wait", hint=hint)
    return _written(asked, change(asked, new, in_place_of(old)), old)


def link(asked: Asked) -> Answer:
    """Link a record that waits for review to another."""
    record, to = _named(asked, "id"), _named(asked, "to")
    if record.phase != "pending":
        hint = f"link from a record that waits, or propose another one: `supersede` {record.id}"
        raise RefusedError(f"{record.id} is {record.status.name}; an agent changes only what waits", hint=hint)
    if record.uid == to.uid:
        raise RefusedError(f"{record.id} can't be linked to itself", hint="name another record in `to`")
    return _written(asked, change(asked, record, linked(asked.text("rel"), to.id)))


def vote(asked: Asked) -> Answer:
    """Say that a record helped in a task."""
    any_id, task, model = asked.text("id"), asked.text("task"), asked.text("model") or None
    _refuse_other_kind(asked, any_id)
    if any("\n" in said or "\r" in said for said in (task, model or "")):
        raise UsageError("a task and a model are one line each", hint='for example "TASK-12"')
    result = voting.vote(asked.registry.workspace, any_id, task, asked.caller.author(model))
    count = result.tally.count
    already = "" if result.new else " (this vote was counted before)"
    return Answer(
        {"id": result.record.id, "new": result.new, **vote_data(result.record.votes)},
        f"{result.record.id} has {count} {'vote' if count == 1 else 'votes'}{already}",
        shown=[result.record.id],
    )


def _named(asked: Asked, argument: str) -> Record:
    any_id = asked.text(argument)
    if argument == "id":
        _refuse_other_kind(asked, any_id)
    return asked.registry.get(any_id)


def _refuse_other_kind(asked: Asked, any_id: str) -> None:
    """Raise where an alias of one kind is called for a record of another."""
    kind = asked.text("kind")
    if kind and (found := asked.registry.get(any_id)).kind.name != kind:
        raise UsageError(f"{found.id} is of the kind {found.kind.name}", hint="call the tool that serves every kind")


def _proposed(asked: Asked, wanted: Proposal) -> Answer:
    """Write a proposal if the caller has seen what is near it; else show that, and write nothing."""
    registry, kind, author = asked.registry, wanted.kind, asked.caller.author()
    fields = wanted.whole()
    if kind.in_document:
        seen = adrs.add_adr(registry.workspace, adrs.new_adr(wanted.fields), author, dry_run=True).record
        draft = replace(seen, prose=str(wanted.fields.get("body") or ""))
    else:
        draft = registry.draft(kind.name, fields, author)[1]
    near = registry.neighbours(draft)
    if wanted.instead_of is not None:
        near = [one for one in near if one.record.id != wanted.instead_of.id]
    if not (asked.is_set("confirm") or asked.words("distinct_from")):
        return _preview(asked, wanted, draft, near)
    if kind.in_document:
        record = adrs.add_adr(registry.workspace, adrs.new_adr(wanted.fields), author).record
        if wanted.instead_of is not None:
            record = change(asked, record, in_place_of(wanted.instead_of))
        return _written(asked, record, wanted.instead_of)
    _refuse_duplicate(near)
    compared = {record.path for record in registry.collection.records.of_kind(kind.name)}

    def admit(new: Record) -> None:  # somebody may have added the same since it was compared
        _refuse_duplicate(copies_of(records_added(registry.workspace, kind, compared), new))

    return _written(asked, registry.add(kind.name, fields, author, admit), wanted.instead_of)


def _preview(asked: Asked, wanted: Proposal, draft: Record, near: Sequence[Neighbour]) -> Answer:
    kind = wanted.kind
    alike = [replace(one, record=clean(one.record)) for one in near[:MOST_NEAR]]
    taken = {one.record.id for one in alike} | ({wanted.instead_of.id} if wanted.instead_of else set())
    related = [one for one in _related(asked, draft) if one.id not in taken][: MOST_NEAR - len(alike)]
    lines = ["Nothing is written yet."]
    if wanted.instead_of is not None:
        lines.append(
            f"{wanted.instead_of.id} is in force: this would be proposed in its place, for a person to decide."
        )
    lines += [f"near: {near_text(one)}" for one in alike]
    lines += [f"related: {one.id}: {one.title}" for one in related]
    voted = [one.record.id for one in alike if one.record.phase == "live"] + [one.id for one in related]
    votes = [f'vote {{"id": "{one}", "task": "{asked.text("task") or "TASK"}"}}' for one in voted if kind.voted]
    lines += [f"Where one says it already, strengthen it: {votes[0]}"] if votes else []
    same = [one.record.id for one in alike if one.is_duplicate]
    again = f'"distinct_from": ["{same[0]}"]' if same and not kind.in_document else '"confirm": true'
    lines.append(f"To write it all the same, call again with the same arguments and {again}.")
    nearest = neighbours_data(alike) + [
        {"id": one.id, "score": None, "title": one.title, "difference": None} for one in related
    ]
    data = {"written": False, "nearest": nearest, "draft": record_data(draft)}
    following = [*votes, *(f'show {{"id": "{entry["id"]}"}}' for entry in nearest)]
    return Answer(data, "\n".join(lines), next=following[:6], shown=[str(entry["id"]) for entry in nearest])


def _related(asked: Asked, draft: Record) -> list[Record]:
    """Return what a search for the headline finds among the same kind."""
    try:
        found = asked.registry.search(Query(draft.title, kind=draft.kind.name, limit=_SEARCHED))
    except UsageError:  # the headline has only words that nearly every text has
        return []
    return [clean(hit.record) for hit in found.hits]


def _refuse_duplicate(near: Sequence[Neighbour]) -> None:
    same = next((one for one in near if one.is_duplicate), None)
    if same is not None:
        known = clean(same.record)
        votes = known.kind.voted and known.phase == "live"
        instead = f'`vote` {{"id": "{known.id}", "task": …}} strengthens it' if votes else f"`show` {known.id}"
        one = replace(same, record=known)
        differs = f'call again with "distinct_from": ["{known.id}"]'
        hint = f"{instead}; {settles(one, differs)}"
        raise RefusedError(known_already(one), hint=hint)


def _written(asked: Asked, record: Record, instead_of: Record | None = None) -> Answer:
    steps = steps_of_a_person(record, instead_of)
    waits = record.status.waits
    lines = [f"{record.id}{' (waits for review)' if waits else ''}  {record.title}", f"  {record.path}"]
    lines += [f"note: `{one.glob}` matches no file: {one.hint}" for one in asked.registry.unmatched(record)]
    lines += [f"A person decides: {', then '.join(steps)}"] if waits and steps else []
    return Answer(
        {"written": True, **record_data(record)},
        "\n".join(lines),
        next=[f'show {{"id": "{record.id}"}}'],
        paths=[path for path in record.scope.paths if not set(path) & set("*?[{!")],
        shown=[record.id, *([instead_of.id] if instead_of else [])],
    )


_USUAL_SECONDS = 60.0


def may_run(workspace: Workspace) -> bool:
    """Say whether the configuration allows it and the environment of the server does: a clone alone decides nothing."""
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True


def run_script(asked: Asked) -> Answer:
    """Run a reviewed script; an agent can trust no other."""
    workspace = asked.registry.workspace
    if not may_run(workspace):
        raise RefusedError("scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on")
    record = asked.registry.get(asked.text("id"))
    said = asked.arguments.get("seconds")
    seconds = float(said) if isinstance(said, int | float) else _USUAL_SECONDS
    ran = run(
        workspace,
        record,
        asked.caller.author(),
        Order(asked.words("arguments"), seconds, surface="mcp:run", captured=True),
    )
    data = {
        "id": record.id,
        "exit_code": ran.exit_code,
        "seconds": round(ran.seconds, 3),
        "timed_out": ran.is_over_time,
    }
    ended = f"ended after {seconds:g} s" if ran.is_over_time else f"exit code {ran.exit_code}"
    text = "\n".join(filter(None, (f"{record.id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip())))
    return Answer({**data, "stdout": ran.stdout, "stderr": ran.stderr}, text, shown=[record.id])
