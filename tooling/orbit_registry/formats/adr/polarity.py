"""Whether a sentence states that one decision replaces another, or denies, plans or supposes it."""

import re
from functools import cache

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import VOCABULARY
from orbit_registry.formats.position import Span

_FAR = 90  # characters before a verb that may change what it says
_BEHIND = 60
_MARKS = re.compile(r"[*_`]")
_CLAUSE = pattern("clause")


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    unsure = VOCABULARY["unsure"]
    fillers = "|".join(unsure["fillers"])
    before = (
        rf"(?:^|[^\w])(?:{'|'.join(unsure['before'])})(?:[ ]+(?:{fillers})){{0,4}}[ ]*\Z"
        rf"|(?:{unsure['signs']})(?:会|會|要|能|被|由)?[ ]?\Z"
    )
    between = rf"(?<!\w)(?:{'|'.join(unsure['between'])})(?!\w)"
    behind = rf"(?:{'|'.join(unsure['behind'])})"
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (before, between, behind))


def is_sure(text: str, start: int, limit: int, verb: Span, target: Span) -> bool:
    """Say whether the verb of a sentence in `text[start:limit]` states a fact about its target."""
    before, between, behind = _patterns()
    clause = _clause_before(text, max(start, verb.start - _FAR), verb.start)
    if before.search(clause):
        return False

    first, last = sorted((verb, target), key=lambda span: span.start)
    if between.search(text[first.end : last.start]):
        return False

    end = max(verb.end, target.end)
    return behind.match(_MARKS.sub("", text[end : min(limit, end + _BEHIND)])) is None


def _clause_before(text: str, start: int, end: int) -> str:
    """Return the words of a clause up to a verb."""
    before = _MARKS.sub("", text[start:end])
    return _CLAUSE.split(before)[-1]
