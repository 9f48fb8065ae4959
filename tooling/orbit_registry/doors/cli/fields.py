"""Options made from a kind's schema, and record fields made from options."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import Kind
from orbit_registry.model.votes import format_time
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.writer import FIXED

_SHARED = ("scope", "links", "evidence", "legacy_ids", "distinct_from", "freshness", "labels")
MANAGED = FIXED | {
    *_SHARED,
    "source",
    "status_raw",
    "title",
    "reviewed_at",
}  # fields that have options of their own, or none


class _RequiredUnlessEdited(click.Option):
    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value; where an editor is asked for, none is one too."""
        if ctx.params.get("editor"):
            return None if self.value_is_missing(value) else self.type_cast_value(ctx, value)
        return super().process_value(ctx, value)


def add_options(kind: Kind) -> list[click.Option]:
    """Return the options of `add`: the headline, each field of the schema, scope,
    evidence, labels.
    """
    required = set(kind.schema.document["required"]) - {
        kind.headline
    }  # that may be an argument, or asked for
    options = [_field_option(kind, name, name in required) for name in _field_names(kind)]
    return [option for option in options if option is not None] + shared_options()


def update_options(kind: Kind) -> list[click.Option]:
    """Return the options of `update`: the same fields, none required, and removals from lists."""
    options = [_field_option(kind, name, required=False) for name in _field_names(kind)]
    removals = [
        click.Option(
            [f"--remove-{name}"], multiple=True, metavar=metavar, help=f"Remove one ({field})."
        )
        for name, metavar, field in _LISTS
    ]

    return (
        [option for option in options if option is not None]
        + shared_options(adding=True)
        + removals
    )


_LISTS = (
    ("path", "GLOB", "scope.paths"),
    ("tag", "TAG", "scope.tags"),
    ("symbol", "PATH::NAME", "scope.symbols"),
    ("uses", "PACKAGE", "scope.uses"),
    ("label", "WORD", "labels"),
    ("evidence", "KIND:REF", "evidence"),
    ("legacy-id", "NAME", "legacy_ids"),
    ("distinct-from", "ID", "distinct_from"),
)
_HELP = {
    "path": "Files it applies to; repeatable.",
    "tag": "Topic it applies to (scope.tags).",
    "symbol": "Function or class it applies to: src/app.py::main.",
    "uses": "Package or module; it applies to files that import it: redis.",
    "label": "Word to group by (labels).",
    "evidence": "issue:12, pr:3, commit:abc, file:src/x.py, …",
    "legacy-id": "An earlier name that still resolves.",
    "distinct-from": "A record that looks alike but differs.",
}


def shared_options(*, adding: bool = False) -> list[click.Option]:
    """Return the options that every kind has; with `adding`,
    `--add-path` says the same as `--path`.
    """
    options = []
    for name, metavar, _ in _LISTS:
        flags = [f"--add-{name}", f"--{name}"] if adding else [f"--{name}"]
        options.append(
            click.Option(
                [*flags, name.replace("-", "_")], multiple=True, metavar=metavar, help=_HELP[name]
            )
        )

    return [
        *options,
        click.Option(
            ["--semantic-seed"], metavar="TEXT", help="More words by which search finds it."
        ),
        click.Option(
            ["--set", "settings"],
            multiple=True,
            metavar="FIELD=YAML",
            help="Any other field, as YAML.",
        ),
    ]


def _field_names(kind: Kind) -> list[str]:
    managed = MANAGED | kind.schema.managed
    names = [
        name for name in kind.schema.properties if name not in managed or name == kind.headline
    ]
    return sorted(names, key=lambda name: name != kind.headline)


def _field_option(kind: Kind, name: str, required: bool) -> click.Option | None:
    form: Mapping[str, Any] = kind.schema.document["properties"][name]
    shared = (
        kind.schema.document["$defs"][form["$ref"].rpartition("/")[2]] if "$ref" in form else {}
    )
    form = {**shared, **form}
    description = str(form.get("description", "")) or None
    flag = f"--{name.replace('_', '-')}"

    if "enum" in form:
        return _RequiredUnlessEdited(
            [flag],
            type=click.Choice([str(choice) for choice in form["enum"]]),
            required=required,
            help=description,
        )

    if form.get("type") == "string":
        return _RequiredUnlessEdited([flag], required=required, metavar="TEXT", help=description)
    if form.get("type") == "integer":
        return _RequiredUnlessEdited([flag], type=int, required=required, help=description)

    if form.get("type") == "boolean":
        return click.Option(
            [f"{flag}/--no-{name.replace('_', '-')}"], default=None, help=description
        )

    if form.get("type") == "array" and _may_be_text(form.get("items", {})):
        return click.Option(
            [flag.removesuffix("s"), name], multiple=True, metavar="TEXT", help=description
        )

    return None


def _may_be_text(items: Mapping[str, Any]) -> bool:
    """Say whether the entries of a list may be texts, by their schema."""
    return "string" in [form.get("type") for form in (items, *items.get("anyOf", ()))]


