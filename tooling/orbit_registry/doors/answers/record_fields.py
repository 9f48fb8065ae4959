"""The fields of a kind's records as arguments of its commands, and the fields that values make."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from orbit_registry.doors.answers.arguments import Argument
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


def part_arguments(argument: Argument, kind: Kind | None) -> Iterator[Argument]:
    """Yield the options that express an argument whose value is fields of a record; any other
    argument unchanged.
    """
    parts = argument.schema.get("parts")
    if parts is None:
        yield argument
        return

    if kind is not None and parts in ("new", "changed"):
        required = {*kind.schema.document["required"]} if parts == "new" else set()
        required.discard(kind.headline)  # that may be an argument, or asked for
        for name in _field_names(kind):
            yield from _field_argument(argument.name, kind, name, name in required)

    if parts == "removed":
        for name, metavar, field in _LISTS:
            yield _list_argument(
                argument.name, name, [f"--remove-{name}"], metavar, f"Remove one ({field})."
            )
        return

    for name, metavar, _ in _LISTS:
        flags = [f"--{name}"]
        if parts == "changed":
            flags.insert(0, f"--add-{name}")
        yield _list_argument(argument.name, name, flags, metavar, _HELP[name])

    text = {"type": "string", "part_of": argument.name}
    help_ = "More words by which search finds it."
    flag = "--semantic-seed"
    yield Argument("semantic_seed", "semantic_seed", text, (flag,), "TEXT", help_, None, False)
    yield _list_argument(
        argument.name, "settings", ["--set"], "FIELD=YAML", "Any other field, as YAML."
    )


def _list_argument(whole: str, name: str, flags: list[str], metavar: str, help_: str) -> Argument:
    schema = {"type": "array", "items": {"type": "string"}, "part_of": whole}
    public = name.replace("-", "_")
    unique = f"remove_{public}" if flags[0].startswith("--remove-") else public
    return Argument(unique, public, schema, tuple(flags), metavar, help_, None, False)


def _field_names(kind: Kind) -> list[str]:
    managed = MANAGED | kind.schema.managed
    names = [
        name for name in kind.schema.properties if name not in managed or name == kind.headline
    ]
    return sorted(names, key=lambda name: name != kind.headline)


def _field_argument(whole: str, kind: Kind, name: str, required: bool) -> Iterator[Argument]:
    """Yield the option of a field; none if its form is too rich for one."""
    form: Mapping[str, Any] = kind.schema.document["properties"][name]
    if "$ref" in form:
        shared = kind.schema.document["$defs"][form["$ref"].rpartition("/")[2]]
        form = {**shared, **form}

    flag = f"--{name.replace('_', '-')}"
    metavar = ""
    schema: dict[str, Any] = {"type": form.get("type"), "part_of": whole}
    if "enum" in form:
        schema |= {"type": "string", "enum": [str(choice) for choice in form["enum"]]}
    elif form.get("type") == "array" and _may_be_text(form.get("items", {})):
        schema["items"] = {"type": "string"}
        flag, metavar = flag.removesuffix("s"), "TEXT"
    elif form.get("type") == "boolean":
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    elif form.get("type") == "string":
        metavar = "TEXT"
    elif form.get("type") != "integer":
        return

    is_single = schema["type"] in ("string", "integer")
    description = str(form.get("description", ""))
    yield Argument(name, name, schema, (flag,), metavar, description, None, required and is_single)


def _may_be_text(items: Mapping[str, Any]) -> bool:
    """Say whether the entries of a list may be texts, by their schema."""
    return "string" in [form.get("type") for form in (items, *items.get("anyOf", ()))]


def required_words(kind: Kind) -> str:
    """Return what a new record needs next to its headline, as words to follow it in an example."""
    words: list[str] = []
    settings: list[str] = []
    options: dict[str, Argument] = {}
    for name in _field_names(kind):
        options |= {each.name: each for each in _field_argument("", kind, name, True)}

    for name in kind.schema.document.get("required", ()):
        if name in MANAGED | kind.schema.managed | {kind.headline}:
            continue

        argument = options.get(name)
        if argument is not None and argument.required:
            usual = next(iter(argument.schema.get("enum", ())), '"…"')
            words.append(f"{argument.flags[0]} {_example_of(kind, name, usual)}")
        elif argument is None:
            settings.append(f"--set '{name}={_flow_yaml(_example_of(kind, name, '…'))}'")

    return "".join(f" {word}" for word in (*words, *settings))


def _example_of(kind: Kind, name: str, usual: object) -> object:
    """Return the first example that the schema gives for a field."""
    form = kind.schema.document["properties"].get(name, {})
    return next(iter(form.get("examples", ())), usual)


def _flow_yaml(value: object) -> str:
    if isinstance(value, dict):
        parts = [f"{name}: {_flow_yaml(part)}" for name, part in value.items()]
        return f"{{{', '.join(parts)}}}"
    return str(value)


def fields_from(kind: Kind | None, values: Mapping[str, Any]) -> dict[str, object]:
    """Return record fields from option values, without those not given."""
    fields: dict[str, object] = {}
    for name in [] if kind is None else _field_names(kind):
        value = values.get(name)
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
    settings = [setting_from(text) for text in words("settings")]
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


def refuse_managed(kind: Kind, fields: Mapping[str, object]) -> None:
    """Raise if a field is given that only verbs change.

    Raises:
        UsageError: one is given.
    """
    for name in fields:
        if name in FIXED | kind.schema.managed:
            raise UsageError(f"`{name}` can't be set by hand", hint=verbs_hint(kind))


def setting_from(text: str) -> tuple[str, object]:
    """Return a field and its value from `field=yaml`."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise UsageError(
            f"--set {text!r} is not FIELD=YAML",
            hint="for example --set 'target={type: story, id: S-1}'",
        )

    try:
        return name.strip(), load(value)
    except YamlProblemError as error:
        hint = "the value is YAML: put text with `:`, `#`, `{` or `[` in it into quotes"
        raise UsageError(
            f"--set {name}: {error.problem.message}", hint=error.problem.hint or hint
        ) from None


def changed_edit(
    fields: Mapping[str, object], removed: Mapping[str, object]
) -> Callable[[dict[str, object]], Mapping[str, object]]:
    """Return the edit of `update`: lists gain and lose entries, other fields are replaced.

    Fields and scope axes that are not named stay unchanged.
    """

    def edit(data: dict[str, object]) -> Mapping[str, object]:
        result = dict(data)
        for name, value in fields.items():
            if name == "scope" and isinstance(value, Mapping):
                scope = mapping_in(result, "scope")
                axes = {axis: _merge_lists(scope, axis, new) for axis, new in value.items()}
                result["scope"] = {**scope, **axes}
            else:
                result[name] = _merge_lists(result, name, value)

        if fields.get("revisit_when"):
            # What was committed until today is known to who says what a review waits for.
            result["reviewed_at"] = format_time(datetime.now(UTC))

        for _, _, location in _LISTS:
            name, _, axis = location.partition(".")
            entries = list_in(mapping_in(removed, name), axis) if axis else list_in(removed, name)
            if entries:
                result = _remove_entries(result, location, entries)

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
    if isinstance(value, list):
        return [*present, *(entry for entry in value if entry not in present)]

    return value


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
    if isinstance(entry, Mapping):
        return f"{entry.get('kind')}:{entry.get('reference')}"

    return str(entry)
