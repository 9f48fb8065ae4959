"""Tables and lists of definitions in HTML, as tables of cells with their places."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from html import unescape

from orbit_registry.formats.markdown import Cell, Document, Table
from orbit_registry.formats.position import Span

_LONGEST = 20_000  # characters of a table that are read
_OPENING = re.compile(r"<(?P<tag>table|dl)\b[^<>]{0,500}>", re.IGNORECASE)
_ROW = re.compile(r"<tr\b[^<>]{0,300}>", re.IGNORECASE)
_CELL = re.compile(r"<(?P<tag>t[dh]|d[td])\b[^<>]{0,300}>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:t[dhr]|d[td]|table|tbody|thead|dl)>", re.IGNORECASE)
_TEXT = re.compile(r"(?:\s|<[^<>]{0,500}>)*(?P<text>[^<]*[^<\s])(?:\s|<[^<>]{0,500}>)*")
"""A cell with one text, whatever tags are around it."""
_TAG = re.compile(r"<[^<>]{0,500}>")
_ANCHOR = re.compile(
    r"<a\b[^<>]{0,300}?\bhref\s*=\s*[\"'](?P<url>[^\"'<>\s]{1,500})[\"'][^<>]{0,300}>"
    r"(?P<text>[^<]{0,300})</a>",
    re.IGNORECASE,
)


def html_tables(document: Document, zone: Span) -> Iterator[Table]:
    """Yield the tables of the HTML in a zone, and its lists of definitions with a row each."""
    text = document.text
    at = zone.start
    while opening := _OPENING.search(text, at, zone.end):
        close = text.lower().find(f"</{opening['tag'].lower()}>", opening.end(), zone.end)
        end = close if close >= 0 else zone.end
        at = end
        if _in_code(document, opening.start()) or end - opening.end() > _LONGEST:
            continue

        rows = _rows(text, opening.end(), end)
        yield Table(tuple(tuple(row) for row in rows if row), Span(opening.start(), end))


def _in_code(document: Document, offset: int) -> bool:
    index = bisect_right(document.code, offset, key=lambda span: span.start) - 1
    return index >= 0 and offset < document.code[index].end


def _rows(text: str, start: int, end: int) -> Iterator[list[Cell]]:
    bounds = [match.end() for match in _ROW.finditer(text, start, end)]
    if not bounds:
        yield from _definitions(text, start, end)
        return

    for begin, stop in zip(bounds, [*bounds[1:], end], strict=True):
        yield [cell for _, cell in _cells(text, begin, stop)]


def _definitions(text: str, start: int, end: int) -> Iterator[list[Cell]]:
    row: list[Cell] = []
    for tag, cell in _cells(text, start, end):
        if tag == "dt":
            yield row
            row = []

        row.append(cell)

    yield row


def _cells(text: str, start: int, end: int) -> Iterator[tuple[str, Cell]]:
    openings = list(_CELL.finditer(text, start, end))
    if not openings:
        return

    ends = [*(other.start() for other in openings[1:]), end]
    for opening, stop in zip(openings, ends, strict=True):
        closing = _CLOSING.search(text, opening.end(), stop)
        inner = Span(opening.end(), closing.start() if closing else stop)
        yield opening["tag"].lower(), _cell(text, inner)


def _cell(text: str, inner: Span) -> Cell:
    """Return a cell: its text with Markdown's links for those of HTML, and where it is written."""
    content = inner.of(text)
    linked = _ANCHOR.sub(lambda link: f"[{link['text'].strip()}]({link['url']})", content)
    plain = " ".join(unescape(_TAG.sub(" ", linked)).split())
    alone = _TEXT.fullmatch(text, inner.start, inner.end)
    if alone is None:
        stripped = content.strip()
        begin = inner.start + content.find(stripped)
        return Cell(plain, Span(begin, begin + len(stripped)))

    words = alone["text"]
    begin = alone.start("text") + len(words) - len(words.lstrip())
    return Cell(plain, Span(begin, alone.end("text")))
