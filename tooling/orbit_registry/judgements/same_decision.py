"""Whether an entry of a decision log and a record with its number are one decision."""

from collections.abc import Collection
from dataclasses import dataclass

from orbit_registry.formats.wording import SMALL_WORDS, normalised

SHARED = 1 / 3  # least part of the shorter title's telling words that both have
ALIKE = 0.3  # least part of the words of both texts that both have
_FEWEST = 12  # words of a text that is compared: shorter ones share some by chance
_DECIDING = (
    "adopt all do each every how keep make no not one only over record should take through use"
)
COMMON = SMALL_WORDS.union(_DECIDING.split(), ["using"])
"""Words of titles that tell no decision from another."""


@dataclass(frozen=True, slots=True)
class DecisionText:
    """What tells a decision from others of its number."""

    title: str
    features: Collection[str] = ()
    text: str = ""


def same_decision(document: DecisionText, record: DecisionText) -> bool:
    """Judge two texts that have one number: the number alone never makes them one decision."""
    if normalised(document.title) == normalised(record.title):
        return True
    if not set(document.features).isdisjoint(record.features):
        return True

    ours, theirs = _telling(document.title), _telling(record.title)
    fewer = min(len(ours), len(theirs))
    if fewer and len(ours & theirs) >= SHARED * fewer:
        return True

    ours, theirs = _telling(document.text), _telling(record.text)
    if min(len(ours), len(theirs)) < _FEWEST:
        return False

    return len(ours & theirs) >= ALIKE * len(ours | theirs)


def _telling(text: str) -> frozenset[str]:
    return frozenset(normalised(text).split()) - COMMON
