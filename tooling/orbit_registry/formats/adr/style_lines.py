"""Metadata as list items (`* Status: accepted`) or plain lines (`**Status:** Accepted · [TASK-1]`)."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from orbit_registry.formats.adr.header import Header, Style, key_value, split_key_values, whole_line
from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.relations import NOTICE, find_phrases, opening_phrases
from orbit_registry.formats.adr.status_line import normalise_status, value_facts
from orbit_registry.formats.position import Span

_BULLET = re.compile(r"[ \t]{0,3}[*+-][ \t]{1,4}")
_LEAD = re.compile(r"([ \t]{0,3}(?:[*+-][ \t]{1,4}|>[ \t]{0,3}))?(\*\*)?")


def _read_items(header: Header) -> Iterator[Fact]:
    text = header.text
    for line in header.lines():
        bullet = _BULLET.match(text, line.start, line.end)
        for part in split_key_values(text, bullet.end(), line.end) if bullet else ():
            pair = key_value(text, part.start, part.end)
            if pair is not None:
                key, span = pair
                yield from value_facts(text, key, _without_comment(text, span), "bullets")


def _without_comment(text: str, span: Span) -> Span:
    """Return the value without a trailing `<!-- optional -->`."""
    comment = text.find("<!--", span.start, span.end)
    end = span.end if comment < 0 else comment
    while end > span.start and text[end - 1] in " \t":
        end -= 1
    return Span(span.start, end)


_SHORT = 80
_OTHER_KEY = re.compile(r"[A-Z][\w-]*(?:[ ][\w-]+){0,4}:[ ]")
"""A line with an unknown key: `Implementation Status: verified`."""


def _read_lines(header: Header) -> Iterator[Fact]:
    """Yield the facts of `Key: value` lines; a value may continue on the next lines of its paragraph."""
    text = header.text
    current: tuple[str, Span] | None = None
    previous_end = -1
    is_open = False
    for line in header.lines():
        content = text[line.start : line.end]
        first, *others = split_key_values(text, line.start, line.end)
        pair = key_value(text, first.start, first.end)
        follows = current is not None and text[previous_end : line.start].strip(" \t\\") in ("\n", "\r\n", "\r")
        if pair or not follows or not content.strip() or not _continues(content):
            if current:
                yield from value_facts(text, *current, "line")
            current = pair
            for part in others if pair or _OTHER_KEY.match(content.lstrip("*_> ")) else ():
                more = key_value(text, part.start, part.end)
                if more is not None:
                    yield from value_facts(text, *more, "line")
            if pair is None and is_open and (below := _status_alone(text, line.start, line.end)):
                yield from value_facts(text, "status", below, "line")
            is_open = pair == ("status", Span(line.end, line.end)) or (is_open and not content.strip())
            opening = next(opening_phrases(text, line.start, line.end), None) if pair is None else None
            if opening is not None and opening.rel == "superseded_by":  # or `This ADR has been superseded by`
                start = _mark_above(text, line.start)
                yield Fact("superseding", content.strip(), whole_line(text, Span(start, line.end)), "line")
        elif current and current[1].end > current[1].start:
            key, span = current
            current = key, Span(span.start, line.start + len(content.rstrip()))
        previous_end = line.end
    if current:
        yield from value_facts(text, *current, "line")


def _status_alone(text: str, start: int, end: int) -> Span | None:
    """Return the span of a line that is little more than a status, below a bare key: `**Status:**`."""
    bullet = _BULLET.match(text, start, end)
    content = text[bullet.end() if bullet else start : end].strip()
    if len(content) > _SHORT or normalise_status(content)[0] == "unknown":
        return None
    at = text.index(content, start)
    return Span(at, at + len(content))


def _mark_above(text: str, start: int) -> int:
    """Return the start of the notice whose first line this is; else the line's own start."""
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    mark = NOTICE.match(text, above, start) if above < start else None
    return above if mark is not None and not text[mark.end() : start].strip(' \t\r\n"') else start


def _continues(content: str) -> bool:
    """Say whether a line continues the paragraph above: no heading, list, table or relation."""
    bare = content.lstrip()
    if _OTHER_KEY.match(bare):
        return False
    if bare.startswith(("#", "- ", "* ", "+ ", "|", ">", "---", "***", "```", "~~~", "**", "__", "<")):
        return False
    return not any(phrase.verb.start <= 1 for phrase in find_phrases(bare))


def _insertion(
    read: Callable[[Header], Iterator[Fact]], header: Header, key: str, value: str
) -> tuple[int, str] | None:
    """Insert a line above the first stated one, with the same bullet or quote, and in bold like it."""
    text = header.text
    for fact in read(header):
        # A superseding remark includes the gap above it.
        start = text.rfind("\n", 0, fact.span.end if fact.key == "superseding" else fact.span.start) + 1
        lead = _LEAD.match(text, start)
        mark, bold = lead.groups("") if lead is not None else ("", "")
        newline = "\r\n" if text[max(0, start - 2) : start] == "\r\n" else "\n"
        gap = newline if not mark and text[start - len(newline) * 2 : start] == newline * 2 else ""
        return start, f"{mark}{bold}{key.capitalize()}:{bold} {value}{newline}{gap}"
    return None


def _render(fact: Fact, value: str) -> str:
    return value if fact.raw else f" {value}"


BULLETS = Style("bullets", _read_items, _render, partial(_insertion, _read_items))
LINES = Style("line", _read_lines, _render, partial(_insertion, _read_lines))
