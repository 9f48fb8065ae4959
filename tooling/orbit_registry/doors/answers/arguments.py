"""The arguments of an operation as JSON Schema, made from the hints of its function."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from orbit_registry.doors.answers.answer import data_of
from orbit_registry.doors.answers.words import ArgumentWords, Words
from orbit_registry.errors import UsageError, plural
from orbit_registry.model.ids import DIRECTIONS
from orbit_registry.model.kind import PHASES, Kind
from orbit_registry.model.schema import RecordSchema
from orbit_registry.workspace.files import is_there
from orbit_registry.workspace.workspace import refuse_no_path

Schema = Mapping[str, Any]


class Form:
    """What JSON Schema says of an argument but its type: `Annotated[int, Form(minimum=1)]`."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema


Count = Annotated[int, Form(minimum=1)]
Phase = Annotated[str, Form(enum=PHASES)]
Direction = Annotated[str, Form(enum=DIRECTIONS)]
Status = Annotated[str, Form(enum="statuses")]
"""A word of a kind's status table; any word where the command is of no kind."""

GENERAL = Form(general=True)
"""Marks an argument that the command of one kind does not take."""
DOCUMENTS = Form(documents=True)
"""Marks an argument that the command of a kind without documents does not take."""
OF_FILES = Form(of_files=True)
"""Marks an argument that the command of a kind with documents does not take."""
VOTED = Form(voted=True)
"""Marks an argument that only the command of a kind with votes takes."""
OF_RECORDS = Form(of_records=True)
"""Marks an argument that the help of a kind does not list if its text is no field of the record."""
NEW, CHANGED, REMOVED, SHARED = (
    Form(parts=parts) for parts in ("new", "changed", "removed", "shared")
)
"""Mark fields of a record. The command line has an option for each: those of the kind's schema for
a new record, the same to change, entries that a list loses, or only what every kind has.
"""
EAGER = Form(eager=True)
"""Marks an option that decides what else is required."""
TOOL = Form(tool=True)
"""Marks an argument that only a tool takes."""
FieldValues = Annotated[Mapping[str, object], Form(type="object")]
"""The fields of a record, by name."""
EARLIER = Form(hidden=True)
"""Marks an earlier flag: the command takes it, and its help does not list it."""

PUBLISHED = frozenset(("type", "enum", "items", "minimum", "exclusiveMinimum", "maximum", "format"))
"""What is published of a form: the rest says which command has it, and what a path must be."""
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name in Python, its JSON Schema, and how the command line writes it.

    Without flags it is given by its position. `public` is its name over MCP.
    """

    name: str
    public: str
    schema: Schema
    flags: tuple[str, ...]
    metavar: str
    help: str
    default: Any
    required: bool

    @property
    def is_list(self) -> bool:
        """Return whether it may be given several times."""
        return self.schema.get("type") == "array"

    @property
    def is_of_pairs(self) -> bool:
        """Return whether each of its entries has two values."""
        return self.is_list and self.schema["items"].get("type") == "array"


def arguments_of(function: Callable[..., Any], words: Words, kind: Kind | None) -> list[Argument]:
    """Return the arguments of an operation after its call; for a kind, with that kind's choices."""
    hints = function.__annotations__
    if any(isinstance(hint, str) for hint in hints.values()):
        hints = typing.get_type_hints(function, include_extras=True)

    parameters = list(inspect.signature(function).parameters.values())[1:]
    arguments = [
        _argument(parameter, hints[parameter.name], words.arguments, kind)
        for parameter in parameters
    ]
    if kind is None:
        return arguments

    withheld = {"general", "of_files" if kind.in_document else "documents"}
    if not kind.voted:
        withheld.add("voted")

    return [each for each in arguments if withheld.isdisjoint(each.schema)]


def form_of(arguments: Sequence[Argument]) -> dict[str, Any]:
    """Return the JSON Schema of the values that a program gives, by their names in Python."""
    properties = {}
    for argument in arguments:
        schema = {name: part for name, part in argument.schema.items() if name in PUBLISHED}
        properties[argument.name] = {**schema, "description": argument.help}

    return {
        "type": "object",
        "properties": properties,
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": False,
    }


def bound_values(
    name: str,
    arguments: Sequence[Argument],
    placed: Sequence[object],
    values: Mapping[str, object],
) -> Mapping[str, Any]:
    """Return the values of a program's call by name.

    Raises:
        UsageError: one is missing, unknown, given twice or of another form.
    """
    names = [argument.name for argument in arguments]
    hint = f"arguments: {', '.join(names)}"
    if len(placed) > len(names):
        counted = plural(len(placed), "value")
        raise UsageError(f"{name}: {counted} for {plural(len(names), 'argument')}", hint=hint)

    by_place = dict(zip(names, placed, strict=False))
    twice = by_place.keys() & values.keys()
    if twice:
        raise UsageError(f"{name}: `{min(twice)}` is given twice", hint=hint)

    bound = {**by_place, **values}
    optional = {argument.name for argument in arguments if not argument.required}
    with_value: dict[str, object] = {}
    for each, value in bound.items():
        if value is not None or each not in optional:
            with_value[each] = data_of(value)

    refuse_values(name, form_of(arguments), with_value)
    refuse_paths(arguments, bound)
    return bound


