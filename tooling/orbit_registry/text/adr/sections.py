"""Standard names for the sections of an ADR, run-in headings, and where a cost is named."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from orbit_registry.text.adr.dates import read_date
from orbit_registry.text.adr.header import visible_lines, visible_starts
from orbit_registry.text.adr.model import Section
from orbit_registry.text.adr.words import SECTION_OF, STATUS_OF, plain
from orbit_registry.text.markdown import Document, Heading
from orbit_registry.text.position import Position, Span

_SUBSECTIONS = frozenset({"consequences", "positive", "negative", "neutral", "confirmation", "context", "decision"})
HEADER_KEYS = frozenset({"status", "date", "deciders", "tags", "changelog", "metadata"})
"""Sections that state metadata; the first one of another key ends the header."""
EVIDENCE = frozenset({"decision", "consequences", "options", "context", "drivers", "positive", "negative", "rationale"})

_ORNAMENT = re.compile(r"^[^\w(\[{<]+|[^\w)\]}>?!]+$")
"""What stands around a heading's words: pictures, marks, a colon."""
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>|<!--.{0,200}?-->", re.IGNORECASE)
_PARTS = re.compile(r"\s*[/(（)）|｜]\s*")
_VALUED = re.compile(
    r"[\W\d_]*(?P<name>[^\W\d_](?:[^\W\d_]|[ -]){1,30}?)[*_]{0,2}"
    r"(?:[ ]?(?P<colon>[:：])[*_]{0,2}[ ]*|[ ]+[—–-][ ]+|[ ]?(?P<open>[(（]))(?P<value>[^\s()（）].*?)(?(open)[)）])\s*"
)
"""A heading that states what its section is about: `Status: Accepted`, `Status (Accepted)`."""
_NUMBERING = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?|[A-Z][.)]|[IVX]{1,5}\.)\s+")
_STATUS = re.compile(
    r"(?:(?:what is|describe) )?(?:the )?(?:(?:proposal|decision|adr|rfc) )?status(?: of (?:the|this) \w+)?\??"
)
_RUN_IN = re.compile(
    r"[ \t]{0,3}(?P<mark>\*\*|__)(?P<name>[^\W\d_](?:[^\W\d_]|[ &/-]){1,50}?)[ ]?"
    r"(?P<stop>[.:：]?)(?P=mark)(?P<after>[.:：]?)"
)
_LONGEST = 300
"""Characters of a heading that may state something."""
_WORD = re.compile(r"[^\W\d_]+")
_BOLD = r"[ \t]{0,3}(?:\*\*|__)[^\W\d_]"
_COST = (
    r"(?i:[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(?:\*\*|__|\*|_)?"
    r"(?:(?:costs?|kosten|co[uû]ts?|costos?|costes?|custos?|costi|koszty?|kostnad(?:er)?|стоимость|コスト|代价|成本|비용)"
    r"(?:[ ](?:and|&)[ ]\w+)?(?:[ ]\([^()\r\n]{1,60}\))?[ \t]*(?:\*\*|__|\*|_)?[ \t]*[:：.—–]"
    r"|(?:bad|negative|con|schlecht|negativ|mauvais|malo|mal|ruim)(?:\*\*|__|\*|_)?"
    r"(?:[,:][ \t]+(?:because|as|since|weil|da|denn|car|parce que|porque|pois)|[ \t]+because)\b"
    r"|(?:bad|negatives?(?: consequences)?|cons|drawbacks?|downsides?|trade-?offs?|schlecht|nachteile?"
    r"|negativ[oaiet]?s?|n[ée]gati(?:f|ve)s?|negatief|mauvais|malo|ruim)"
    r"(?:\*\*|__|\*|_)?[ \t]*[:：—–](?:\*\*|__|\*|_)?[ \t]*"
    r"(?:(?:\r?\n){1,2}[ \t]*[-*+][ \t]+)?[^\s]))"
)
"""Case is ignored in here alone: what is looked for begins with a line's end, and that is found faster with case."""
_FILLER = re.compile(r"^(?:[*+-][ \t]*)?(?:none\.?|n/?a\.?|tbd\.?|-|…|\{.*|\[.*\]|<[^>]*>?|todo.*)?$", re.IGNORECASE)


_CONTEXT_AND = (
    "context and", "context &", "context /", "kontext und", "contexte et", "contexto y", "contexto e ", "contesto e ",
    "context en", "kontekst i ", "kontext och", "контекст и ",
)  # fmt: skip


