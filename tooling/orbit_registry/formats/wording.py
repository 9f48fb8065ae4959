"""Words of a text as a reader compares them: without form, with the negations and numbers that
change what it says.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from orbit_registry.errors import listed

# What some scripts put on their letters, as `hook.words` has it, which imports no other room.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_PUNCTUATION = re.compile(f"(?:_|[^\\w{MARKS}])+")
_SIGNED = re.compile(r"(?<!\w)([a-z])(\+\+|\#(?!\w))")  # names that a sign tells apart
_ID = r"(?:[a-z0-9-]+:)?(?:ADR-[0-9]{4,6}|[A-Z]{1,3}-[0-9a-hjkmnp-tv-z]{5})"
_CITATION = re.compile(rf"(?<![ \t])[ \t]*[(\[](?:(?:see|from)[ \t]+)?{_ID}(?:,[ \t]*{_ID})*[)\]]")


def without_citations(text: str) -> str:
    """Return a text without the records that it cites in brackets: ` (L-7k3fq, ADR-0007)`."""
    return _CITATION.sub("", text)


@lru_cache(maxsize=4096)  # two checks ask about the same texts
def normalised(text: str) -> str:
    """Return a text without differences of case, punctuation and white space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _PUNCTUATION.sub(" ", _SIGNED.sub(_spelled, plain)).strip()


_SIGNS = re.compile(
    r"(?<![\w)\]])(?:-{1,2}(?=\w)|[+./@~$€£](?=\w))|[<>=≤≥≠±&|€$£%]+|[\u2600-\u27bf\U0001f300-\U0001faff]"
)


@lru_cache(maxsize=4096)
def signs_of(text: str) -> tuple[str, ...]:
    """Return the signs that tell texts of the same words apart, in order: `-1`, `.env`."""
    return tuple(_SIGNS.findall(unicodedata.normalize("NFKC", text)))


def _spelled(match: re.Match[str]) -> str:
    return f"{match[1]}plus" if match[2] == "++" else f"{match[1]}sharp"


_WORD = re.compile(
    r"[a-z](?:\+\+|\#(?!\w))|\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+|\d+)?",
)
"""A word, a number, or a name with its sign or digits: `C++`, `C#`, `S3`."""
_DENYING = (
    "not no never none nothing nobody neither nor without "  # codespell:ignore nobody
    "cannot nowhere nicht nichts nie niemals niemand "
    "kein keine keinem keinen keiner keines ohne weder"
)
NEGATIONS = frozenset(_DENYING.split())
_AUXILIARIES = (
    "do does did is are be was were can must should shall will would may might has have had it"
)
_SUPPORT = frozenset(_AUXILIARIES.split())
"""Words that come and go with a negation: `retry`, `do not retry`."""
_SHORTENED = re.compile(r"(.*)n['’]t")
_LISTED = 4
_SENTENCE = 40
"""Texts of up to so many distinct words differ by a moved negation too: `tabs, not spaces`."""
_NUMBER_WORDS = (
    "2 two zwei 3 three drei 4 four vier 5 five fünf 6 six sechs 7 seven sieben "
    "8 eight acht 9 nine neun 10 ten zehn 11 eleven elf 12 twelve zwölf 15 fifteen fünfzehn "
    "20 twenty zwanzig 30 thirty dreissig 40 forty vierzig 50 fifty fünfzig 60 sixty sechzig "
    "90 ninety neunzig 100 hundred hundert 1000 thousand tausend"
)
"""Numbers, each before its words; `one` counts nothing in `one of them`."""


def _numbers() -> dict[str, str]:
    numbers: dict[str, str] = {}
    number = ""
    for word in _NUMBER_WORDS.split():
        if word.isdigit():
            number = word
        else:
            numbers[word] = number

    return numbers


