"""What a status, written in any of the usual ways, means; unknown words stay unknown."""

from __future__ import annotations

import re
from urllib.parse import unquote

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
_BADGE = re.compile(r"/badge/(?:(?:adr[-_ ]?)?status[-/]|adr/)(?P<status>[^-/?#)\s]{1,60})", re.IGNORECASE)
_STRUCK = re.compile(r"~~.{1,200}?~~", re.DOTALL)
_ARROW = re.compile(r"\s*(?:→|->|=>|⇒)\s*")
_LISTED = re.compile(r"\s*[,/|·、，]\s*|\s+(?:or|oder|ou|o)\s+")
_CHOSEN = re.compile(r"(?P<mark>\*\*|__|\*|_|`)(?P<status>[^*_`]{2,60})(?P=mark)")
_TAKEN_OVER = re.compile(r"[^。.；;]{0,100}(?<!未)(?:置き換え|置換|取代|替代|代替|替换|대체)(?!方案|案)")
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
    (`proposed | accepted`) and words that name no status are `unknown`; where one of them is marked, it was made.
    What is struck through is over, and of `Proposed → Accepted` the last holds.
    """
    text = _STRUCK.sub(" ", _COMMENT.sub(" ", raw[:_LIMIT])).strip()
    current = _ARROW.split(_WAS.sub(" ", text))[-1]
    listed = [_status(part.strip("*_`[]{}() ")) for part in _LISTED.split(_LINK.sub(r"\1", current))]
    if sum(status != "unknown" for status in listed) > 2:
        chosen = {_status(match["status"]) for match in _CHOSEN.finditer(current)} - {"unknown"}
        return (chosen.pop() if len(chosen) == 1 else "unknown"), ()
    if _CHOICE.search(_LINK.sub(r"\1", current)):
        return "unknown", ()  # a template's choice that nobody made
    return _status(current), _targets(current)


def _targets(text: str) -> tuple[tuple[Rel, str], ...]:
    return tuple((phrase.rel, phrase.target) for phrase in find_phrases(text))


def _status(text: str) -> Status:
    badge = _BADGE.search(text)
    if badge is not None:
        text = unquote(badge["status"]).replace("_", " ")
    if _PARTIAL.match(text.lstrip("*_`\"' ")):
        return "accepted"  # a part was replaced, the rest stays in force
    if _TAKEN_OVER.match(text):
        return "superseded"  # the word stands last: `被 ADR-0045 取代`
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
