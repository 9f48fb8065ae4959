"""What of a record is compared for duplicates, its template's prompts left out, and which records say the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from orbit_registry.records.record import Record
from orbit_registry.search.contrast import contrast
from orbit_registry.search.similarity import normalised
from orbit_registry.search.terms import terms

_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][^{}\":;()\n]{0,300}[ |][^{}\":;()\n]{1,300}\}|\[(?:short title|[Dd]escribe|[Ii]nsert) [^\]\n]{0,200}\]"
    r"|TBD\.?|TODO(?:[ :].{0,200})?"
)
_FENCE = re.compile(r"[ \t>]{0,8}(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)")
_DRESS = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?")


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code, with their offsets."""
    at, fenced = 0, False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _INDENTED.match(line):
            yield at, line
        at += len(line) + 1


def is_prompt(line: str, known: frozenset[str]) -> bool:
    """Say whether a line is one of the `known` prompts, or looks like one of a common template."""
    bare = _DRESS.sub("", line).strip()
    return bool(bare) and (bare in known or _PLACEHOLDER.fullmatch(bare) is not None)


@cache
def prompts_of(folder: Path, in_document: bool) -> frozenset[str]:
    """Return the lines that the templates in a kind's folder put where a person is to write."""
    files = (folder / name for name in ("new.md", "entry.md"))
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    if in_document:
        from orbit_registry.text.adr.templates import PROMPTS  # a learning is added without a Markdown parser

        texts += PROMPTS.values()
    lines = (_DRESS.sub("", line).strip() for text in texts for line in text.split("\n"))
    return frozenset(line for line in lines if line and "$" not in line and not line.startswith("#") and " " in line)


_FORM = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)")
_STATED = re.compile(r"^#{1,6}[ \t]+(?:Status|Date|Deciders|Tags)[ \t]*\r?(?:\n(?!#).*)*", re.MULTILINE)
"""A section that states what header lines do."""
_ASCII_LOWER = bytes(range(256)).lower()
_NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())


def wording(record: Record) -> str:
    """Return what a record says: headline and prose, without the headings, header lines and prompts all share."""
    if not record.kind.in_document:
        return f"{record.title}\n{record.prose}"

    known = prompts_of(record.kind.folder, True)
    lines = _STATED.sub("", record.prose).split("\n")
    said = [line for line in lines if not _FORM.match(line) and not is_prompt(line, known)]
    return "\n".join((record.title, *said))


def says_the_same(one: str, other: str, share: float) -> bool:
    """Say whether one of two sentences holds the other, or a share of the shorter one's words and no other negation."""
    plain, others = normalised(one), normalised(other)
    words = {*terms(plain)}, {*terms(others)}
    fewer, common = min(map(len, words)), len(words[0] & words[1])
    if not fewer or not (f" {plain} " in f" {others} " or f" {others} " in f" {plain} " or common > 1):
        return False
    differs = contrast(one, other)
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
