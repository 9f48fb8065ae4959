"""Makes options of a kind's schema and fields of the options given; knows no kind by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from orbit_registry.errors import UsageError
from orbit_registry.kinds.table import Kind
from orbit_registry.store.files import decode, read_text
from orbit_registry.text.yaml import load
from orbit_registry.text.yaml_problem import YamlProblemError

FIXED = frozenset(
    (
        "schema_version",
        "id",
        "uid",
        "status",
        "created_at",
        "updated_at",
        "created_by",
        "supersedes",
        "superseded_by",
        "source",
    )
)
"""Fields that only verbs change."""
MANAGED = FIXED | {
    "scope",
    "links",
    "evidence",
    "legacy_ids",
    "distinct_from",
    "freshness",
    "labels",
    "source",
    "status_raw",
    "approval",
    "title",
}
"""Fields that have options of their own, or none."""
STANDARD_INPUT = "-"


def add_options(kind: Kind) -> list[click.Option]:
    """Return the options of `add`: the headline, each field of the schema, scope, evidence, labels."""
    required = set(kind.schema.document["required"])
    options = [_field_option(kind, name, name in required) for name in _own_fields(kind)]
    return [option for option in options if option is not None] + shared_options()


def update_options(kind: Kind) -> list[click.Option]:
    """Return the options of `update`: the same fields, none required, and removals from lists."""
    options = [_field_option(kind, name, required=False) for name in _own_fields(kind)]
    removals = [
        click.Option(["--remove-path"], multiple=True, metavar="GLOB", help="Take a path out of the scope."),
        click.Option(["--remove-tag"], multiple=True, metavar="TAG", help="Take a tag out of the scope."),
        click.Option(["--remove-label"], multiple=True, metavar="WORD", help="Take a label away."),
    ]
    return [option for option in options if option is not None] + shared_options() + removals


def shared_options() -> list[click.Option]:
    """Return the options that every kind has."""
    return [
        click.Option(["--path"], multiple=True, metavar="GLOB", help="Files it applies to; may be given often."),
        click.Option(["--tag"], multiple=True, metavar="TAG", help="Topic it applies to (scope.tags)."),
        click.Option(["--label"], multiple=True, metavar="WORD", help="Word to group by (labels)."),
        click.Option(["--evidence"], multiple=True, metavar="KIND:REF", help="task:T-1, commit:abc, file:src/x.py, …"),
        click.Option(["--legacy-id"], multiple=True, metavar="NAME", help="An earlier name that goes on resolving."),
        click.Option(["--distinct-from"], multiple=True, metavar="ID", help="A record that looks alike but differs."),
        click.Option(["--set", "settings"], multiple=True, metavar="FIELD=YAML", help="Any other field, as YAML."),
    ]


def _own_fields(kind: Kind) -> list[str]:
    names = [name for name in kind.schema.properties if name not in MANAGED or name == kind.headline]
    return sorted(names, key=lambda name: name != kind.headline)


def _field_option(kind: Kind, name: str, required: bool) -> click.Option | None:
    form: Mapping[str, Any] = kind.schema.document["properties"][name]
    shared = kind.schema.document["$defs"][form["$ref"].rpartition("/")[2]] if "$ref" in form else {}
    form = {**shared, **form}
    said = str(form.get("description", "")) or None
    flag = f"--{name.replace('_', '-')}"
    if "enum" in form:
        return click.Option([flag], type=click.Choice([str(one) for one in form["enum"]]), required=required, help=said)
    if form.get("type") == "string":
        return click.Option([flag], required=required, metavar="TEXT", help=said)
    if form.get("type") == "integer":
        return click.Option([flag], type=int, required=required, help=said)
    if form.get("type") == "boolean":
        return click.Option([f"{flag}/--no-{name.replace('_', '-')}"], default=None, help=said)
    if form.get("type") == "array" and form.get("items", {}).get("type") == "string":
        return click.Option([flag.removesuffix("s"), name], multiple=True, metavar="TEXT", help=said)
    return None


def fields_from(kind: Kind, values: Mapping[str, Any]) -> dict[str, object]:
    """Return record fields from the values of options; what was not given is left out.

    Raises:
        UsageError: evidence or `--set` has the wrong form.
    """
    fields: dict[str, object] = {}
    for name in kind.schema.properties:
        value = values.get(name)
        if name in MANAGED and name != kind.headline:
            continue
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and value != []:
            fields[name] = value
    scope = {"paths": list(values.get("path", ())), "tags": list(values.get("tag", ()))}
    given: dict[str, object] = {
        "scope": {axis: words for axis, words in scope.items() if words},
        "labels": list(values.get("label", ())),
        "evidence": [evidence_from(text) for text in values.get("evidence", ())],
        "legacy_ids": list(values.get("legacy_id", ())),
        "distinct_from": list(values.get("distinct_from", ())),
    }
    fields.update({name: value for name, value in given.items() if value})
    return {**fields, **dict(setting_from(text) for text in values.get("settings", ()))}


def evidence_from(text: str) -> dict[str, object]:
    """Return evidence from `kind:reference`.

    Raises:
        UsageError: there is no kind or no reference.
    """
    kind, separator, reference = text.partition(":")
    if not separator or not kind.strip() or not reference.strip():
        raise UsageError(f"evidence {text!r} is not KIND:REF", hint="for example task:T-1 or file:src/x.py")
    return {"kind": kind.strip(), "reference": reference.strip()}


def setting_from(text: str) -> tuple[str, object]:
    """Return a field and its value from `field=yaml`."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise UsageError(f"--set {text!r} is not FIELD=YAML", hint="for example --set 'target={type: story, id: S-1}'")
    if name.strip() in FIXED:
        raise UsageError(f"`{name.strip()}` can't be set by hand", hint="verbs change it: accept, supersede, …")
    try:
        return name.strip(), load(value)
    except YamlProblemError as error:
        raise UsageError(f"--set {name}: {error.problem.message}") from None


