"""Entries of a log: the headings, or the rows of a table, that are decisions."""

from collections import defaultdict
from collections.abc import Sequence

from orbit_registry.formats.adr import headings
from orbit_registry.formats.adr.header import (
    key_value,
    visible_lines,
)
from orbit_registry.formats.adr.headings import (
    TitleParts,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.markdown import (
    Document,
    Heading,
)
from orbit_registry.formats.position import Span

_CODED = pattern("coded")


_ROW_NUMBER = pattern("row_number")


def is_log(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> bool:
    """Say whether headings are entries of a log: several, and one states a status."""
    if len(entries) < 2:
        return False

    return any(_states_status(document, heading) for heading, _ in entries)


def _states_status(document: Document, heading: Heading) -> bool:
    """Say whether the first line below a heading states a status."""
    for line in visible_lines(document, heading.body, document.code):
        content = document.text[line.start : line.end]
        if not content.strip():
            continue

        start = line.start + len(content) - len(content.lstrip("-*+ "))
        pairs = (key_value(document.text, at, line.end) for at in (start, line.start))
        return any(pair is not None and pair[0] == "status" for pair in pairs)

    return False


def log_headings(document: Document, *, in_log: bool = False) -> list[tuple[Heading, TitleParts]]:
    """Return headings of ADRs below the title;
    `in_log` `D1`, `Decision 1` or bare numbers without gaps count.
    """
    candidates: list[tuple[Heading, TitleParts]] = []
    for heading in (heading for heading in document.headings if heading.level > 1):
        parts = headings.split_entry(document.text, heading.title, heading.text, in_log=in_log)
        if parts is not None:
            candidates.append((heading, parts))

    coded = [candidate for candidate in candidates if candidate[1].code] if in_log else []
    level = min((heading.level for heading, _ in coded or candidates), default=0)
    entries = [(heading, parts) for heading, parts in coded or candidates if heading.level == level]
    numbers = [int(parts.number or 0) for _, parts in entries]
    is_list = len(entries) > 1 and sorted(numbers) == list(range(1, len(entries) + 1))

    return entries if not in_log or coded or is_list else []


def dated_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings of a log whose entries have dates, if most have one."""
    below = [heading for heading in document.headings if heading.level > 1]
    dated = [
        (heading, headings.split_dated(document.text, heading.title, heading.text))
        for heading in below
    ]
    candidates = [(heading, parts) for heading, parts in dated if parts is not None]
    level = min((heading.level for heading, _ in candidates), default=0)
    entries = [(heading, parts) for heading, parts in candidates if heading.level == level]

    return entries if 2 * len(entries) >= sum(heading.level == level for heading in below) else []


def coded_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings of a log whose entries have a code of their own kind, `KD1 — T`, or
    a status each.
    """
    below = [heading for heading in document.headings if heading.level > 1]
    groups: dict[tuple[int, str], list[tuple[Heading, TitleParts]]] = defaultdict(list)
    for heading in below:
        match = _CODED.match(document.text, heading.title.start, heading.title.end)
        if match is not None:
            span = Span(match.end(), heading.title.end)
            number = Span(*match.span("number"))
            title = span.of(document.text).strip()
            parts = TitleParts(
                match["number"], number, title, span, match["code"] + match["number"]
            )
            groups[heading.level, match["lead"].lower()].append((heading, parts))

    coded = max(groups.values(), key=len, default=[])
    codes = {parts.code for _, parts in coded}
    if len(coded) > 1 and len(codes) == len(coded):
        return coded

    alike = [heading for heading in below if _states_status(document, heading)]
    level = min((heading.level for heading in alike), default=0)
    entries = [heading for heading in alike if heading.level == level]
    if len(entries) < 2:
        return []

    return [(heading, TitleParts(None, None, heading.text, heading.title)) for heading in entries]
