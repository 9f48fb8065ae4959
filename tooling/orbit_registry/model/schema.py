"""Owns JSON Schema: merges a kind's schema with the envelope, says whether a value is valid and why it is not.

Two validators: the fast one says whether (about 100 times quicker), the reference one why. A property test holds
them equal. Only this module imports either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orbit_registry.errors import ConfigError

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import ValidationError

ENVELOPE = Path(__file__).parents[1] / "kinds" / "record.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_VERSION = 1
_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Why a value is invalid: the pointer to the part that is wrong, what is wrong, and what to do."""

    pointer: tuple[str | int, ...]
    message: str
    hint: str | None = None
    unknown_field: bool = False


@lru_cache(maxsize=1)
def shared_fields() -> frozenset[str]:
    """Return the names of the fields that records of every kind may have."""
    return frozenset(json.loads(ENVELOPE.read_text("utf-8"))["properties"])


@dataclass(frozen=True)
class RecordSchema:
    """A JSON Schema, which is compiled when a value is first tried: a run knows seven kinds and reads two or three."""

    document: Mapping[str, Any]
    file: Path
    """Where it stands, for errors."""

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the fields, in the order in which new files write them."""
        return tuple(self.document["properties"])

    def longest(self, name: str) -> int:
        """Return how many characters a field holds that has a `maxLength`."""
        return int(self.document["properties"][name]["maxLength"])

    @cached_property
    def managed(self) -> frozenset[str]:
        """The fields that the schema calls `readOnly`: only verbs change them."""
        return frozenset(name for name, form in self.document["properties"].items() if form.get("readOnly") is True)

    @cached_property
    def fast(self) -> jsonschema_rs.Draft202012Validator:
        """The validator that says whether.

        Raises:
            ConfigError: the document is no JSON Schema.
        """
        import jsonschema_rs  # a run in which no record changed tries none

        try:
            return jsonschema_rs.Draft202012Validator(dict(self.document))
        except ValueError as error:
            message = f"{self.file}: not a JSON Schema: {str(error).splitlines()[0]}"
            hint = "write it by the rules of JSON Schema 2020-12, as the shipped ones are"
            raise ConfigError(message, hint=hint) from None

    def is_valid(self, value: object) -> bool:
        """Say whether a value is valid; raises what `fast` does."""
        return bool(self.fast.is_valid(value))

    def problems(self, value: object) -> list[SchemaProblem]:
        """Return what is wrong with a value, in the order of the text as far as pointers tell; empty when valid."""
        if self.is_valid(value):
            return []
        problems = [problem for error in self.reference.iter_errors(value) for problem in _problems(error)]
        return sorted(dict.fromkeys(problems), key=_reading_order)

    @cached_property
    def reference(self) -> Any:
        """The validator that says why; imported on failure only: it costs more than reading 1,000 records."""
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        return extend(Draft202012Validator, {"pattern": _pattern_problems})(self.document)


def _pattern_problems(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[ValidationError]:
    """Yield why a text breaks a pattern, by the fast validator's own reading: Python's `$` lets a line break pass."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not _compiled_pattern(pattern).is_valid(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@lru_cache(maxsize=256)
