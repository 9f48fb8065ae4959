"""ORB405: characters that people don't see and programs act on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.content.strings import Text, prose_of, strings_of
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.spelling import Spelling
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record

# Joiners (U+200C, U+200D) and variation selectors belong to scripts and emoji, so they are allowed.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONTROL_NAMES = {"\x1b": "ESCAPE", "\x00": "NULL", "\x07": "BELL", "\x08": "BACKSPACE", "\x7f": "DELETE"}


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each text with direction, control or zero-width characters, at the first of them."""
    for record, texts in _unusual(context):
        for text in texts:
            first = HIDDEN.search(text.value) if not text.value.isascii() or not text.value.isprintable() else None
            if first is None:
                continue
            count = len(HIDDEN.findall(text.value))
            more = f" and {count - 1} more" if count > 1 else ""
            message = f"{text.name} of {record.id} holds the hidden character {_name(first[0])}{more}"
            yield CHECK.at(text.place(context, record, first.start()), message, record=record)


def _unusual(context: CheckContext) -> Iterator[tuple[Record, Iterator[Text]]]:
    """Yield the records that may have such characters, with the texts that may."""
    unknown = (record for record in context.records if record.path not in context.usual)
    yield from ((record, strings_of(record)) for record in Spelling(unknown).unusual())
    known = (record for record in context.records if not record.kind.in_record and record.path in context.usual)
    yield from ((record, prose_of(record)) for record in known)


def _name(character: str) -> str:
    name = unicodedata.name(character, _CONTROL_NAMES.get(character, "control character"))
    return f"U+{ord(character):04X} ({name.lower()})"


CHECK = Check(
    "ORB405",
    "hidden-characters",
    Severity.ERROR,
    "A text holds characters that nobody sees: they can reverse, hide or smuggle words.",
    "type the line anew, without what was pasted",
    run,
)
