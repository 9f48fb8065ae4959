"""Terms of a text, by which it is compared and found: words in Unicode's NFKC form, split, in lower case, stemmed.

Identifiers come apart (`parseHTTPHeader`, `parse_http_header` and `parse-http-header` are all parse, http, header),
letters and digits are parted, common words are left out. Writing without spaces between words (Chinese, Japanese, Thai)
gives pairs of neighbouring characters, and so does Korean.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain

import Stemmer

LONGEST_TERM = 64
_MOST_REMEMBERED = 100_000

_COMMON = (
    "a an the this that these those there here it its he she they them their we us our you your i me my am is are "
    "was were be been being has have had having does did doing done and or but nor so than then as of at by for "
    "from in into on onto to with within which who whom whose what when where why how s t d m re ve ll can could "
    "don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven "  # codespell:ignore wasn,couldn
    "may might must shall should will would also just only very such same own too some any each both other more most"
)
STOP_WORDS = frozenset(_COMMON.split())
_ENGLISH = Stemmer.Stemmer("english")

# First a quick, coarse split, whose pieces are remembered; a piece is read closely when it is met for the first time.
_ASCII_PIECES = "".join(sign if (sign := chr(code)).isalnum() or sign == "_" else " " for code in range(128))
# What pieces are made of; this and the next two are for a regular expression's character class.
PIECE = "A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\U0010ffff"
# What some scripts put on their letters.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_ASCII_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")
# Writing without spaces between words, and Korean.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)


@cache
def _characters(characters: str) -> re.Pattern[str]:
    """Return the pattern of a run of characters, made when a text is met that is not ASCII: it takes 2 to 4 ms."""
    return re.compile(f"[{characters}]+")


def words(text: str) -> list[str]:
    """Return the words of `text` in their order, repeated as often as they occur."""
    if text.isascii():
        pieces = text.translate(_ASCII_PIECES).split()  # two thirds of what a regular expression takes
    else:
        pieces = _characters(PIECE).findall(unicodedata.normalize("NFKC", text))
    return list(chain.from_iterable(map(_words_of_piece, pieces)))


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, repeated as often as they occur."""
    return list(map(stem, words(text)))


@lru_cache(_MOST_REMEMBERED)
def stem(word: str) -> str:
    """Return the term of a word; English ones are stemmed by Porter's second algorithm."""
    return str(_ENGLISH.stemWord(word)) if word.isascii() and word.isalpha() else word


@lru_cache(_MOST_REMEMBERED)
def _words_of_piece(piece: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_split, _WORD.findall(piece))))


def _split(word: str) -> list[str]:
    if _HEX.fullmatch(word):
        return [word]
    parts = _ASCII_PART.findall(word) if word.isascii() else _parts(word)
    result = []
    for part in parts:
        if not part.isascii() and _characters(UNSPACED).match(part):
            result += [part[at : at + 2] for at in range(max(len(part) - 1, 1))]
            continue
        lower = part.lower()[:LONGEST_TERM]
        if lower not in STOP_WORDS:
            result.append(lower)
    return result


def _parts(word: str) -> list[str]:
    """Part a word where the script changes to or from one without spaces, and where an identifier's parts meet."""
    parts, start = [], 0
    for end in range(1, len(word) + 1):
        if end == len(word) or _meet(word, end):
            parts.append(word[start:end])
            start = end
    return parts


def _meet(word: str, i: int) -> bool:
    before, here = word[i - 1], word[i]
    is_unspaced = _characters(UNSPACED).match
    unspaced = bool(is_unspaced(here))
    if unspaced or is_unspaced(before):
        return unspaced != bool(is_unspaced(before))
    if before.isdigit() != here.isdigit():
        return True
    if here.isupper():
        return before.islower() or word[i + 1 : i + 2].islower()
    return False
