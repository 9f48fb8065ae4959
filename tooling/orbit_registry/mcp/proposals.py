"""What an agent proposes: pending records, and changes of them; what holds is neither changed nor closed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import UsageError
from orbit_registry.kinds.table import Kind
from orbit_registry.mcp.schemas import WITHHELD, own_fields
from orbit_registry.mcp.tool import Asked
from orbit_registry.records.record import Record
from orbit_registry.store import lifecycle
from orbit_registry.store.decisions import adrs
from orbit_registry.store.permission import refuse_secrets
from orbit_registry.store.writer import Edit

REPLACES = "amends"
"""The link of a proposal to the record in whose place it would stand; a person writes the supersession."""
Fields = dict[str, object]


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
