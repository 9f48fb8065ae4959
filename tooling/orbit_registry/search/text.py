"""Terms of a text, by which it is compared and found: words in NFKC form, in lower case, stemmed.

`hook.words` says what a word is; here many texts are read, so pieces are parted by regular
expressions and remembered.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain

import Stemmer

from orbit_registry.hook.words import LONGEST_WORD, MARKS, PIECE, split_name, split_word, words_of

_MOST_REMEMBERED = 100_000
_ENGLISH = Stemmer.Stemmer("english")
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
PIECES = re.compile(f"[{PIECE}]+")
_CAMEL = re.compile(r"\b(?:[A-Za-z]{0,10}[a-z][A-Z]|[A-Z]{2,10}[a-z])[A-Za-z]{1,10}\b")
_LONGEST_JOINED = 12
_MIXED = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]")
SHORTEST_NAME = 2  # parts of an identifier


def words(text: str) -> list[str]:
    """Return the words of `text` in their order, repeated as often as they occur."""
    return list(chain.from_iterable(map(words_of_piece, pieces(text))))


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, repeated as often as they occur."""
    return list(map(stem, words(text)))


@lru_cache(_MOST_REMEMBERED)
def name_of(piece: str) -> str:
    """Return a piece of several parts as one word: `pooltimeout` of PoolTimeout and pool_timeout.

    It is empty where the piece is one word, or is in no alphabet of identifiers.
    """
    is_word = piece.isalpha() and piece[1:].islower()
    if is_word or not piece.isascii() or len(piece) > LONGEST_WORD:
        return ""

    name = piece.replace("_", "").lower()
    if name.isdigit() or len(split_name(piece)) < SHORTEST_NAME:
        return ""

    return name


def is_mixed(piece: str) -> bool:
    """Say whether letters and digits follow each other in an identifier: `k8s`, `sha256`."""
    return _MIXED.search(piece) is not None


def pieces(text: str) -> tuple[str, ...]:
    """Return the runs of letters, digits, marks and underscores of a text."""
    return tuple(PIECES.findall(unicodedata.normalize("NFKC", text)))


@lru_cache(_MOST_REMEMBERED)
def joined_names(piece: str) -> tuple[str, ...]:
    """Return the short joined names in a piece, which words part: `sqlite` of SQLite."""
    if piece[1:].islower():
        return ()

    return tuple(name.lower() for name in _CAMEL.findall(piece) if len(name) <= _LONGEST_JOINED)


@lru_cache(_MOST_REMEMBERED)
def stem(word: str) -> str:
    """Return the term of a word; English ones are stemmed by Porter's second algorithm."""
    if word.isascii() and word.isalpha():
        return str(_ENGLISH.stemWord(word))

    return word


@lru_cache(_MOST_REMEMBERED)
def words_of_piece(piece: str) -> tuple[str, ...]:
    """Return the words of a piece of a text, in their order."""
    if piece.isascii():
        return tuple(words_of(piece))

    return tuple(chain.from_iterable(map(split_word, _WORD.findall(piece))))
