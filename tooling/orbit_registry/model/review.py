"""When a decision or rule is to be looked at again, as its record or its document states it."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.vocabulary import VOCABULARY, plain, read_date, word_set

ConditionKind = Literal["words", "path", "uses"]
_BY, _WHEN = "review_by", "revisit_when"
_QUARTER = re.compile(
    r"[Qq](?P<q1>[1-4])[ /-]?(?P<y1>20\d\d)|(?P<y2>20\d\d)[ /-]?[Qq](?P<q2>[1-4])"
)
_MARKS: tuple[ConditionKind, ...] = ("path", "uses")


@dataclass(frozen=True, slots=True)
class Condition:
    """What brings a review about: words of a commit, files that appear or change, or a package."""

    kind: ConditionKind
    value: str

    def __str__(self) -> str:
        return self.value if self.kind == "words" else f"{self.kind}: {self.value}"


@dataclass(frozen=True, slots=True)
class ReviewTerms:
    """When a review is due: from a month or day on, or once a condition is fulfilled."""

    by: str = ""
    when: tuple[Condition, ...] = ()
    unread: str = ""
    """What a document states as its date, where that is none."""


NO_TERMS = ReviewTerms()


def has_review(properties: Container[str]) -> bool:
    """Say whether records with these fields can state when to look at them again."""
    return _BY in properties


def terms_from(data: Mapping[str, object], of_document: ReviewTerms) -> ReviewTerms:
    """Return the terms of a record: a field of its file counts before that of its document."""
    by = data.get(_BY)
    entries = data.get(_WHEN)
    conditions = conditions_of(entries) if isinstance(entries, list) else of_document.when
    if isinstance(by, str):
        return ReviewTerms(by, conditions)

    return ReviewTerms(of_document.by, conditions, of_document.unread)


def conditions_of(entries: Iterable[object]) -> tuple[Condition, ...]:
    """Return the conditions that a list states: `path: x` means the same as text and as YAML."""
    return tuple(dict.fromkeys(filter(None, map(_condition, entries))))


def _condition(entry: object) -> Condition | None:
    if isinstance(entry, Mapping):
        for kind in _MARKS:
            if kind in entry:
                return Condition(kind, str(entry[kind]).strip())

        return None

    text = " ".join(str(entry).split())
    mark, colon, value = text.partition(":")
    if colon and mark.lower() in _MARKS and value.strip():
        kind = cast(ConditionKind, mark.lower())
        return Condition(kind, value.strip().strip("`\"'"))

    return Condition("words", text) if text else None


def may_state_review(text: str) -> bool:
    """Say whether a document has a key of a review, so that it is worth reading for one."""
    plain_text = _spaced(text)
    return any(key in plain_text for key in _keys())


@cache
def _keys() -> tuple[str, ...]:
    words = f"{VOCABULARY['keys'][_BY]}, {VOCABULARY['keys'][_WHEN]}".split(",")
    return tuple(_spaced(word.strip()) for word in words)


def _spaced(text: str) -> str:
    """Return a text as keys are compared: `Review-By` is `review by`."""
    return text.lower().replace("_", " ").replace("-", " ")


def terms_of_document(facts: Iterable[Fact]) -> ReviewTerms:
    """Return when a document says to look at it again, by the facts of its header."""
    by, unread = "", ""
    conditions: list[str] = []
    for fact in facts:
        if fact.key == _WHEN:
            conditions += (value.strip("{} ") for value in fact.values or (fact.raw,))
        elif fact.key == _BY and not by:
            by = _day_in(fact.raw)
            unread = "" if by else unread or _undated(fact.raw)

    return ReviewTerms(by, conditions_of(_without_blanks(conditions)), unread)


def _day_in(raw: str) -> str:
    """Return the month or day that a value states; of a quarter its first month."""
    text = raw.strip("*_`\"' ")
    quarter = _QUARTER.match(text)
    if quarter is None:
        return read_date(text) or ""

    year = quarter["y1"] or quarter["y2"]
    month = 3 * int(quarter["q1"] or quarter["q2"]) - 2
    return f"{year}-{month:02}"


def _undated(raw: str) -> str:
    """Return a value that was meant as a date; a name, a blank and a prompt are not."""
    is_prompt = any(mark in raw for mark in "{<[") or "yy" in raw.lower()
    has_digit = any(character.isdigit() for character in raw)
    return raw.strip() if has_digit and not is_prompt else ""


def _without_blanks(values: Iterable[str]) -> Iterator[str]:
    blanks = word_set("no_value")
    return (value for value in values if value and plain(value) not in blanks)
