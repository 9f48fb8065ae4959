"""The fields of a kind's records that an agent may give, as JSON Schema."""

from collections.abc import Mapping
from typing import Any

from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.repository.writer import FIXED

Schema = Mapping[str, object]
EXAMPLE = '{"summary": "Close files", "paths": ["src/**"]}'
"""The fields of a learning, as an agent gives them."""
OF_A_DOCUMENT = (
    "title",
    "date",
    "tasks",
    "feature",
    "deciders",
    "summary",
    "labels",
    "legacy_ids",
    "scope",
)
"""Fields that a new decision takes; the others are given by `update`, once it has a document."""
WITHHELD = FIXED | {
    "freshness",
    "status_raw",
}  # fields that no agent gives: they say who, when and in which state


def own_fields(kind: Kind, *, new: bool = False) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of the fields that an agent may set, the headline first."""
    document = kind.schema.document
    shared: Mapping[str, Any] = document["$defs"]
    withheld = WITHHELD | kind.schema.managed | ({"title"} - {kind.headline})
    names = sorted(
        (name for name in kind.schema.properties if name not in withheld),
        key=lambda n: n != kind.headline,
    )
    forms = {name: _inlined(document["properties"][name], shared) for name in names}

    if kind.in_document and new:
        forms = {name: form for name, form in forms.items() if name in OF_A_DOCUMENT}
        axes = forms["scope"]["properties"]
        forms["scope"] = {
            **forms["scope"],
            "properties": {axis: axes[axis] for axis in ("paths", "tags", "uses")},
        }
        body = "Context, Decision and Consequences as Markdown; name at least one cost."
        forms["body"] = {"type": "string", "maxLength": 100_000, "description": body}

    return forms


def required_fields(kind: Kind) -> list[str]:
    """Return the required fields of a kind's records."""
    withheld = WITHHELD | kind.schema.managed
    return [name for name in kind.schema.document["required"] if name not in withheld]


def fields_of_any(kinds: KindTable) -> Schema:
    """Return the schema of any kind's fields; its description has what each kind needs."""
    lines = []
    for kind in kinds:
        if not kind.in_file:
            needed = required_fields(kind)
            if kind.in_document:
                needed.append("body")
            lines.append(f"{kind.name}: {', '.join(needed)}")

    description = (
        f"The record's fields. Needed: {'; '.join(lines)}. All take `paths` (globs) and `tags`. "
        f"Example: {EXAMPLE}. An error lists the other fields of a kind."
    )
    return {"type": "object", "description": description}


_LEFT_OUT = frozenset(
    ("$ref", "patternProperties", "pattern", "uniqueItems", "maxItems", "minLength")
)
"""What a tool's schema does not repeat of a kind's: not every client follows references, a model
reads none of the rest, and the record's own schema holds it to all of them when it is written.
"""


def _inlined(form: Any, shared: Mapping[str, Any]) -> Any:
    if isinstance(form, list):
        return [_inlined(entry, shared) for entry in form]
    if not isinstance(form, Mapping):
        return form
    parts = {name: _inlined(part, shared) for name, part in form.items() if name not in _LEFT_OUT}
    if "$ref" in form:
        parts = {**_inlined(shared[str(form["$ref"]).rpartition("/")[2]], shared), **parts}
    return parts
