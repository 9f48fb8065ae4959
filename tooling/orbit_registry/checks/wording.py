"""What of a record is compared for duplicates, and which records say the same but for form."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from orbit_registry.records.record import Record
from orbit_registry.search.contrast import Words, contrast
from orbit_registry.search.similarity import normalised
from orbit_registry.search.terms import terms

_FORM = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)")
_STATED = re.compile(r"^#{1,6}[ \t]+(?:Status|Date|Deciders|Tags)[ \t]*\r?(?:\n(?!#).*)*", re.MULTILINE)
"""A section that states what header lines do."""
_ASCII_LOWER = bytes(range(256)).lower()
_NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())


def wording(record: Record) -> str:
    """Return what a record says: headline and prose, without the headings, header lines and prompts all share."""
    if not record.kind.in_document:
        return f"{record.title}\n{record.prose}"
    # Prompts need the Markdown parser.
    from orbit_registry.store.decisions.prompt_lines import is_prompt, may_hold_prompts, prompts_of

    known = prompts_of(record.kind.folder, True)
    prose = _STATED.sub("", record.prose)
    said = [line for line in prose.split("\n") if not _FORM.match(line)]
    if may_hold_prompts(prose, known):
        said = [line for line in said if not is_prompt(line, known)]
    return "\n".join((record.title, *said))


def says_the_same(one: str, other: str, share: float) -> bool:
    """Say whether one of two sentences holds the other, or a share of the shorter one's words and no other negation."""
    plain, others = normalised(one), normalised(other)
    words = {*terms(plain)}, {*terms(others)}
    fewer, common = min(map(len, words)), len(words[0] & words[1])
    if not fewer or not (f" {plain} " in f" {others} " or f" {others} " in f" {plain} " or common > 1):
        return False
    differs = contrast(Words.of(one), Words.of(other))
    return common >= share * fewer and not (differs is not None and differs.alone)


def copies(texts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the keys of texts that are the same but for case, punctuation and spaces, in groups of two and more."""
    alike: dict[bytes, list[tuple[str, str]]] = defaultdict(list)
    for key, text in texts:
        alike[letters(text)].append((key, text))
    found: dict[str, list[str]] = defaultdict(list)
    for said, held in alike.items():
        if said and len(held) > 1:
            for key, text in held:
                found[normalised(text)].append(key)
    return [keys for keys in found.values() if len(keys) > 1]


def letters(text: str) -> bytes:
    """Return the letters and digits of a text, in lower case; texts that are the same but for form give the same."""
    plain = text if text.isascii() else normalised(text)
    return plain.encode("utf-8", "surrogatepass").translate(_ASCII_LOWER, _NO_LETTER)
