"""Terms of a text, by which it is compared and found: words in NFKC form, in lower case, stemmed.

`hook.words` says what a word is; here many texts are read, so pieces are parted by regular
expressions and remembered.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain

import Stemmer

from orbit_registry.formats.wording import plain
from orbit_registry.hook.words import MARKS, PIECE, split_word, words_of

_MOST_REMEMBERED = 100_000
_ENGLISH = Stemmer.Stemmer("english")
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_PIECE = re.compile(f"[{PIECE}]+")
_CAMEL = re.compile(r"\b(?:[A-Za-z]{0,10}[a-z][A-Z]|[A-Z]{2,10}[a-z])[A-Za-z]{1,10}\b")
_LONGEST_JOINED = 12


def words(text: str) -> list[str]:
    """Return the words of `text` in their order, repeated as often as they occur."""
    return list(chain.from_iterable(map(_words_of_piece, _pieces(text))))


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, repeated as often as they occur."""
    return list(map(stem, words(text)))


def joined_names(text: str) -> list[str]:
    """Return the short joined names of a text, which its words part: `sqlite` of SQLite."""
    pieces = (piece for piece in _pieces(text) if not piece[1:].islower())
    return list(chain.from_iterable(map(_joined_names, pieces)))


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(unicodedata.normalize("NFKC", text))


@lru_cache(_MOST_REMEMBERED)
def _joined_names(piece: str) -> tuple[str, ...]:
    return tuple(name.lower() for name in _CAMEL.findall(piece) if len(name) <= _LONGEST_JOINED)


@lru_cache(_MOST_REMEMBERED)
def stem(word: str) -> str:
    """Return the term of a word: without accents, so that `deja` finds `déjà`; English ones are
    stemmed by Porter's second algorithm.
    """
    if not word.isascii():
        word = plain(word) or word

    if word.isascii() and word.isalpha():
        return str(_ENGLISH.stemWord(word))

    return word


@lru_cache(_MOST_REMEMBERED)
def _words_of_piece(piece: str) -> tuple[str, ...]:
    if piece.isascii():
        return tuple(words_of(piece))

    return tuple(chain.from_iterable(map(split_word, _WORD.findall(piece))))
