"""Whether a record says what another one says: its headline is judged apart from its text."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from orbit_registry.formats.wording import (
    NEGATIONS,
    SMALL_WORDS,
    as_compared,
    is_mark,
    normalised,
    signs_of,
)
from orbit_registry.judgements.contradicts import Contrast, contradicts
from orbit_registry.model.record import Record

FEWEST_TO_ERR = 20  # among fewer records a word's weight says little, so only copies are errors
COPY = 0.95  # texts this much alike are copies, however few records there are
TELLING = 4  # words of a headline, from which on one word more makes no other lesson

FEWEST_TO_COPY = 12  # words of a text, from which on another one that has them all repeats it

Reason = Literal["copy", "headline", "near headline", "text", "part", "meaning", ""]
_ENDING = re.compile(r"(?:ies|ied|ing|es|ed|y|s|e)\Z")
_SHORTEST_STEM = 3


@dataclass(frozen=True)
class Wording:
    """What a record says: its headline, empty where that identifies nothing, and all its text."""

    headline: str
    text: str

    @cached_property
    def plain_headline(self) -> str:
        """The headline without form."""
        return normalised(self.headline)

    @cached_property
    def plain(self) -> str:
        """A hash of the text without form, and of the signs that tell texts apart."""
        text = " ".join((normalised(self.text), *signs_of(self.text))).strip()
        if text:
            return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

        return ""

    @cached_property
    def plain_body(self) -> str:
        """The text after the headline, without form."""
        return normalised(self.text).removeprefix(self.plain_headline).lstrip()

    @cached_property
    def telling(self) -> frozenset[str]:
        """The words of the headline that tell it from others, without their endings."""
        words = self.plain_headline.split()
        return frozenset(_stem(word) for word in words if word not in SMALL_WORDS)

    def to_row(self) -> list[object]:
        """Return what a cache keeps, so that nothing is worked out again."""
        texts = [self.headline, self.text, self.plain_headline, self.plain, self.plain_body]
        return [*texts, sorted(self.telling)]

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what was kept by `to_row`."""
        headline, text, plain_headline, plain, plain_body, telling = row
        wording = cls(headline, text)
        vars(wording).update(
            plain_headline=plain_headline,
            plain=plain,
            plain_body=plain_body,
            telling=frozenset(telling),
        )
        return wording


@dataclass(frozen=True, slots=True)
class Limits:
    """From which likeness of two texts on there is a warning, and an error; `meaning` is the
    nearness of two headlines by vectors from which on there is a warning.
    """

    warning: float
    error: float
    meaning: float


@dataclass(frozen=True, slots=True)
class Likeness:
    """The verdict on two records: how bad it is to keep both, and why."""

    level: Literal["error", "warning", ""]
    reason: Reason = ""
    score: float = 0.0
    contrast: Contrast | None = None

    @property
    def words(self) -> str:
        """How alike they are, and where a negation or a number tells them apart."""
        sentences = {
            "copy": "the same, word for word",
            "headline": "the same headline",
            "near headline": "nearly the same headline",
            "part": "one has the whole text of the other",
        }
        alike = sentences.get(self.reason) or f"{self.score:.0%} alike"
        if self.reason == "meaning":
            alike += " in meaning"

        return alike + (self.contrast.sentence_end if self.contrast is not None else "")


def wording_of(record: Record, text: str) -> Wording:
    """Return what a record says.

    Retros, failures, proposals and files may well share a headline, so theirs identifies nothing.
    """
    kind = record.kind
    identifies = kind.voted or kind.in_document or kind.name == "rule"
    headline = as_compared(record.title) if identifies else ""
    return Wording(headline, as_compared(text))