def merged_edit(kind: Kind, values: Mapping[str, Any]) -> Callable[[dict[str, object]], Mapping[str, object]]:
    """Return the edit that options of `update` ask for: lists gain and lose entries, other fields are replaced.

    What no option names stays as it is; an axis of the scope that wasn't named too.
    """
    fields = fields_from(kind, values)
    removed = {"paths": set(values.get("remove_path", ())), "tags": set(values.get("remove_tag", ()))}

    def edit(data: dict[str, object]) -> Mapping[str, object]:
        result = dict(data)
        for name, value in fields.items():
            if name == "scope" and isinstance(value, dict):
                held = _mapping(result.get("scope"))
                result["scope"] = {**held, **{axis: _joined(held.get(axis), words) for axis, words in value.items()}}
            elif isinstance(value, list) and name != "settings":
                result[name] = _joined(result.get(name), value)
            else:
                result[name] = value
        scope = _mapping(result.get("scope"))
        for axis, gone in removed.items():
            if gone and axis in scope:
                scope = {**scope, axis: [word for word in _list(scope[axis]) if word not in gone]}
        if scope or "scope" in result:
            result["scope"] = {axis: words for axis, words in scope.items() if words not in ([], None)}
        labels = [word for word in _list(result.get("labels")) if word not in set(values.get("remove_label", ()))]
        if labels or "labels" in result:
            result["labels"] = labels
        return {name: value for name, value in result.items() if value not in ([], {}) or name not in _EMPTIABLE}

    return edit


_EMPTIABLE = frozenset(("scope", "labels"))


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _joined(held: object, added: object) -> list[object]:
    present = _list(held)
    return present + [one for one in _list(added) if one not in present]


def text_from(value: str) -> str:
    """Return the text of a file named on the command line; `-` is the standard input."""
    if value == STANDARD_INPUT:
        return decode(sys.stdin.buffer.read(), Path("the standard input"))
    return read_text(Path(value).resolve())
