"""Tables, lists of definitions and `<b>Key:</b> value` in HTML, as tables of cells with their
places.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from html import unescape

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.markdown import Cell, Document, Table
from orbit_registry.formats.position import Span

_LONGEST = 20_000  # characters of a table that are read
_OPENING = pattern("html_opening")
_COMMENTS = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE = pattern("html_image")
_BREAK = re.compile(
    r"<br[ ]?/?>|</(?:li|p|div|ul|ol)>|\r?\n|(?:&nbsp;|[|·•])\s{0,9}(?=<(?:b|strong)>)",
    re.IGNORECASE,
)
_KEYED = re.compile(
    r"(?:[ \t]|<[^<>]{1,300}>)*<[^<>]{1,300}>[ \t]*(?P<key>[^\W\d_][^<>:：]{0,40}?)"
    r"(?:[ \t]|</\w{1,10}>)*[:：]"
)
"""A key that a tag is ahead of: `<li><b>Status:</b> Accepted`."""
_ROW = re.compile(r"<tr\b[^<>]{0,300}>", re.IGNORECASE)
_CELL = re.compile(r"<(?P<tag>t[dh]|d[td])\b[^<>]{0,300}>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:t[dhr]|d[td]|table|tbody|thead|dl)>", re.IGNORECASE)
_TEXT = re.compile(r"(?:\s|<[^<>]{0,500}>)*(?P<text>[^<]*[^<\s])(?:\s|<[^<>]{0,500}>)*")
"""A cell with one text, whatever tags are around it."""
_APART = pattern("html_lines_apart")
_MOMENT = pattern("html_time")
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
        if opening["tag"] is None:
            at = opening.end()
            continue

        close = text.lower().find(f"</{opening['tag'].lower()}>", opening.end(), zone.end)
        end = close if close >= 0 else zone.end
        at = end
        if _in_code(document, opening.start()) or end - opening.end() > _LONGEST:
            continue

        rows = _rows(text, opening.end(), end)
        yield Table(tuple(tuple(row) for row in rows if row), Span(opening.start(), end))


def html_images(document: Document, zone: Span) -> Iterator[Span]:
    """Yield where the addresses of the images in the HTML of a zone are."""
    for image in _IMAGE.finditer(document.text, zone.start, zone.end):
        if image["url"] is not None and not _in_code(document, image.start()):
            yield Span(*image.span("url"))


def html_lines(document: Document, zone: Span) -> Iterator[Table]:
    """Yield a row for each line of the HTML in a zone that a key begins, outside its tables."""
    text = document.text
    if "<" not in zone.of(text):
        return

    tables = (table.span for table in html_tables(document, zone))
    comments = (Span(*match.span()) for match in _COMMENTS.finditer(text, zone.start, zone.end))
    apart = [*tables, *comments, *document.code]
    start = zone.start
    breaks = [*(match.span() for match in _BREAK.finditer(text, zone.start, zone.end))]
    for end, beyond in (*breaks, (zone.end, zone.end)):
        keyed = _KEYED.match(text, start, end)
        if keyed is not None and not any(span.start <= start < span.end for span in apart):
            key = Cell(keyed["key"].strip(), Span(*keyed.span("key")))
            row = (key, _cell(text, Span(keyed.end(), end)))
            yield Table((row,), Span(start, end))

        start = beyond


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
            row = [cell]
        elif len(row) > 1:  # `<dt>Deciders</dt><dd>Ada</dd><dd>Bob</dd>`
            row[1] = _together(row[1], cell)
        else:
            row.append(cell)

    yield row


def _together(first: Cell, second: Cell) -> Cell:
    if first.span is None or second.span is None:
        if first.text:
            return first

        return second

    return Cell(f"{first.text}, {second.text}", Span(first.span.start, second.span.end))


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
    apart = _APART.sub(", ", _MOMENT.sub(r"\g<day>", linked))
    plain = " ".join(unescape(_TAG.sub(" ", apart)).split())
    alone = _TEXT.fullmatch(text, inner.start, inner.end)
    if alone is None:
        stripped = content.strip()
        begin = inner.start + content.find(stripped)
        return Cell(plain, Span(begin, begin + len(stripped)))

    words = alone["text"]
    begin = alone.start("text") + len(words) - len(words.lstrip())
    return Cell(plain, Span(begin, alone.end("text")))
