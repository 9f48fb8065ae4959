"""JSON Schemas of kinds with the fields that all records share, and validation in plain words.

jsonschema-rs says whether a value is valid, about 100 times quicker than jsonschema, which says why
it is not. A property test holds their answers equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orbit_registry.errors import ConfigError, plural
from orbit_registry.formats.position import Pointer
from orbit_registry.formats.untrusted import cut

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import ValidationError

ENVELOPE = Path(__file__).parents[1] / "kinds" / "record.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_VERSION = 1
_LIMIT = 1_000_000
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Why a value is invalid: where, what is wrong, and what to do."""

    pointer: Pointer
    message: str
    hint: str | None = None
    unknown_field: bool = False


@lru_cache(maxsize=1)
def shared_fields() -> frozenset[str]:
    """Return the names of the fields that records of every kind may have."""
    return frozenset(json.loads(ENVELOPE.read_text("utf-8"))["properties"])


@dataclass(frozen=True)
class RecordSchema:
    """A JSON Schema, compiled when a value is first validated.

    A run knows seven kinds and reads two or three.
    """

    document: Fields
    file: Path  # its file, for errors

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the fields, in the order of new files."""
        return tuple(self.document["properties"])

    def longest(self, name: str) -> int:
        """Return the `maxLength` of a field."""
        return int(self.document["properties"][name]["maxLength"])

    @cached_property
    def managed(self) -> frozenset[str]:
        """The `readOnly` fields, which only verbs change."""
        return frozenset(
            name
            for name, form in self.document["properties"].items()
            if form.get("readOnly") is True
        )

    @cached_property
    def validator(self) -> jsonschema_rs.Draft202012Validator:
        """The validator that says whether a value is valid."""
        import jsonschema_rs  # a run in which no record changed needs none

        try:
            return jsonschema_rs.Draft202012Validator(dict(self.document))
        except ValueError as error:
            message = f"{self.file}: not a JSON Schema: {str(error).splitlines()[0]}"
            hint = "write it by the rules of JSON Schema 2020-12, as the shipped ones are"
            raise ConfigError(message, hint=hint) from None

    def is_valid(self, value: object) -> bool:
        """Say whether a value is valid."""
        return bool(self.validator.is_valid(value))

    def problems(self, value: object) -> list[SchemaProblem]:
        """Return what is wrong with a value, ordered by pointer; empty when it is valid."""
        if self.is_valid(value):
            return []

        errors = self.reference_validator.iter_errors(value)
        problems = dict.fromkeys(chain.from_iterable(map(_explain, errors)))
        return sorted(problems, key=_reading_order)

    @cached_property
    def reference_validator(self) -> Any:
        """The validator that says why; importing it costs more than reading 1,000 records."""
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        return extend(Draft202012Validator, {"pattern": _pattern_problems})(self.document)


def _pattern_problems(
    _validator: object, pattern: str, value: object, _schema: object
) -> Iterator[ValidationError]:
    """Check a pattern with jsonschema-rs: Python's `$` accepts a line break at the end."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not _compiled_pattern(pattern).is_valid(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@lru_cache(maxsize=256)
def _compiled_pattern(pattern: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator({"pattern": pattern})


def compile_schema(file: Path, kind: str, statuses: tuple[str, ...] = ()) -> RecordSchema:
    """Return the schema in `file`, merged with the envelope and the kind's statuses."""
    kind_schema = _read(file)
    envelope = _read(ENVELOPE)
    properties = _merged(envelope["properties"], kind_schema.get("properties", {}))
    if statuses:
        properties["status"] = {**properties["status"], "enum": list(statuses)}

    document: dict[str, Any] = {"$schema": DIALECT, "title": kind, "description": ""}
    for key, value in kind_schema.items():
        if key not in ("properties", "required", "$defs"):
            document[key] = value

    document |= {
        "type": "object",
        "required": [*envelope["required"], *kind_schema.get("required", [])],
        "properties": properties,
        "patternProperties": envelope["patternProperties"],
        "additionalProperties": False,
        "$defs": {**envelope["$defs"], **kind_schema.get("$defs", {})},
    }
    return RecordSchema(document, file)


def read_schema(file: Path) -> RecordSchema:
    """Return the schema in a file, without the fields of records."""
    return RecordSchema(_read(file), file)


def _merged(envelope: Fields, fields: Fields) -> dict[str, Any]:
    """Put a kind's fields after the envelope's identity and before its times.

    A kind can narrow shared fields.
    """
    identity = ("schema_version", "id", "uid", "title", "status")
    order = dict.fromkeys([*identity, *fields, *envelope])
    return {name: {**envelope.get(name, {}), **fields.get(name, {})} for name in order}


def read_part(file: Path) -> str:
    """Return the text of a file in a kind's folder."""
    can_be_link = ENVELOPE.parent in file.parents  # some installers link a package's files
    try:
        if not can_be_link and (file.is_symlink() or file.parent.is_symlink()):
            raise ConfigError(f"{file} is a symbolic link", hint="put the file itself there")
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ConfigError(f"{file}: not a regular file", hint="make it a file that can be read")

        size = file.stat().st_size
        if size > _LIMIT:
            message = f"{file} has {size:,} bytes; at most {_LIMIT:,} are read"
            raise ConfigError(message, hint="move long text elsewhere")

        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not valid UTF-8", hint="save the file as UTF-8") from None
    except FileNotFoundError:
        hint = f"a kind's folder needs a {file.name}"
        raise ConfigError(f"{file} is missing", hint=hint) from None
    except OSError as error:
        hint = "make it a file that can be read"
        raise ConfigError(f"{file}: {error.strerror}", hint=hint) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_part(file))
    except json.JSONDecodeError as error:
        reason = f"{error.msg[:1].lower()}{error.msg[1:]}"
        message = f"{file}:{error.lineno}:{error.colno}: not valid JSON: {reason}"
        raise ConfigError(message, hint="check quotes, commas and braces near that place") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply", hint="flatten the structure") from None

    if not isinstance(value, dict):
        raise ConfigError(f"{file}: a schema is an object", hint='begin it with `{"properties": {`')

    return value


