"""Metadata as a list (`* Status: accepted`, `- **Date:** 2026-05-01`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.text.adr.header import Header, first_offset, keyed, keyed_parts
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.statement import stated
from orbit_registry.text.position import Span

NAME = "bullets"
_BULLET = re.compile(r"[ \t]{0,3}[*+-][ \t]{1,4}")


def read(header: Header) -> Iterator[Fact]:
    """Yield each `- Key: value` item of the header."""
    text = header.text
    for line in header.lines():
        bullet = _BULLET.match(text, line.start, line.end)
        for part in keyed_parts(text, bullet.end(), line.end) if bullet else ():
            found = keyed(text, part.start, part.end)
            if found is not None:
                key, span = found
                yield from stated(text, key, _without_comment(text, span), NAME)


def _without_comment(text: str, span: Span) -> Span:
    """Leave a trailing `<!-- optional -->` out of the value."""
    comment = text.find("<!--", span.start, span.end)
    end = span.end if comment < 0 else comment
    while end > span.start and text[end - 1] in " \t":
        end -= 1
    return Span(span.start, end)


def written(fact: Fact, value: str) -> str:
    """Return the value as it is, after a space where the item had no value."""
    return value if fact.raw else f" {value}"


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Insert an item above the first one, with the same bullet."""
    text = header.text
    for fact in read(header):
        start = text.rfind("\n", 0, first_offset(fact)) + 1
        bullet = _BULLET.match(text, start)
        if bullet is None:
            return None
        bold = "**" if text.startswith("**", bullet.end()) else ""
        newline = "\r\n" if text[max(0, start - 2) : start] == "\r\n" else "\n"
        return start, f"{bullet.group()}{bold}{key.capitalize()}:{bold} {value}{newline}"
    return None
