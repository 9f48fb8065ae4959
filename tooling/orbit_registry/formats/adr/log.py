"""Entries of a log: the headings, or the rows of a table, that are decisions."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from orbit_registry.formats.adr.header import key_value, visible_lines
from orbit_registry.formats.adr.headings import (
    TitleParts,
    split_coded,
    split_dated,
    split_entry,
    without_strike,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.markdown import Document, Heading
from orbit_registry.formats.position import Span

Entry = tuple[Heading, TitleParts]
_FEWEST = 2
"""Entries of a log."""
_LESSON = pattern("lesson")
_LEAD = re.compile(r"[A-Z]{1,6}[-_ #]?")


def is_log(document: Document, entries: Sequence[Entry]) -> bool:
    """Say whether headings are entries of a log: several, and one states a status."""
    return len(entries) >= _FEWEST and any(_states_status(document, each) for each, _ in entries)


def _states_status(document: Document, heading: Heading) -> bool:
    """Say whether the first line below a heading states a status."""
    for line in visible_lines(document, heading.body, document.code):
        content = line.of(document.text)
        if not content.strip():
            continue

        start = line.start + len(content) - len(content.lstrip("-*+ "))
        pairs = (key_value(document.text, at, line.end) for at in (start, line.start))
        return any(pair is not None and pair[0] == "status" for pair in pairs)

    return False


def log_headings(document: Document, *, in_log: bool = False) -> list[Entry]:
    """Return headings of ADRs below the title;
    `in_log` `D1`, `Decision 1` or bare numbers without gaps count.
    """
    candidates = _candidates(document, partial(split_entry, in_log=in_log))
    if not in_log:
        return _highest(candidates)

    coded = [entry for entry in candidates if entry[1].code]
    if coded:
        return _highest(coded)

    entries = _highest(candidates)
    numbers = sorted(int(parts.number or 0) for _, parts in entries)
    if len(entries) < _FEWEST or numbers != [*range(1, len(entries) + 1)]:
        return []

    below = _of_one_code(document)
    are_chapters = bool(below) and below[0][0].level > entries[0][0].level
    if are_chapters:
        return []

    return entries


def dated_headings(document: Document) -> list[Entry]:
    """Return the headings of a log whose entries have dates, if most have one."""
    entries = _highest(_candidates(document, split_dated))
    levels = [heading.level for heading in _below_title(document)]
    if entries and 2 * len(entries) >= levels.count(entries[0][0].level):
        return entries

    return []


def coded_headings(document: Document) -> list[Entry]:
    """Return the headings of a log whose entries have a code of their own kind, `KD1 — T`, or
    a status each.
    """
    coded = _of_one_code(document)
    if coded:
        return coded

    alike = [each for each in _below_title(document) if _states_status(document, each)]
    untitled = [(each, TitleParts(None, None, each.text, each.title)) for each in alike]
    entries = _highest(untitled)
    if len(entries) >= _FEWEST:
        return entries

    return []


def numbered_lessons(document: Document) -> list[Entry]:
    """Return the headings of a file of lessons with codes or numbers: `Lesson 1: T`."""
    coded = _of_one_code(document)
    lessons = [
        (heading, TitleParts(None, None, heading.text[match.end() :], heading.title))
        for heading in _below_title(document)
        if (match := _LESSON.match(heading.text)) is not None
    ]
    return coded or (_highest(lessons) if len(lessons) >= _FEWEST else [])


def _of_one_code(document: Document) -> list[Entry]:
    """Return the most headings of one level whose codes begin alike, each with its own."""
    groups: dict[tuple[int, str], list[Entry]] = defaultdict(list)
    for heading, parts in _candidates(document, split_coded):
        lead = _LEAD.match(parts.code)
        groups[heading.level, lead[0].lower() if lead else ""].append((heading, parts))

    coded = max(groups.values(), key=len, default=[])
    codes = {parts.code for _, parts in coded}
    if len(coded) >= _FEWEST and len(codes) == len(coded):
        return coded

    return []


def _below_title(document: Document) -> list[Heading]:
    return [heading for heading in document.headings if heading.level > 1]


def _candidates(
    document: Document, split: Callable[[str, Span, str], TitleParts | None]
) -> list[Entry]:
    """Return the headings below the title that have a form."""
    pairs = [
        (heading, split(document.text, *without_strike(document.text, heading.title, heading.text)))
        for heading in _below_title(document)
    ]
    return [(heading, parts) for heading, parts in pairs if parts is not None]


def _highest(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of the highest level among them."""
    level = min((heading.level for heading, _ in entries), default=0)
    return [entry for entry in entries if entry[0].level == level]