def _reading_order(problem: SchemaProblem) -> tuple[list[tuple[bool, int, str]], str]:
    steps = []
    for step in problem.pointer:
        number = step if isinstance(step, int) else 0
        steps.append((isinstance(step, str), number, str(step)))

    return steps, problem.message


def _explain(error: Any) -> Iterator[SchemaProblem]:
    pointer = tuple(error.absolute_path)
    name = ".".join(str(step) for step in pointer) or "the record"
    if error.validator == "additionalProperties":
        yield from _unknown_fields(error, pointer)
    elif error.validator == "required":
        yield from _missing_fields(error, pointer)
    elif error.validator == "pattern" and error.instance == "" and error.schema.get("minLength"):
        return  # `minLength` already says that it is empty
    elif error.validator == "type" and "enum" in error.schema:
        return  # `enum` says it, and what is allowed
    else:
        message, hint = _message(error)
        yield SchemaProblem(pointer, f"`{name}`{message}", hint)


def _unknown_fields(error: Any, pointer: Pointer) -> Iterator[SchemaProblem]:
    fields = list(error.schema.get("properties", {}))
    is_open = "patternProperties" in error.schema
    for field in sorted(set(error.instance) - set(fields), key=str):
        if is_open and str(field).startswith("x-"):
            continue

        near = _nearest(str(field), fields)
        if near:
            hint = f"did you mean `{near}`?"
        elif is_open:
            hint = "own fields start with `x-`"
        else:
            hint = f"one of: {', '.join(fields)}"

        yield SchemaProblem((*pointer, field), f"unknown field `{field}`", hint, unknown_field=True)


def _missing_fields(error: Any, pointer: Pointer) -> Iterator[SchemaProblem]:
    forms = error.schema.get("properties", {})
    for field in error.validator_value:
        if field not in error.instance and f"'{field}'" in error.message:
            hint = f"add `{field}:`"
            description = forms.get(field, {}).get("description", "").rstrip(".")
            if description:
                hint += f" ({description})"

            yield SchemaProblem(pointer, f"`{field}` is missing", hint)


_Fault = tuple[str, str | None]  # what is wrong with a value, and what to do


def _message(error: Any) -> _Fault:
    value = error.instance
    limit = error.validator_value
    match error.validator:
        case "enum":
            return _choice_message(value, [str(choice) for choice in limit])
        case "type":
            return _type_message(value, limit if isinstance(limit, str) else " or ".join(limit))
        case "pattern":
            form = error.schema.get("description") or f"it must match {limit}"
            return _pattern_message(value, limit, form)
        case "maxLength":
            size = len(value)
            message = f" is {size} characters long; at most {limit} are allowed"
            return message, f"shorten it by {size - limit}"
        case "uniqueItems":
            return " holds something twice", "keep each entry once"
        case "minLength":
            message = f" is shorter than {limit} characters" if value else " is empty"
        case "maxItems":
            message = f" has {plural(len(value), 'entry', 'entries')}; at most {limit} are allowed"
        case "maximum":
            message = f" is {value}; the most allowed is {limit}"
        case "minimum":
            message = f" is {value}; the least allowed is {limit}"
        case "anyOf" | "oneOf":
            message = f" is {_shortened_json(value)}, which has none of the forms that it may have"
        case _:
            message = f": {error.message[:200]}"

    return message, None


def _choice_message(value: object, choices: Sequence[str]) -> tuple[str, str]:
    allowed = ", ".join(choices)
    near = _nearest(str(value), choices)
    hint = f"did you mean `{near}`? One of: {allowed}" if near else f"one of: {allowed}"
    if value is None:
        return " is empty", hint

    return f" is {_shortened_json(value)}, which is not allowed", hint


_TYPE_NAMES = {
    "string": "a text",
    "array": "a list",
    "object": "a mapping",
    "integer": "a whole number",
    "boolean": "true or false",
}
_VALUE_NAMES = {
    type(None): "empty",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}


def _type_message(value: object, expected: str) -> _Fault:
    actual = _VALUE_NAMES.get(type(value), type(value).__name__)
    message = f" is {actual}, not {_TYPE_NAMES.get(expected, expected)}"
    if expected == "string" and isinstance(value, (bool, int, float)):
        return message, f'put it in quotes: "{json.dumps(value)}"'
    if expected == "array":
        return message, "write it as a list: […], or a line `- …` for each entry"

    return message, None


def _pattern_message(value: str, pattern: str, form: str) -> tuple[str, str]:
    """Return why a text breaks its pattern; blank texts and line breaks are the usual causes."""
    if not value.strip():
        return " is blank", form

    if _compiled_pattern(pattern).is_valid(" ".join(value.splitlines())):
        return " has a line break", "write it as one line"
    return f" is {_shortened_json(value)}, which does not have the form it needs", form


def _nearest(word: str, choices: Sequence[str]) -> str | None:
    from difflib import get_close_matches  # a valid record needs no hint

    return next(iter(get_close_matches(word, choices, n=1)), None)


def _shortened_json(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=False, default=str), 60)
