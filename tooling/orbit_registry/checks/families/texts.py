"""What stands in any text of a record, character by character (405, 406): what nobody sees, and secrets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.record import Record
from orbit_registry.text.secrets import NEEDLES, find_secrets
from orbit_registry.text.yaml_problem import Pointer

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


# Joiners (U+200C, U+200D) and variation selectors belong to scripts and emoji, so they are allowed.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONTROL_NAMES = {"\x1b": "ESCAPE", "\x00": "NULL", "\x07": "BELL", "\x08": "BACKSPACE", "\x7f": "DELETE"}


def run_hidden_characters(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each text with direction, control or zero-width characters, at the first of them."""
    for record in context.spelling.unusual():
        for text in strings_of(record):
            first = HIDDEN.search(text.value) if not text.value.isascii() or not text.value.isprintable() else None
            if first is None:
                continue
            count = len(HIDDEN.findall(text.value))
            more = f" and {count - 1} more" if count > 1 else ""
            message = f"{text.name} of {record.id} holds the hidden character {_name(first[0])}{more}"
            yield HIDDEN_CHARACTERS.at(text.place(context, record, first.start()), message, record=record)


def _name(character: str) -> str:
    name = unicodedata.name(character, _CONTROL_NAMES.get(character, "control character"))
    return f"U+{ord(character):04X} ({name.lower()})"


HIDDEN_CHARACTERS = Check(
    "ORB405",
    "hidden-characters",
    Severity.ERROR,
    "A text holds characters that nobody sees: they can reverse, hide or smuggle words.",
    "type the line anew, without what was pasted",
    run_hidden_characters,
)


def run_secret(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each secret in any text of a record; the secret itself is never shown."""
    for record in context.spelling.suspects(NEEDLES):
        for text in strings_of(record):
            for suspect in find_secrets(text.value):
                length = suspect.end - suspect.start
                message = f"{text.name} of {record.id} holds a secret: {suspect.kind}, {length} characters"
                yield SECRET.at(text.place(context, record, suspect.start), message, record=record)


SECRET = Check(
    "ORB406",
    "secret",
    Severity.ERROR,
    "A record or its document holds a secret.",
    "withdraw the secret where it is valid, then remove it here; git keeps the old text in its history",
    run_secret,
)