_NUMBERS = _numbers()
_CHOOSING_WORDS = (
    "a ahead always an anstatt anstelle auf before but by change choose convert durch ersetze "
    "ersetzen ersetzt for from gegen i im in instead into migrate move nicht nimm nutze of on only "
    "our over pick place port prefer rather replace replaces should sondern statt substitute swap "
    "switch take than that the to use uses using vom von vor we wechsle with write zu zum zur"
)
_CHOOSING = frozenset(_CHOOSING_WORDS.split())
"""Words that say which of two is chosen, and those around them."""
_ORDERS = [
    re.compile(pattern)
    for pattern in (
        r"\A(?:instead of|rather than|statt|anstatt|anstelle von) (?P<refused>.+?) "
        r"(?:use|take|choose|prefer|nutze|nimm|we) (?P<preferred>.+)",
        r"\b(?:replace|substitute|swap|ersetze|ersetzen) (?P<refused>.+?) "
        r"(?:with|by|for|durch|gegen) (?P<preferred>.+)",
        r"\b(?:from|vom|von) (?P<refused>.+?) (?:to|into|zu|zum|zur|auf) (?P<preferred>.+)",
        r"\b(?:not|nicht) (?P<refused>.+?) (?:but|sondern) (?P<preferred>.+)",
        r"(?P<preferred>.+?) (?:instead of|rather than|in place of|ahead of|over|before|replaces"
        r"|statt|anstatt|anstelle von|vor|ersetzt|not|nicht) (?P<refused>.+)",
    )
]
"""Sentences that put one thing before another: `tabs over spaces`, `replace Redis with Kafka`."""
_ROOTS = {"ca": "can", "wo": "will", "sha": "shall"}


@dataclass(frozen=True, slots=True)
class Contrast:
    """The negations and numbers that only one of two texts has, each in order.

    `alone` says that nothing else differs.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    alone: bool

    @property
    def sentence_end(self) -> str:
        """The contrast as it follows what two texts have in common."""
        return f"; but {self}" if self.alone else f"; {self}"

    def __str__(self) -> str:
        if not self.first or not self.second:
            return f"only one of them says {_some(self.first or self.second)}"
        return f"one says {_some(self.first)}, the other {_some(self.second)}"


def _some(words: Sequence[str]) -> str:
    """Return the first few words: two long texts may differ in a hundred numbers."""
    return listed([f"`{word}`" for word in words], _LISTED)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, cut once for all texts that it is compared with."""

    counts: Counter[str]
    negated: Counter[str]  # each negation with the word after it
    preferred: frozenset[str] = frozenset()  # what a short text puts before `refused`
    refused: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text."""
        words = _words(text)
        negated = Counter[str]()
        for word, after in pairwise(words):
            if word in NEGATIONS and not is_mark(after):
                negated[f"{word} {after}"] += 1

        counts = Counter(words)
        order = _order_in(words) if len(counts) <= _SENTENCE else None
        if order is None:
            return cls(counts, negated)

        preferred, refused = (_telling(order[side]) for side in ("preferred", "refused"))
        return cls(counts, negated, preferred, refused)


def _order_in(words: Sequence[str]) -> re.Match[str] | None:
    sentence = " ".join(words)
    matches = (pattern.search(sentence) for pattern in _ORDERS)
    return next(filter(None, matches), None)


def _telling(words: str) -> frozenset[str]:
    return frozenset(words.split()) - _CHOOSING - _SUPPORT - NEGATIONS


def contrast(first: Words, second: Words) -> Contrast | None:
    """Return in which negations, numbers and order of two things two texts differ; None if in
    none.
    """
    more = first.counts - second.counts
    less = second.counts - first.counts
    ours = first.preferred & second.refused
    theirs = second.preferred & first.refused
    if ours and theirs:
        others = {*more, *less} - _CHOOSING - _SUPPORT - NEGATIONS
        sides = " ".join(sorted(ours)), " ".join(sorted(theirs))
        return Contrast(
            (" over ".join(sides),), (" over ".join(reversed(sides)),), alone=not others
        )

    more_marks = tuple(sorted(filter(is_mark, more)))
    less_marks = tuple(sorted(filter(is_mark, less)))
    if more_marks or less_marks:
        others = {*more, *less}.difference(more_marks, less_marks, _SUPPORT)
        return Contrast(more_marks, less_marks, alone=not others)

    if more or less or len(first.counts) > _SENTENCE:
        return None

    moved = first.negated - second.negated
    back = second.negated - first.negated
    if not moved and not back:
        return None

    return Contrast(tuple(sorted(moved)), tuple(sorted(back)), alone=True)


def _words(text: str) -> list[str]:
    """Return the words of a text, shortened negations in full: `can't` is `can not`."""
    words = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        shortened = _SHORTENED.fullmatch(word)
        if shortened is not None:
            words += [_ROOTS.get(shortened[1], shortened[1]), "not"]
        elif word == "cannot":
            words += ["can", "not"]
        else:
            words.append(_NUMBERS.get(word, word))

    return words


def is_mark(word: str) -> bool:
    """Say whether a word is a negation, a number, or a name that its sign or number tells apart."""
    return word in NEGATIONS or not word.replace("'", "").replace("’", "").isalpha()
