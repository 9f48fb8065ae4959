"""An answer: data once, and one renderer that makes the text of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from orbit_registry.doors.render.blocks import Block
from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.votes import format_time


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers, the same at every door.

    `next` are commands that make sense now. `notes` are for a person alone, after the text,
    as `remarks` are, which are not printed below JSON. `warned` are diagnostics
    that a text names first, on standard error. If not
    `ok`, a command ends with `exit_code`. `refused` are the parts of a call that were refused.
    `paths` and `record_ids` are what it is about: over MCP, more records for those paths are added.
    `is_block`: the text is a block of `hook.render`, already safe, whose marks must stay. `stream`
    has what comes later, as data and text: a command prints that alone, one entry after the other.
    """

    data: object
    text: str | Sequence[Block] = ""
    next: Sequence[str] = ()
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    diagnostics: Sequence[Diagnostic] = ()
    warned: Sequence[Diagnostic] = ()
    ok: bool = True
    exit_code: int = 1
    refused: Sequence[OrbitError] = ()
    paths: Sequence[str] = ()
    record_ids: Sequence[str] = ()
    is_block: bool = False
    stream: Iterable[tuple[object, str]] = ()


def answer_of(result: Any, *following: str) -> Answer:
    """Return the answer of what an operation returned: itself, or made from a dataclass.

    The data of a dataclass are its fields, unless it has `as_data`. Its text is what `text`
    returns. It may have `next_commands`, which `following` replaces, `notes`, `ok`, and
    `record_ids`.
    """
    if isinstance(result, Answer):
        return dataclasses.replace(result, data=data_of(result.data))

    return Answer(
        data_of(result),
        result.text(),
        following or getattr(result, "next_commands", ()),
        getattr(result, "notes", ()),
        ok=getattr(result, "ok", True),
        record_ids=getattr(result, "record_ids", ()),
    )


def data_of(value: Any) -> object:
    """Return a value as JSON data: dataclasses by field, words of an enumeration, times."""
    if hasattr(value, "as_data"):
        return value.as_data()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: data_of(getattr(value, field.name)) for field in fields}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): data_of(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [data_of(part) for part in value]
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Path):
        return str(value)

    return value
