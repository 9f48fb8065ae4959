"""Translates offsets in a paragraph's content, as the parser joins and unescapes it, into offsets in the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from orbit_registry.text.position import Span

Place = tuple[int, int, int]
"""A stretch of content: its offset in the content, and where it starts and ends in the text."""


def cell_places(text: str, content: str, start: int, end: int) -> list[Place]:
    """Return the places of a table cell's content, whose escaped pipes the parser has unescaped."""
    found = text.find(content, start, end)
    if found >= 0:
        return [(0, found, found + len(content))]
    found = text.find(content.replace("|", "\\|"), start, end)
    if found < 0:
        return [(0, start, start)]
    places: list[Place] = []
    offset, at = 0, found
    for number, part in enumerate(content.split("|")):
        written = len(part) if number == 0 else len(part) + 2
        lead = written - len(part) if number else 0
        places.append((offset - (number > 0), at + lead - (number > 0), at + written))
        offset += len(part) + 1
        at += written
    return places


def to_text(places: Sequence[Place], offset: int) -> int:
    """Translate an offset in an inline token's content into an offset in the text."""
    index = bisect_right(places, (offset, len("x") << 62, 0)) - 1
    content_start, start, end = places[max(index, 0)]
    return max(start, min(start + offset - content_start, end))


def verified(text: str, span: Span, written: str, around: Span) -> Span | None:
    """Return `span` if the text there is what the parser saw, else look for it inside the link."""
    if span.of(text) == written:
        return span
    found = text.rfind(written, around.start, around.end + len(written))
    return Span(found, found + len(written)) if found >= 0 else None


def destination(content: str, opening: int, limit: int) -> tuple[int, int] | None:
    """Return where the destination after the `(` or `:` at `opening` is written, without `<` and `>`."""
    start = opening + 1
    while start < limit and content[start] in " \t\r\n":
        start += 1
    if start >= limit:
        return None
    if content[start] == "<":
        end = content.find(">", start, limit)
        return (start + 1, end) if end > start + 1 else None
    end, depth = start, 0
    while end < limit and content[end] not in " \t\r\n":
        if content[end] == "\\" and end + 1 < limit:
            end += 1
        elif content[end] == "(":
            depth += 1
        elif content[end] == ")":
            if depth == 0:
                break
            depth -= 1
        end += 1
    return (start, end) if end > start else None