def refuse_paths(arguments: Sequence[Argument], values: Mapping[str, object]) -> None:
    """Raise where a path is not what its argument takes.

    Raises:
        UsageError: it is not there, or a file in the place of a folder, or the other way round.
    """
    for argument in arguments:
        path = values.get(argument.name)
        if isinstance(path, Path):
            refuse_path(path, argument.schema)


TO_READ: Schema = {"exists": True, "dir_okay": False}
"""What the path of a file that is read has to be."""


def refuse_path(path: Path, takes: Schema, name: str = "") -> None:
    """Raise where a path, which the caller writes as `name`, is not what is taken: see
    `refuse_paths`.
    """
    name = name or str(path)
    refuse_no_path(str(path))
    expected = "folder" if takes.get("file_okay") is False else "file"
    hint = f"name a {expected}"
    if not is_there(path):
        if takes.get("exists"):
            raise UsageError(f"{name} is not there", hint=f"{hint} that is there")
    elif path.is_dir() and takes.get("dir_okay") is False:
        raise UsageError(f"{name} is a folder", hint=hint)
    elif not path.is_dir() and takes.get("file_okay") is False:
        raise UsageError(f"{name} is a file", hint=hint)


def refuse_values(name: str, form: Schema, values: Mapping[str, object]) -> None:
    """Raise where the values of a call do not have the form that is asked for.

    Raises:
        UsageError: one is missing, unknown or of another form.
    """
    for each, value in values.items():
        if _has_zero_byte(value):
            raise UsageError(f"{name}: `{each}` has a zero byte", hint="leave that byte out")

    problems = RecordSchema(form, Path(name)).problems(values)
    if not problems:
        return

    message = "; ".join(problem.message for problem in problems[:5])
    hints = [problem.hint for problem in problems if problem.hint]
    raise UsageError(
        f"{name}: {message.replace('`the record`', 'the call')}",
        hint=hints[0] if hints else f"arguments: {', '.join(form['properties'])}",
    )


def _has_zero_byte(value: object) -> bool:
    """Return whether a text in a value has a byte that no path, command or record may have."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(map(_has_zero_byte, (*value, *value.values())))
    return isinstance(value, list | tuple) and any(map(_has_zero_byte, value))


def _argument(
    parameter: inspect.Parameter, hint: Any, words: Mapping[str, ArgumentWords], kind: Kind | None
) -> Argument:
    name = parameter.name
    written = words.get(name, ArgumentWords(""))
    schema = schema_of(hint, kind)
    required = parameter.default is inspect.Parameter.empty
    is_placed = (required and not written.flags) or written.metavar.startswith("[")

    flags = written.flags
    if not flags and not is_placed:
        stem = name.removesuffix("s") if schema.get("type") == "array" else name
        flags = (f"--{stem.replace('_', '-')}",)

    is_single = schema.get("type") != "array"
    public = name
    if is_single and is_placed and written.metavar.strip("[].{}").isupper():
        public = written.metavar.strip("[].{}").lower()
    elif is_single and written.flags:
        public = written.flags[-1].lstrip("-").partition("/")[0].replace("-", "_")

    public = schema.get("over_mcp", public)
    default = None if required else parameter.default
    return Argument(name, public, schema, flags, written.metavar, written.help, default, required)


def schema_of(hint: Any, kind: Kind | None = None) -> Schema:
    """Return the JSON Schema of a type: plain types, lists, choices, and what `Annotated` adds."""
    if get_origin(hint) is Annotated:
        inner, *additions = get_args(hint)
        schema = dict(schema_of(inner, kind))
        for addition in additions:
            schema.update(addition.schema)
        return _with_choices(schema, kind)

    if get_origin(hint) in (Union, types.UnionType):
        (inner,) = (part for part in get_args(hint) if part is not type(None))
        return schema_of(inner, kind)

    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}

    if get_origin(hint) in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(get_args(hint)[0], kind)}

    if hint is Path:
        return {"type": "string", "format": "path"}

    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"type": "string", "enum": [member.value for member in hint]}

    return {"type": _PLAIN.get(hint, "string")}


def _with_choices(schema: dict[str, Any], kind: Kind | None) -> Schema:
    """Return a schema whose choices are those of a kind; without one, none are named."""
    if schema.get("enum") == "statuses":
        del schema["enum"]
        if kind is not None:
            schema["enum"] = list(kind.statuses)

    return schema
