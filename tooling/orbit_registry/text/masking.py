"""Strikes names out of texts, however they are spelt there; which names, and why, is its caller's business."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from orbit_registry.text.shown import READINGS, meant

MASK, REDACTED = "[withheld]", "[redacted]"
"""What stands in the place of a name that is kept back, and of what a pattern strikes out."""
_WORD = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z]+|[0-9]+|[^\W0-9_A-Za-z]")
"""An escaped character of an address, a run of letters, one of digits, or a letter of another alphabet."""
_FARTHEST = 8
"""How many characters may part two words of a name: `ADR-0005`, `adr_5`, a title that goes on in the next line."""


def words_of(text: str) -> tuple[str, ...]:
    """Return a name's words as they are compared: whatever their case, numbers without the zeros before them."""
    return tuple(_form(word) for word in _WORD.findall(text) if word[0] != "%")


def _form(word: str) -> str:
    return (word.lstrip("0") or "0") if word.isdecimal() else word.casefold()


@dataclass(slots=True)
class _Node:
    next: dict[str, _Node] = field(default_factory=dict)
    struck: bool | None = None
    """Whether the name that ends here is struck out or stays; None where none ends."""


def is_masked(text: str) -> bool:
    """Say whether something was taken out of a text."""
    return MASK in text or REDACTED in text


def struck_out(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text with `REDACTED` in the place of all that a pattern matches, as it is written or as it is shown."""
    return _struck(pattern.sub(REDACTED, text), lambda plain: (one.span() for one in pattern.finditer(plain)), REDACTED)


def _struck(text: str, find: Callable[[str], Iterable[tuple[int, int]]], mask: str) -> str:
    """Return a text without what is found in the ways to read it, but for what is found as it is written."""
    for reading in READINGS:
        shown = reading(text)
        if shown is None:
            continue
        out: list[str] = []
        end = 0
        for start, stop in find(shown.plain):
            span = shown.span(start, stop) if stop > start else None
            if span is not None and span[0] >= end:
                out += [text[end : span[0]], mask, shown.left(*span)]
                end = span[1]
        text = "".join([*out, text[end:]])
    return text


class Names:
    """Names to strike out, and names that stay although one of the others is part of them.

    What stands between words does not matter: `Use a secret vault` is found in `use-a-secret-vault.md`, and
    `ADR-0005` in `adr 5`. Of the names that begin at one place the longest counts.
    """

    def __init__(self, struck: Iterable[str], kept: Iterable[str] = ()) -> None:
        self._top = _Node()
        for names, is_struck in ((kept, False), (struck, True)):
            for name in names:
                for spelt in {name, meant(name)}:
                    self._put(words_of(spelt), is_struck)

    def _put(self, words: Iterable[str], is_struck: bool) -> None:
        node = self._top
        for word in words:
            node = node.next.setdefault(word, _Node())
        if node is not self._top:
            node.struck = is_struck

    def masked(self, text: str) -> str:
        """Return a text with `MASK` in the place of every name to strike out; the very text where it holds none."""
        if not self._top.next:
            return text
        out: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            out += [text[end:start], MASK]
            end = stop
        written = "".join([*out, text[end:]]) if out else text
        found = _struck(written, self._spans, MASK)
        return text if found == text else found

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where names to strike out stand, in order."""
        found = [match for match in _WORD.finditer(text) if match[0][0] != "%"]
        at = 0
        while at < len(found):
            struck, length = self._longest(found, at)
            if struck:
                yield found[at].start(), found[at + length - 1].end()
            at += max(length, 1)

    def _longest(self, found: list[re.Match[str]], at: int) -> tuple[bool, int]:
        """Return whether the name that begins with a word is struck out, and its number of words: 0 where none does."""
        node, best = self._top, (False, 0)
        for place in range(at, len(found)):
            if place > at and found[place].start() - found[place - 1].end() > _FARTHEST:
                break
            below = node.next.get(_form(found[place][0]))
            if below is None:
                break
            node = below
            if node.struck is not None:
                best = (node.struck, place - at + 1)
        return best
