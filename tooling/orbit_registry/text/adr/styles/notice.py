"""The status in a notice of its own (`> [!WARNING]` and `> Deprecated`, `!!! warning "Rejected"`, `:::note`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.relations import NOTICE, OF_ITSELF, find_phrases
from orbit_registry.text.adr.words import STATUS_OF, plain
from orbit_registry.text.position import Span

NAME = "notice"
_OF_THINGS = frozenset({"removed", "reverted", "dropped", "call", "done", "current", "force", "open"})
"""Words that a notice rather says of something that the decision is about."""
_IN_FORCE = frozenset({"accepted", "approved", "adopted", "proposed", "draft"})
_SAID = re.compile(rf"[ \t>*_]*(?:{OF_ITSELF})?[*_]{{0,2}}(?P<word>[^\W\d_]+)(?P<after>[^\r\n]*)", re.IGNORECASE)
_ENDS = re.compile(r"[*_]{0,2}[ \t]*(?:$|[.!:;,(\"\]—–-]|(?:by|because|since|as of|on|in favou?r of)\b)", re.IGNORECASE)
"""What may follow the word: an end or a reason, so that `Deprecated API` is none."""


def read(header: Header) -> Iterator[Fact]:
    """Yield the status that the notices of the header agree on; where they differ, none."""
    found: list[Fact] = []
    titled: bool | None = None
    for line in header.lines():
        mark = NOTICE.match(header.text, line.start, line.end)
        if mark is not None:
            said = _status(header.text, mark.end(), line.end)
            found += [said] if said else []
            titled = said is not None
        elif titled is False and header.text[line.start : line.end].strip(" \t>"):
            said = _status(header.text, line.start, line.end)
            found += [said] if said else []
            titled = True
    if len({STATUS_OF[plain(one.raw)] for one in found}) == 1:
        yield found[0]


def _status(text: str, start: int, end: int) -> Fact | None:
    if any(phrase.rel == "superseded_by" for phrase in find_phrases(text, start, end)):
        return None  # a remark that names a decision: `line` reads it where it holds for the whole
    match = _SAID.match(text, start, end)
    if match is None or not _ENDS.match(match["after"]):
        return None
    word = plain(match["word"])
    status = STATUS_OF.get(word, "unknown")
    sure = word in _IN_FORCE or status in ("rejected", "deprecated", "superseded")
    if not sure or word in _OF_THINGS:
        return None
    return Fact("status", match["word"], Span(match.start("word"), match.end("word")), NAME)


def written(fact: Fact, value: str) -> str:
    """Return the status in the case of the word that it takes the place of."""
    return value[:1].upper() + value[1:] if fact.raw[:1].isupper() else value[:1].lower() + value[1:]


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Notices are never added."""
    return None
