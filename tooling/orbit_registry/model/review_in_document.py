"""When a decision or rule is to be looked at again, as its document states it."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.vocabulary import VOCABULARY, read_date, word_set
from orbit_registry.formats.needles import needles_in, needles_of
from orbit_registry.formats.wording import plain
from orbit_registry.model.review import BY, WHEN, ReviewTerms, conditions_of

_QUARTER = re.compile(
    r"[Qq](?P<q1>[1-4])[ /-]?(?P<y1>20\d\d)|(?P<y2>20\d\d)[ /-]?[Qq](?P<q2>[1-4])"
)


def may_state_review(text: str) -> bool:
    """Say whether a document has a key of a review, so that it is worth reading for one."""
    return bool(needles_in(_spaced(text), _keys()))


@cache
def _keys() -> tuple[str, ...]:
    words = f"{VOCABULARY['keys'][BY]}, {VOCABULARY['keys'][WHEN]}".split(",")
    return needles_of(_spaced(word.strip()) for word in words)


def _spaced(text: str) -> str:
    """Return a text as keys are compared: `Review-By` is `review by`."""
    return text.lower().replace("_", " ").replace("-", " ")


def terms_of_document(facts: Iterable[Fact]) -> ReviewTerms:
    """Return when a document says to look at it again, by the facts of its header."""
    by, unread = "", ""
    conditions: list[str] = []
    for fact in facts:
        if fact.key == WHEN:
            conditions += (value.strip("{} ") for value in fact.values or (fact.raw,))
        elif fact.key == BY and not by:
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
    """Return a value that is no date; empty for a blank and a prompt."""
    is_prompt = any(mark in raw for mark in "{<[") or "yy" in raw.lower()
    is_blank = plain(raw) in word_set("no_value")
    if is_prompt or is_blank:
        return ""

    return raw.strip()


def _without_blanks(values: Iterable[str]) -> Iterator[str]:
    blanks = word_set("no_value")
    return (value for value in values if value and plain(value) not in blanks)