def fields_from(kind: Kind, values: Mapping[str, Any]) -> dict[str, object]:
    """Return record fields from option values, without those not given."""
    fields: dict[str, object] = {}
    for name in kind.schema.properties:
        value = values.get(name)

        if name in MANAGED | kind.schema.managed and name != kind.headline:
            continue
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and value != []:
            fields[name] = value

    def words(option: str) -> list[str]:
        return list(values.get(option, ()))

    scope = {
        "paths": words("path"),
        "tags": words("tag"),
        "symbols": words("symbol"),
        "uses": words("uses"),
        "semantic_seed": values.get("semantic_seed"),
    }
    others: dict[str, object] = {
        "scope": {axis: value for axis, value in scope.items() if value},
        "labels": words("label"),
        "evidence": [*map(evidence_from, words("evidence"))],
        "legacy_ids": words("legacy_id"),
        "distinct_from": words("distinct_from"),
    }
    fields.update({name: value for name, value in others.items() if value})
    settings = [setting_from(kind, text) for text in words("settings")]
    return {**fields, **dict(settings)}


def evidence_from(text: str) -> dict[str, object]:
    """Return evidence from `kind:reference`."""
    kind, separator, reference = text.partition(":")
    if not separator or not kind.strip() or not reference.strip():
        kinds = "issue, pr, task, commit, file, session, record or external"
        raise UsageError(
            f"evidence {text!r} is not KIND:REF", hint=f"KIND is {kinds}: issue:12, file:src/x.py"
        )
    return {"kind": kind.strip(), "reference": reference.strip()}


def verbs_hint(kind: Kind) -> str:
    """Return a hint for a field that only verbs change."""
    verbs = [*map(kind.verb_of, kind.verbs.values())]
    if "superseded" in kind.statuses:
        verbs.append("supersede")
    return f"verbs change it: {', '.join(f'`orbit {kind.name} {verb}`' for verb in verbs)}"


def setting_from(kind: Kind, text: str) -> tuple[str, object]:
    """Return a field and its value from `field=yaml`."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise UsageError(
            f"--set {text!r} is not FIELD=YAML",
            hint="for example --set 'target={type: story, id: S-1}'",
        )

    if name.strip() in FIXED | kind.schema.managed:
        raise UsageError(f"`{name.strip()}` can't be set by hand", hint=verbs_hint(kind))

    try:
        return name.strip(), load(value)
    except YamlProblemError as error:
        hint = "the value is YAML: put text with `:`, `#`, `{` or `[` in it into quotes"
        raise UsageError(
            f"--set {name}: {error.problem.message}", hint=error.problem.hint or hint
        ) from None


def merged_edit(
    kind: Kind, values: Mapping[str, Any]
) -> Callable[[dict[str, object]], Mapping[str, object]]:
    """Return the edit of `update`: lists gain and lose entries, other fields are replaced.

    Fields and scope axes without an option stay unchanged.
    """
    fields = fields_from(kind, values)

    def edit(data: dict[str, object]) -> Mapping[str, object]:
        result = dict(data)
        for name, value in fields.items():
            if name == "scope" and isinstance(value, Mapping):
                scope = mapping_in(result, "scope")
                result["scope"] = {
                    **scope,
                    **{axis: _merge_lists(scope, axis, new) for axis, new in value.items()},
                }
            else:
                result[name] = _merge_lists(result, name, value)

        if fields.get("revisit_when"):
            # What was committed until today is known to who says what a review waits for.
            result["reviewed_at"] = format_time(datetime.now(UTC))

        for name, _, location in _LISTS:
            removed = values.get(f"remove_{name.replace('-', '_')}", ())
            if removed:
                result = _remove_entries(
                    result,
                    location,
                    [evidence_from(entry) if name == "evidence" else entry for entry in removed],
                )

        return {
            name: value
            for name, value in result.items()
            if value not in ([], {}) or name not in _EMPTIABLE
        }

    return edit


_EMPTIABLE = frozenset(("scope", "labels", "evidence", "legacy_ids", "distinct_from"))


def _merge_lists(data: Mapping[str, object], name: str, value: object) -> object:
    """Return a list with what is new added to the present one; any other value unchanged."""
    present = list_in(data, name)
    return (
        [*present, *(entry for entry in value if entry not in present)]
        if isinstance(value, list)
        else value
    )


def _remove_entries(
    data: dict[str, object], location: str, removed: list[Any]
) -> dict[str, object]:
    name, _, axis = location.partition(".")
    entries = list_in(mapping_in(data, name), axis) if axis else list_in(data, name)
    for unwanted in removed:
        matches = [entry for entry in entries if _matches(entry, unwanted)]
        if not matches:
            there = ", ".join(f"`{_entry_words(entry)}`" for entry in entries) or "nothing"
            raise RefusedError(
                f"`{_entry_words(unwanted)}` is not in {location}", hint=f"{location} holds {there}"
            )

        entries = [entry for entry in entries if entry not in matches]

    if not axis:
        return {**data, name: entries}

    scope = {**mapping_in(data, name), axis: entries}
    return {**data, name: {key: value for key, value in scope.items() if value not in ([], None)}}


def _matches(entry: object, pattern: object) -> bool:
    """Evidence may have more fields than the kind and reference compared."""
    if isinstance(entry, Mapping) and isinstance(pattern, Mapping):
        return all(entry.get(key) == value for key, value in pattern.items())
    return entry == pattern


def _entry_words(entry: object) -> str:
    return (
        f"{entry.get('kind')}:{entry.get('reference')}"
        if isinstance(entry, Mapping)
        else str(entry)
    )
