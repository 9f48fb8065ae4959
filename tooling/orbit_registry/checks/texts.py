"""Texts of a record: for checks of strings, and as compared for duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orbit_registry.formats.position import Pointer
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record import Record
from orbit_registry.search.contrast import Words, contrast
from orbit_registry.search.similarity import normalised
from orbit_registry.search.text import terms

if TYPE_CHECKING:
    from orbit_registry.checks.context import CheckContext
    from orbit_registry.formats.adr.model import AdrDocument


PROSE = "the text"


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a record; `pointer` is None for prose outside the record's file."""

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
    """Yield the texts of a record's file, keys of its own included, and its prose where that is in another file."""
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


_NAMED = "docs/adr/0001-prose.md"
"""A name that lets a bare body be read as one decision."""


def decision_of(context: CheckContext, record: Record) -> AdrDocument | None:
    """Return a decision's entry, or its `body.md` read as one; None where it has no text."""
    home = context.homes.get(record.path)
    if home is not None:
        return home[1]
    if not record.prose.strip():
        return None
    from orbit_registry.formats.adr.reader import read_document

    entries = read_document(record.prose, _NAMED).entries
    return entries[0] if len(entries) == 1 else None


def text_of(context: CheckContext, record: Record) -> str:
    """Return the text that the spans of `decision_of` count in."""
    home = context.homes.get(record.path)
    return home[0].text if home is not None else record.prose


_FORM = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)")
_STATED = re.compile(r"^#{1,6}[ \t]+(?:Status|Date|Deciders|Tags)[ \t]*\r?(?:\n(?!#).*)*", re.MULTILINE)
"""A section that states what header lines do."""
_ASCII_LOWER = bytes(range(256)).lower()
_NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())


def wording(record: Record) -> str:
    """Return a record's headline and prose, without the headings, header lines and prompts that all share."""
    if not record.kind.in_document:
        return f"{record.title}\n{record.prose}"
    # Prompts need the Markdown parser.
    from orbit_registry.repository.documents import is_prompt, may_hold_prompts, prompts_of

    prompts = prompts_of(record.kind.folder, True)
    prose = _STATED.sub("", record.prose)
    lines = [line for line in prose.split("\n") if not _FORM.match(line)]
    if may_hold_prompts(prose, prompts):
        lines = [line for line in lines if not is_prompt(line, prompts)]
    return "\n".join((record.title, *lines))


def says_the_same(first: str, second: str, share: float) -> bool:
    """Say whether one of two sentences holds the other, or a share of the shorter one's words and no other negation."""
    plain, others = normalised(first), normalised(second)
    words = {*terms(plain)}, {*terms(others)}
    fewer, common = min(map(len, words)), len(words[0] & words[1])
    if not fewer or not (f" {plain} " in f" {others} " or f" {others} " in f" {plain} " or common > 1):
        return False
    differs = contrast(Words.of(first), Words.of(second))
    return common >= share * fewer and not (differs is not None and differs.alone)


def letters(text: str) -> bytes:
    """Return the letters and digits of a text, in lower case; texts that are the same but for form give the same."""
    plain = text if text.isascii() else normalised(text)
    return plain.encode("utf-8", "surrogatepass").translate(_ASCII_LOWER, _NO_LETTER)
