"""Whether a sentence states that one decision replaces another, or denies, plans or supposes it."""

import re

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.position import Span

_FAR = 90  # characters before a verb that may change what it says
_BEHIND = 60
_MARKS = re.compile(r"[*_`]")
_CLAUSE = pattern("clause")
_BEFORE = pattern("unsure_before_verb")
_BETWEEN = pattern("unsure_between_words")
_BEHIND_IT = pattern("unsure_behind_words")


def is_sure(text: str, start: int, limit: int, verb: Span, target: Span) -> bool:
    """Say whether the verb of a sentence in `text[start:limit]` states a fact about its target."""
    clause = _clause_before(text, max(start, verb.start - _FAR), verb.start)
    if _BEFORE.search(clause):
        return False

    first, last = sorted((verb, target), key=lambda span: span.start)
    if _BETWEEN.search(text[first.end : last.start]):
        return False

    end = max(verb.end, target.end)
    return _BEHIND_IT.match(_MARKS.sub("", text[end : min(limit, end + _BEHIND)])) is None


def _clause_before(text: str, start: int, end: int) -> str:
    """Return the words of a clause up to a verb."""
    before = _MARKS.sub("", text[start:end])
    return _CLAUSE.split(before)[-1]