def _compiled_pattern(pattern: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator({"pattern": pattern})


def compile_schema(file: Path, kind: str, statuses: tuple[str, ...] = ()) -> RecordSchema:
    """Return the schema in `file`, merged with the envelope and the kind's statuses.

    Raises:
        ConfigError: the file is missing or holds no JSON Schema.
    """
    kind_schema = _read(file)
    envelope = _read(ENVELOPE)
    properties = _merged(envelope["properties"], kind_schema.get("properties", {}))
    if statuses:
        properties["status"] = {**properties["status"], "enum": list(statuses)}
    document = {
        "$schema": DIALECT,
        "title": kind_schema.get("title", kind),
        "description": kind_schema.get("description", ""),
        **{key: value for key, value in kind_schema.items() if key not in ("properties", "required", "$defs")},
        "type": "object",
        "required": [*envelope["required"], *kind_schema.get("required", [])],
        "properties": properties,
        "patternProperties": envelope["patternProperties"],
        "additionalProperties": False,
        "$defs": {**envelope["$defs"], **kind_schema.get("$defs", {})},
    }
    return RecordSchema(document, file)


def read_schema(file: Path) -> RecordSchema:
    """Return the schema in a file as it stands, without the envelope."""
    return RecordSchema(_read(file), file)


def _merged(envelope: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Put a kind's fields after the envelope's identity and before its times, and let it narrow shared ones."""
    identity = ("schema_version", "id", "uid", "title", "status")
    order = [*identity, *fields, *envelope]
    return {name: {**envelope.get(name, {}), **fields.get(name, {})} for name in dict.fromkeys(order)}


def read_part(file: Path) -> str:
    """Return the text of a file in a kind's folder.

    Raises:
        ConfigError: it is missing, no regular file, too large, not UTF-8, or a link in a kind that is not shipped.
    """
    can_be_link = ENVELOPE.parent in file.parents  # some installers link a package's files
    try:
        if not can_be_link and (file.is_symlink() or file.parent.is_symlink()):
            raise ConfigError(f"{file} is a symbolic link", hint="put the file itself there")
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ConfigError(f"{file}: not a regular file", hint="make it a file that can be read")
        if (size := file.stat().st_size) > _LIMIT:
            raise ConfigError(
                f"{file} has {size:,} bytes; at most {_LIMIT:,} are read", hint="move long text elsewhere"
            )
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not valid UTF-8", hint="save the file as UTF-8") from None
    except FileNotFoundError:
        raise ConfigError(f"{file} is missing", hint=f"a kind's folder needs a {file.name}") from None
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}", hint="make it a file that can be read") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_part(file))
    except json.JSONDecodeError as error:
        message = f"{file}:{error.lineno}:{error.colno}: not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise ConfigError(message, hint="check quotes, commas and braces near that place") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply", hint="flatten the structure") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: a schema is an object", hint='begin it with `{"properties": {`')
    return value


def _reading_order(problem: SchemaProblem) -> tuple[list[tuple[bool, int, str]], str]:
    steps = [(isinstance(step, str), step if isinstance(step, int) else 0, str(step)) for step in problem.pointer]
    return steps, problem.message


def _problems(error: ValidationError) -> Iterator[SchemaProblem]:
    """Put one validator error into plain words, one problem a cause."""
    import difflib  # what is valid is like nothing

    pointer = tuple(error.absolute_path)
    name = ".".join(str(step) for step in pointer) or "the record"
    keyword = str(error.validator)
    value: Any = error.instance
    expected: Any = error.validator_value
    schema: Any = error.schema
    if keyword == "additionalProperties":
        known = list(schema.get("properties", {}))
        for unknown in sorted(set(value) - set(known), key=str):
            if "patternProperties" not in schema or not str(unknown).startswith("x-"):
                near = difflib.get_close_matches(str(unknown), known, n=1, cutoff=0.6)
                open_to = (
                    "own fields start with `x-`" if "patternProperties" in schema else f"one of: {', '.join(known)}"
                )
                hint = f"did you mean `{near[0]}`?" if near else open_to
                yield SchemaProblem((*pointer, unknown), f"unknown field `{unknown}`", hint, unknown_field=True)
    elif keyword == "required":
        for missing in (field for field in expected if field not in value):
            if f"'{missing}'" in error.message:
                said = schema.get("properties", {}).get(missing, {}).get("description", "")
                hint = f"add `{missing}:`" + (f" ({said.rstrip('.')})" if said else "")
                yield SchemaProblem((*pointer,), f"`{missing}` is missing", hint)
    elif keyword == "enum":
        near = difflib.get_close_matches(str(value), [str(one) for one in expected], n=1)
        choice = ", ".join(str(one) for one in expected)
        hint = f"did you mean `{near[0]}`? One of: {choice}" if near else f"one of: {choice}"
        yield SchemaProblem(pointer, f"`{name}` is {_shortened_json(value)}, which is not allowed", hint)
    elif keyword == "type":
        wanted = expected if isinstance(expected, str) else " or ".join(expected)
        yield SchemaProblem(
            pointer,
            f"`{name}` is {_type_name(value)}, not {_TYPE_NAMES.get(wanted, wanted)}",
            _type_hint(wanted, value),
        )
    elif keyword == "pattern" and value == "" and schema.get("minLength"):
        return  # that it is empty says it all
    elif keyword == "pattern":
        yield _pattern_problem(pointer, name, error)
    elif keyword in ("maxLength", "minLength", "maximum", "minimum", "maxItems"):
        shorter = f"shorten it by {len(value) - expected}" if keyword == "maxLength" else None
        yield SchemaProblem(pointer, f"`{name}` {_limit_message(keyword, expected, value)}", shorter)
    elif keyword == "uniqueItems":
        yield SchemaProblem(pointer, f"`{name}` holds something twice", "keep each entry once")
    else:
        yield SchemaProblem(pointer, f"`{name}`: {error.message[:200]}", None)


_TYPE_NAMES = {
    "string": "a text",
    "array": "a list",
    "object": "a mapping",
    "integer": "a whole number",
    "boolean": "true or false",
}


def _type_name(value: object) -> str:
    names = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a mapping",
    }
    return "empty" if value is None else names.get(type(value), type(value).__name__)


def _type_hint(expected: str, value: object) -> str | None:
    if expected == "string" and not isinstance(value, (list, dict)) and value is not None:
        return f'put it in quotes: "{json.dumps(value)}"'
    if expected == "array":
        return "write it as a list: a line `- …` for each entry"
    return None


def _pattern_problem(pointer: tuple[str | int, ...], name: str, error: ValidationError) -> SchemaProblem:
    """Say why a text breaks its pattern; the usual causes by their names."""
    value: Any = error.instance
    if not value.strip():
        return SchemaProblem(pointer, f"`{name}` is blank", _expected_form(error))
    if _compiled_pattern(str(error.validator_value)).is_valid(" ".join(value.splitlines())):
        return SchemaProblem(pointer, f"`{name}` has a line break", "write it as one line")
    return SchemaProblem(
        pointer, f"`{name}` is {_shortened_json(value)}, which does not have the form it needs", _expected_form(error)
    )


def _expected_form(error: ValidationError) -> str:
    schema: Any = error.schema
    described = schema.get("description")
    return str(described) if described else f"it must match {error.validator_value}"


def _limit_message(keyword: str, expected: int, value: Any) -> str:
    if keyword == "maxLength":
        return f"is {len(value)} characters long; at most {expected} are allowed"
    if keyword == "minLength":
        return "is empty" if not value else f"is shorter than {expected} characters"
    if keyword == "maxItems":
        return f"has {len(value)} entries; at most {expected} are allowed"
    return f"is {value}; the {'most' if keyword == 'maximum' else 'least'} allowed is {expected}"


def _shortened_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
