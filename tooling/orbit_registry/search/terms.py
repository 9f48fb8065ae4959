"""The terms a text is compared and found by; every index and every query uses these, and nothing here ranks.

A text is brought to Unicode's NFKC form and read as words; identifiers come apart (`parseHTTPHeader`,
`parse_http_header` and `parse-http-header` are all parse, http, header), letters and digits are parted, English words
are stemmed, common words are left out. Writing without spaces between words (Chinese, Japanese, Thai) gives pairs of
neighbouring characters, and so does Korean. A change of what this module returns makes every stored term wrong: raise
`TERMS_VERSION` with it.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain

from orbit_registry.search.stemming import stem

TERMS_VERSION = 1

_LONGEST_TERM = 64
_MOST_REMEMBERED = 100_000

_COMMON = (
    "a an the this that these those there here it its he she they them their we us our you your i me my am is are "
    "was were be been being has have had having does did doing done and or but nor so than then as of at by for "
    "from in into on onto to with within which who whom whose what when where why how s t d m re ve ll can could "
    "don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven "  # codespell:ignore wasn,couldn
    "may might must shall should will would also just only very such same own too some any each both other more most"
)
STOP_WORDS = frozenset(_COMMON.split())

# First a quick, coarse split, whose pieces are remembered; a piece is read closely when it is met for the first time.
_ASCII_PIECE = re.compile(r"[A-Za-z0-9_]+")
_ANY_PIECE = re.compile("[A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\U0010ffff]+")
# What some scripts put on their letters; for a regular expression's character class.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_ASCII_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+"
)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, repeated as often as they occur."""
    if text.isascii():
        pieces = _ASCII_PIECE.findall(text)
    else:
        pieces = _ANY_PIECE.findall(unicodedata.normalize("NFKC", text))
    return list(chain.from_iterable(map(_REMEMBERED.__getitem__, pieces)))


class _Memory(dict[str, tuple[str, ...]]):
    """The terms of each piece met so far; forgets all of them rather than grow without end."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = tuple(term for word in _WORD.findall(piece) for term in _terms_of_word(word))
        if len(piece) <= _LONGEST_TERM:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[piece] = found
        return found


_REMEMBERED = _Memory()


def _terms_of_word(word: str) -> list[str]:
    if _HEX.fullmatch(word):
        return [word]
    parts = _ASCII_PART.findall(word) if word.isascii() else _parts(word)
    found = []
    for part in parts:
        if _UNSPACED.match(part):
            found += [part[i : i + 2] for i in range(max(len(part) - 1, 1))]
            continue
        term = part.lower()[:_LONGEST_TERM]
        if term not in STOP_WORDS:
            found.append(stem(term) if term.isascii() and term.isalpha() else term)
    return found


def _parts(word: str) -> list[str]:
    """Part a word where the script changes to or from one without spaces, and where an identifier's parts meet."""
    parts, start = [], 0
    for i in range(1, len(word) + 1):
        if i == len(word) or _meet(word, i):
            parts.append(word[start:i])
            start = i
    return parts


def _meet(word: str, i: int) -> bool:
    before, here = word[i - 1], word[i]
    unspaced = bool(_UNSPACED.match(here))
    if unspaced or _UNSPACED.match(before):
        return unspaced != bool(_UNSPACED.match(before))
    if before.isdigit() != here.isdigit():
        return True
    if here.isupper():
        return before.islower() or word[i + 1 : i + 2].islower()
    return False
