"""What a status, written in any of the usual ways, means; unknown words stay unknown."""

from __future__ import annotations

import re

from orbit_registry.text.adr.model import Rel, Status
from orbit_registry.text.adr.relations import find_phrases
from orbit_registry.text.adr.words import NEGATIONS, STATUS_OF, plain

_QUALIFIERS = frozenset(
    {"partially", "partly", "provisionally", "conditionally", "tentatively", "fully", "in", "under", "was", "is",
     "being", "now", "currently", "first", "initial", "work", "tech", "internal", "and", "soft", "hard", "still"}
)  # fmt: skip
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_CHOICE = re.compile(r"[|…]|\bone of\b", re.IGNORECASE)
_WAS = re.compile(r"\(\s*(?:was|formerly|previously)\b.*", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_PARTIAL = re.compile(
    r"super[sc]eded[ -]in[ -]part|(?:partially|partly)[ -]super[sc]eded"
    r"|(?:teilweise|partiellement|parcialmente|parzialmente|częściowo|delvis|частично)[ ]|部分(?:取代|替代|置換)",
    re.IGNORECASE,
)
_IN_PROGRESS = re.compile(
    r"\b(?:in[ -]progress|in[ -]review|work in progress|under (?:review|discussion))\b", re.IGNORECASE
)
_LIMIT = 4000


def normalise_status(raw: str) -> tuple[Status, tuple[tuple[Rel, str], ...]]:
    """Return the standard status that `raw` states and the (relation, target as written) pairs in it.

    The first status word decides (`Accepted; supersedes ADR-0045` is accepted). A template's choice
    (`proposed | accepted`) and words that name no status are `unknown`.
    """
    text = _COMMENT.sub(" ", raw[:_LIMIT]).strip()
    current = _WAS.sub(" ", text)
    if _CHOICE.search(_LINK.sub(r"\1", current)):
        return "unknown", ()  # a template's choice that nobody made
    return _status(current), _targets(current)


def _targets(text: str) -> tuple[tuple[Rel, str], ...]:
    return tuple((phrase.rel, phrase.target) for phrase in find_phrases(text))


def _status(text: str) -> Status:
    if _PARTIAL.match(text.lstrip("*_`\"' ")):
        return "accepted"  # a part was replaced, the rest stays in force
    if _IN_PROGRESS.match(text.lstrip("*_`\"'{[( ")):
        return "proposed"
    words = [plain(word) for word in _WORD.findall(_LINK.sub(r"\1", text)[:400])]
    for index, word in enumerate(words[:4]):
        if word in NEGATIONS:
            return "unknown"
        found = STATUS_OF.get(word)
        if found is not None:
            if word in ("retired", "obsoleted") and any(rel == "superseded_by" for rel, _ in _targets(text)):
                return "superseded"
            return found
        if word not in _QUALIFIERS and index > 0:
            return "unknown"
    return "unknown"