def is_duplicate(
    new: Wording, existing: Wording, score: float, limits: Limits, meaning: float = 0.0
) -> Likeness:
    """Judge two records of one kind; `score` says how alike their texts are, and `meaning` how near
    their headlines are by the vectors of a model, if there is one.
    """
    if new.plain and new.plain == existing.plain:
        return Likeness("error", "copy", 1.0)

    if new.plain_headline and new.plain_headline == existing.plain_headline:
        if signs_of(new.headline) == signs_of(existing.headline):
            return Likeness("error", "headline", score)

        return Likeness("warning", "near headline", score)

    differs = contradicts(new.text, existing.text)
    is_apart = differs is not None and differs.alone
    if score >= limits.error and not is_apart:
        return Likeness("error", "text", score, differs)

    if score >= limits.warning:
        return Likeness("warning", "text", score, differs)

    if _is_near(new, existing):
        return Likeness("warning", "near headline", score)

    if _is_part(new, existing) or _is_part(existing, new):
        return Likeness("warning", "part", score, differs)

    if meaning >= limits.meaning:
        differs = contradicts(new.headline, existing.headline)
        return Likeness("warning", "meaning", meaning, differs)

    return Likeness("")


def limits_of(configured: Mapping[str, float], records: int) -> Limits:
    """Return the limits among so many records: as configured, but for copies among few."""
    error = configured["error"]
    if records < FEWEST_TO_ERR:
        error = max(error, COPY)

    return Limits(configured["warning"], error, configured["meaning"])


def alike_by_headline(wordings: Mapping[str, Wording]) -> Iterator[tuple[str, str]]:
    """Yield the keys of those whose headlines are the same or nearly so, the smaller key first."""
    by_words: dict[frozenset[str], list[str]] = {}
    for key in sorted(wordings):
        if wordings[key].plain_headline:
            by_words.setdefault(wordings[key].telling, []).append(key)

    for words, keys in by_words.items():
        yield from _pairs(keys)
        if len(words) <= TELLING:
            continue

        for word in words:
            for shorter in by_words.get(words - {word}, ()):
                for longer in keys:
                    yield min(shorter, longer), max(shorter, longer)


def repeated_texts(
    wordings: Mapping[str, Wording], only: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the keys of those of which one has the whole text of the other, the smaller key first;
    one of them is among `only`.

    A text that repeats another has its first words: to look those up takes a hundredth of the time
    that a search for each text in each takes.
    """
    changed = set(only)
    if not changed:
        return

    every: dict[str, list[str]] = {}
    of_changed: dict[str, list[str]] = {}
    for key, wording in wordings.items():
        words = wording.plain_body.split()
        if len(words) < FEWEST_TO_COPY:
            continue

        start = " ".join(words[:FEWEST_TO_COPY])
        every.setdefault(start, []).append(key)
        if key in changed:
            of_changed.setdefault(start, []).append(key)

    first_words = {start.partition(" ")[0] for start in every}
    first_of_changed = {start.partition(" ")[0] for start in of_changed}
    for whole, wording in wordings.items():
        starts, firsts = every, first_words
        if whole not in changed:
            starts, firsts = of_changed, first_of_changed

        for part in _begun_in(wording.plain_body.split(), starts, firsts):
            if part != whole and _is_part(wordings[part], wording):
                yield min(part, whole), max(part, whole)


def _begun_in(
    words: Sequence[str], starts: Mapping[str, Sequence[str]], firsts: Set[str]
) -> Iterator[str]:
    """Yield the keys of the texts whose first words follow one another among words."""
    for at, word in enumerate(words):
        if word in firsts:
            yield from starts.get(" ".join(words[at : at + FEWEST_TO_COPY]), ())


def _is_part(part: Wording, whole: Wording) -> bool:
    """Say whether a text has all that another one says below its headline, word for word."""
    words = part.plain_body
    is_long = words.count(" ") + 1 >= FEWEST_TO_COPY
    return is_long and f" {words} " in f" {whole.plain_body} "


def _pairs(keys: list[str]) -> Iterable[tuple[str, str]]:
    for index, key in enumerate(keys):
        for other in keys[index + 1 :]:
            yield key, other


def _is_near(new: Wording, existing: Wording) -> bool:
    """Say whether two headlines have the same words, or one has one word more."""
    first, second = new.telling, existing.telling
    if min(len(first), len(second)) < TELLING or not (first <= second or second <= first):
        return False

    more = first ^ second
    if len(more) > 1:
        return False

    differs = contradicts(new.headline, existing.headline)
    return differs is None and not any(map(is_mark, more))


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    # `notes` are no `not`.
    if len(stem) < _SHORTEST_STEM or stem in NEGATIONS:
        return word

    return stem
