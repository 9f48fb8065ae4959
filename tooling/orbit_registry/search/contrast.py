"""Contrast of two texts: the negations and numbers in which they differ.

The cosine of `similarity` can't tell `retry` from `do not retry`, or 30 seconds from 60.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_DENYING = "not no never none nothing nobody neither nor without cannot nowhere"  # codespell:ignore nobody
_NEGATIONS = frozenset(_DENYING.split())
_AUXILIARIES = "do does did is are be was were can must should shall will would may might has have had it"
_SUPPORT = frozenset(_AUXILIARIES.split())
"""Words that come and go with a negation: `retry`, `do not retry`."""
_SHORTENED = re.compile(r"(.*)n['’]t")
_LISTED = 4
_ROOTS = {"ca": "can", "wo": "will", "sha": "shall"}


@dataclass(frozen=True, slots=True)
class Contrast:
    """The negations and numbers that only one of two texts has, each in order; `alone` where nothing else differs."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    alone: bool

    @property
    def sentence_end(self) -> str:
        """The contrast as it follows what two texts have in common."""
        return f"; {'but ' if self.alone else ''}{self}"

    def __str__(self) -> str:
        if not self.first or not self.second:
            return f"only one of them says {_some(self.first or self.second)}"
        return f"one says {_some(self.first)}, the other {_some(self.second)}"


def _some(words: Sequence[str]) -> str:
    """Return the first few words: two long texts may differ in a hundred numbers."""
    listed = ", ".join(f"`{word}`" for word in words[:_LISTED])
    return f"{listed} and {len(words) - _LISTED} more" if len(words) > _LISTED else listed


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, cut once for all texts that it is compared with."""

    counts: Counter[str]
    negated: Counter[str]
    """Each negation with the word after it."""

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text."""
        words = _words(text)
        pairs = pairwise(words)
        negated = (f"{word} {after}" for word, after in pairs if word in _NEGATIONS and not _is_mark(after))
        return cls(Counter(words), Counter(negated))


def contrast(first: Words, second: Words) -> Contrast | None:
    """Return in which negations and numbers two texts differ; None where they have the same ones."""
    more, less = first.counts - second.counts, second.counts - first.counts
    marks = [tuple(sorted(filter(_is_mark, words))) for words in (more, less)]
    if any(marks):
        other_words = [word for word in (*more, *less) if not _is_mark(word) and word not in _SUPPORT]
        return Contrast(marks[0], marks[1], alone=not other_words)
    if more or less:
        return None
    moved = [tuple(sorted(words)) for words in (first.negated - second.negated, second.negated - first.negated)]
    return Contrast(moved[0], moved[1], alone=True) if len(first.counts) <= _SENTENCE and any(moved) else None


_SENTENCE = 40
"""Texts of up to so many distinct words differ by a moved negation too: `tabs, not spaces`."""


def _words(text: str) -> list[str]:
    words = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        shortened = _SHORTENED.fullmatch(word)
        if shortened is not None:
            words += [_ROOTS.get(shortened[1], shortened[1]), "not"]
        else:
            words += ["can", "not"] if word == "cannot" else [word]
    return words


def _is_mark(word: str) -> bool:
    return word in _NEGATIONS or word[0].isdigit()