@lru_cache(maxsize=4096)
def section_key(heading: str) -> str:
    """Return the standard name for a section's heading, or `other`."""
    if len(heading) > _LONGEST:
        return "other"
    name = plain(_ORNAMENT.sub("", _NUMBERING.sub("", _ORNAMENT.sub("", _TAG.sub("", heading).strip()))))
    found = SECTION_OF.get(name)
    if found is None:  # `背景 / Context`, `Negative (costs)`
        found = next((SECTION_OF[part] for part in _PARTS.split(name) if part in SECTION_OF), None)
    if found is None and (valued := heading_value(heading)) is not None:  # `Status: Accepted`
        return valued[0]
    if found is None and _STATUS.fullmatch(name):  # `What is the status of the proposal?`
        return "status"
    if found is None and name.startswith(_CONTEXT_AND):
        return "context"
    if found is None and name.startswith(("decision and", "decision:", "decision —", "decision -", "decision (")):
        return "decision"
    if found is None and name.startswith(("consequences ", "consequences,")):
        return "consequences"
    return found or "other"


def heading_value(title: str) -> tuple[str, int, int] | None:
    """Return what a heading states of its own (`status`, `date` or `deciders`), and where in it the value stands.

    After a colon it may be any status; after a dash or in brackets only one that is known.
    """
    found = _VALUED.fullmatch(title) if len(title) <= _LONGEST else None
    key = SECTION_OF.get(plain(found["name"].strip())) if found is not None else None
    if found is None or key not in ("status", "date", "deciders"):
        return None
    word = _WORD.search(found["value"])
    if key == "date":
        sure = read_date(found["value"]) is not None
    else:
        sure = bool(found["colon"]) or (key == "status" and word is not None and plain(word.group()) in STATUS_OF)
    return (key, found.start("value"), found.end("value")) if sure else None


def section_level(headings: Sequence[tuple[int, str]]) -> int:
    """Return the level of a decision's own sections, given level and key of its headings: that of the first known one.

    A stray heading of level 1 in the middle of a document does not push the others down.
    """
    known = [level for level, key in headings if key != "other"]
    return known[0] if known else min((level for level, _ in headings), default=0)


def read_sections(document: Document, headings: Sequence[Heading], body: Span) -> tuple[Section, ...]:
    """Return the parts of a decision: its top-level sections, the known ones below them, and run-in headings."""
    sections: list[Section] = []
    top = section_level([(heading.level, section_key(heading.text)) for heading in headings])
    for heading in headings:
        key = section_key(heading.text)
        if heading.level <= top or key in _SUBSECTIONS:
            sections.append(Section(key, heading.text, heading.level, heading.body, heading.position))
    sections.extend(_run_ins(document, headings, body))
    return tuple(sorted(sections, key=lambda section: section.position))


def _run_ins(document: Document, headings: Sequence[Heading], body: Span) -> Iterator[Section]:
    """Yield the paragraphs that begin with a known name in bold."""
    if next(visible_starts(document, body, document.code, _BOLD), None) is None:
        return
    text = document.text
    ends = [heading.section.start for heading in headings] + [body.end]
    found: list[tuple[str, str, int, int]] = []
    after_break = True
    for line in visible_lines(document, body, document.code):
        content = text[line.start : line.end]
        match = _RUN_IN.match(content) if after_break else None
        if match and (match["stop"] or match["after"] or not content[match.end() :].strip()):
            key = section_key(match["name"])
            if key not in ("other", "status", "date", "deciders", "tags"):
                found.append((key, match["name"].strip(), line.start, line.start + match.end()))
        after_break = not content.strip() or bool(found and found[-1][2] == line.start) or content.startswith("#")
    for index, (key, name, start, body_start) in enumerate(found):
        next_run_in = found[index + 1][2] if index + 1 < len(found) else body.end
        end = min(next_run_in, ends[bisect_right(ends, start)])
        yield Section(key, name, 0, Span(body_start, end), document.lines.position(start), True)


def find_cost(document: Document, sections: Sequence[Section], body: Span) -> Position | None:
    """Return where a cost is named: a `Cost:` or `Negative:` line, `Bad, because`, or a filled negative section."""
    start = next(visible_starts(document, body, document.code, _COST), None)
    if start is not None:
        return document.lines.position(start)
    for section in sections:
        if section.key == "negative" and is_filled(document, section.body):
            return section.position
    return None


def is_filled(document: Document, body: Span) -> bool:
    """Say whether a section has a line that is neither a heading nor a placeholder."""
    for line in visible_lines(document, body, document.html):
        content = document.text[line.start : line.end].strip()
        if not content.startswith("#") and not _FILLER.match(content):
            return True
    return False


def decides(sections: Sequence[Section], *, alone: bool) -> bool:
    """Say whether a document's sections are those of a decision.

    With `alone` neither name nor place says that it may be one, and only its outermost sections count: a guide has
    `Problem` and `Solution` of each of its parts, an overview, and what is good about its matter.
    """
    highest = min((section.level for section in sections if not section.run_in), default=0)
    starts = [section.key for section in sections if section.run_in]
    keys = {section.key for section in sections if not alone or (section.level == highest and not section.run_in)}
    keys.update(key for key in starts if starts.count(key) == 1)
    return "decision" in keys or len(keys & EVIDENCE) > (2 if alone and "options" not in keys else 1)
