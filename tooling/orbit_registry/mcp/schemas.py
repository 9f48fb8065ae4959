"""The arguments of tools as JSON Schema: shared ones by name, and the fields of a kind from its own schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orbit_registry.mcp.tool import Schema
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.repository.writer import FIXED

LONGEST = 200_000
"""Characters of all arguments of a call together."""
OF_A_DOCUMENT = ("title", "date", "tasks", "feature", "deciders", "summary", "labels", "legacy_ids", "scope")
"""Fields that a new decision takes; the others are given by `update`, once it has a document."""
WITHHELD = FIXED | {"freshness", "status_raw"}
"""Fields that no agent gives: they say who, when and in which state."""


def text(said: str, *examples: str, longest: int = 2_000) -> Schema:
    """Return the form of a text."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": said, "examples": list(examples)}


def words(said: str, *examples: str, most: int = 50) -> Schema:
    """Return the form of a list of short texts."""
    one = {"type": "string", "minLength": 1, "maxLength": 500}
    return {"type": "array", "items": one, "maxItems": most, "description": said, "examples": [list(examples)]}


def number(said: str, default: int | None, most: int, least: int = 1) -> Schema:
    """Return the form of a whole number."""
    usual = {} if default is None else {"default": default}
    return {"type": "integer", "minimum": least, "maximum": most, **usual, "description": said}


def truth(said: str) -> Schema:
    """Return the form of a yes or no that is no unless given."""
    return {"type": "boolean", "default": False, "description": said}


def choice(said: str, *names: str) -> Schema:
    """Return the form of one of some names."""
    return {"type": "string", "enum": list(names), "description": said}


ID = text("A record's id, or an earlier name of it.", "L-7k3fq", "ADR-0012", longest=300)
PATHS = words("Files from the project's root; they need not exist.", "src/app.py")
TAGS = words("Tags (scope.tags).", "network")
TASK = text("The task at hand.", "TASK-12", longest=200)


def kind_choice(kinds: Iterable[Kind], said: str) -> Schema:
    """Return the form of a kind's name."""
    return choice(said, *(kind.name for kind in kinds))


def own_fields(kind: Kind, *, new: bool = False) -> dict[str, Schema]:
    """Return the forms of the fields that an agent may give to a record of a kind, the headline first.

    A new decision takes its document's text as `body` beside some of them.
    """
    document = kind.schema.document
    shared: Mapping[str, Any] = document["$defs"]
    names = [name for name in kind.schema.properties if name not in WITHHELD | kind.schema.managed]
    if kind.headline != "title" and "title" in names:
        names.remove("title")
    found = {name: _inlined(document["properties"][name], shared) for name in _headline_first(kind, names)}
    if kind.in_document and new:
        found = {name: form for name, form in found.items() if name in OF_A_DOCUMENT}
        found["scope"] = _of_axes(found["scope"], ("paths", "tags"))
        found["body"] = text("Context, Decision and Consequences as Markdown; name at least one cost.", longest=100_000)
    return found


def _of_axes(scope: Mapping[str, Any], axes: tuple[str, ...]) -> Schema:
    return {**scope, "properties": {axis: scope["properties"][axis] for axis in axes}}


def required_fields(kind: Kind) -> list[str]:
    """Return the fields without which there is no record of a kind."""
    withheld = WITHHELD | kind.schema.managed
    return [name for name in kind.schema.document["required"] if name not in withheld]


def fields_of_any(kinds: KindTable) -> Schema:
    """Return the form of the fields of whichever kind, its description naming those of each."""
    given = [(kind, list(own_fields(kind, new=True))) for kind in kinds]
    plain = [names for kind, names in given if not kind.in_document]
    shared = [name for name in plain[0] if all(name in names for names in plain)] if plain else []
    lines = []
    for kind, names in given:
        needed = required_fields(kind)
        rest = [name for name in names if name not in needed and (kind.in_document or name not in shared)]
        lines.append(f"{kind.name}: {', '.join(needed)} (needed){'; ' if rest else ''}{', '.join(rest)}")
    lines.append(f"All but decisions take {', '.join(shared)} too")
    example = {"summary": "Retries need an idempotency key", "scope": {"paths": ["src/**"]}}
    said = "The record's fields, by its kind. " + ". ".join(lines) + "."
    return {"type": "object", "description": said, "examples": [example]}


def _headline_first(kind: Kind, names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: name != kind.headline)


_LEFT_OUT = frozenset(("$ref", "patternProperties", "pattern", "uniqueItems", "maxItems", "minLength"))
"""What a tool's schema does not repeat of a kind's: not every client follows references, a model reads none of the
rest, and the record's own schema holds it to all of them when it is written."""


def _inlined(form: Any, shared: Mapping[str, Any]) -> Any:
    """Return a schema as one piece, without what stands in the kind's alone."""
    if isinstance(form, list):
        return [_inlined(one, shared) for one in form]
    if not isinstance(form, Mapping):
        return form
    whole = {name: _inlined(part, shared) for name, part in form.items() if name not in _LEFT_OUT}
    if "$ref" in form:
        whole = {**_inlined(shared[str(form["$ref"]).rpartition("/")[2]], shared), **whole}
    return whole
