"""The texts of a record: each with its name and a way to its place, and a decision's prose as sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Location
from orbit_registry.records.record import Record
from orbit_registry.text.position import Pointer

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument

PROSE = "the text"


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a record; `pointer` is None for prose that stands outside the record's file."""

    name: str
    value: str
    pointer: Pointer | None

    def place(self, context: CheckContext, record: Record, offset: int) -> Location:
        """Return the place of one of its characters."""
        if self.pointer is None:
            return context.in_prose(record, offset)
        if len(self.pointer) == 1:
            return context.in_field(record, str(self.pointer[0]), self.value, offset)
        return context.at(record, *self.pointer)


def strings_of(record: Record) -> Iterator[Text]:
    """Yield the texts of a record's file, keys of its own included, and its prose where that stands elsewhere."""
    yield from _below(record.data, ())
    yield from prose_of(record)


def prose_of(record: Record) -> Iterator[Text]:
    """Yield a record's prose where that stands outside its file."""
    if not record.kind.in_record and record.prose:
        yield Text(PROSE, record.prose, None)


def _below(value: object, pointer: Pointer) -> Iterator[Text]:
    if isinstance(value, str):
        yield Text(".".join(str(step) for step in pointer), value, pointer)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _below(entry, (*pointer, str(key)))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _below(entry, (*pointer, index))


_NAMED = "docs/adr/0001-prose.md"
"""A name that lets a bare body be read as one decision."""


def decision_of(context: CheckContext, record: Record) -> AdrDocument | None:
    """Return a decision's entry, or its `body.md` read as one; None where it has no text."""
    home = context.homes.get(record.path)
    if home is not None:
        return home[1]
    if not record.prose.strip():
        return None
    from orbit_registry.text.adr import read_document

    entries = read_document(record.prose, _NAMED).entries
    return entries[0] if len(entries) == 1 else None


def text_of(context: CheckContext, record: Record) -> str:
    """Return the text that the spans of `decision_of` count in."""
    home = context.homes.get(record.path)
    return home[0].text if home is not None else record.prose
