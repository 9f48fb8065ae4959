"""Markdown structure with places in the original text; it makes no HTML and opens no file.

Every `Span` counts characters of the text as given: a byte order mark, CRLF, tabs and a missing last
newline shift nothing. Headings, links and tables inside fenced code, indented code or HTML blocks do
not exist here, because the parser does not see them either.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, cast
from urllib.parse import quote

from pyromark import Options, events_with_range, reference_definitions
from pyromark.event import Range

from orbit_registry.text.position import Position, Span
from orbit_registry.text.structure import (
    Cell,
    Heading,
    Link,
    LinkKind,
    MarkdownDocument,
    Table,
    TextLines,
    find_front_matter,
)

_CONTAINERS = frozenset({"BlockQuote", "List"})
_ROWS = frozenset({"TableHead", "TableRow"})
_SPEAKING = frozenset({"TableCell", "Heading", "Link", "Image"})
"""What has a text of its own."""
_READ = Options.ENABLE_TABLES
_FENCE = re.compile(r"^([ >]*(?:`{3,}|~{3,}))([ \t]+)(?=\r?$)", re.MULTILINE)
"""What closes a block of code; the parser takes it for more where a tab follows."""
_HALF = re.compile("[\ud800-\udfff]")
_HARD_BLANK = re.compile(r"^([ ]{0,3}#{1,6})[\u00a0\u202f\u3000]", re.MULTILINE)
"""A blank that an editor put behind the mark of a heading: CommonMark sees no heading, whoever wrote it does."""
_LONE_RETURN = re.compile(r"\r(?!\n)")
_ATTRIBUTE = r"""(?:[#.][\w.:-]{1,200}|[\w-]{1,60}=(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s"'{}]{1,200}))"""
_ATTRIBUTES = re.compile(
    r"[ \t]*(?<!\\)\{(?::|(?=[^{}\n]{0,2000}[#.]))[ \t]*"
    rf"({_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE}){{0,20}})[ \t]*\}}[ \t]*$"
)
"""What may end a heading and is none of its words: `{#id}`, `{ #id .class }`, `{: #id key=value }`."""
_HASHES = re.compile(r"[ \t]*#{1,6}(?=[ \t\u00a0\u202f\u3000\r\n]|\Z)[ \t\u00a0\u202f\u3000]*")
_CLOSING = re.compile(r"(?:^|[ \t])#+\Z")
_REFUSED = re.compile(r"\s*(?:vbscript|javascript|file|data(?!:image/(?:gif|png|jpeg|webp);)):", re.IGNORECASE)
"""Addresses that are no links: they would run something."""
_KEPT = ";/?:@&=+$,-_.!~*'()#%"
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@lru_cache(maxsize=1024)
def parse_markdown(text: str) -> MarkdownDocument:
    """Read the structure of `text` (CommonMark with tables, optional YAML front matter). Never fails.

    As many texts are remembered as decisions are (16 MB): what they cite, hold and link is asked one after the other.
    """
    lines = TextLines(text)
    front_matter, first_line = find_front_matter(text, lines)
    start = lines.start_of(first_line)
    if first_line == 0 and text.startswith("\ufeff"):
        start = 1
    reader = _Reader(text, lines, start)
    reader.read()
    return MarkdownDocument(
        text,
        lines,
        front_matter,
        start,
        tuple(_with_sections(reader.headings, len(text))),
        tuple(reader.code),
        tuple(reader.html),
        tuple(sorted((*reader.code, *reader.html), key=lambda span: span.start)),
        tuple(reader.rules),
        tuple(reader.tables),
        tuple(sorted(reader.links, key=lambda link: link.span.start)),
    )


@dataclass(slots=True)
class _OpenHeading:
    level: int
    text: str
    title: Span
    id: str | None
    position: Position
    start: int
    body_start: int


@dataclass(slots=True)
class _Open:
    """What was begun and whose text is being read: where it began, in bytes, and what it says so far."""

    start: int
    tag: str
    given: Mapping[str, Any] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)


class _Reader:
    """One pass over the parser's events that turns its places in bytes into spans of the original text."""

    def __init__(self, text: str, lines: TextLines, start: int) -> None:
        self.text, self.lines, self.start = text, lines, start
        self.body = parsable(text[start:] if start else text)
        self.bytes: list[int] = []
        """Where each character ends that takes more than one byte, and how many bytes more there are by then."""
        self.more = [0]
        if not self.body.isascii():
            for found in re.finditer(r"[^\x00-\x7f]", self.body):
                self.more.append(self.more[-1] + len(found[0].encode()) - 1)
                self.bytes.append(found.end() + self.more[-1])
        self.headings: list[_OpenHeading] = []
        self.code: list[Span] = []
        self.html: list[Span] = []
        self.rules: list[Span] = []
        self.tables: list[Table] = []
        self.links: list[Link] = []
        self.open: list[_Open] = []
        self.rows: list[tuple[Cell, ...]] = []
        self.cells: list[Cell] = []
        self.depth = 0
        """How many quotes and lists are open."""
        self.last = 0
        """Where the last piece of text ended, in bytes."""

    def read(self) -> None:
        for event, place in events_with_range(self.body, options=_READ):
            if isinstance(event, str):
                if event == "Rule":
                    self.rules.append(self._lines(place))
                for one in self.open:
                    one.text.append(" ")
                continue
            [(kind, value)] = event.items()
            if kind == "Start":
                self._begin(value, place)
                continue
            if kind == "End":
                self._end(value if isinstance(value, str) else next(iter(cast(Mapping[str, Any], value))), place)
            else:
                for one in self.open:
                    one.text.append(str(value))
            self.last = place["end"]

    def _begin(self, value: object, place: Range) -> None:
        tag, given = (value, {}) if isinstance(value, str) else next(iter(cast(Mapping[str, Any], value).items()))
        if tag == "HtmlBlock":
            self.html.append(self._lines(place))
        elif tag == "CodeBlock":
            self.code.append(self._lines(place))
        elif tag in _CONTAINERS:
            self.depth += 1
        elif tag == "Table":
            self.rows = []
        elif tag in _ROWS:
            self.cells = []
        elif tag in _SPEAKING:
            self.last = place["start"] + (2 if tag == "Image" else 1)
            self.open.append(_Open(place["start"], tag, given))

    def _end(self, tag: str, place: Range) -> None:
        if tag in _CONTAINERS:
            self.depth -= 1
        elif tag == "TableCell":
            done, start = self.open.pop(), self._at(place["start"])
            span = _stripped(self.text, Span(start, self._at(place["end"])))
            self.cells.append(Cell("".join(done.text), span if span.start < span.end else None))
        elif tag in _ROWS:
            self.rows.append(tuple(self.cells))
        elif tag == "Table":
            self._table(self._lines(place).start, self.rows)
        elif tag == "Heading":
            self._heading(self.open.pop(), place)
        elif tag in ("Link", "Image"):
            self._link(self.open.pop(), place)

    def _at(self, byte: int) -> int:
        return byte - self.more[bisect_right(self.bytes, byte)] + self.start

    def _lines(self, place: Range) -> Span:
        first, last = self._at(place["start"]), self._at(place["end"])
        index = self.lines.index_of
        return Span(self.lines.start_of(index(first)), self.lines.start_of(index(max(first, last - 1)) + 1))

    def _table(self, start: int, rows: list[tuple[Cell, ...]]) -> None:
        """Add a table; it begins with its first line, be there nothing in the cells of that."""
        end = max((cell.span.end for row in rows for cell in row if cell.span), default=start)
        self.tables.append(Table(tuple(rows), Span(start, end)))

    def _heading(self, done: _Open, place: Range) -> None:
        if self.depth:
            return  # in a quote or a list it parts no text
        whole = self._lines(place)
        title = self._title(Span(max(whole.start, self.start), whole.end))
        text = "".join(done.text).rstrip()
        attributes = _ATTRIBUTES.search(title.of(self.text)) if text.endswith("}") else None
        explicit = None
        if attributes:
            title = Span(title.start, title.start + attributes.start())
            text = _ATTRIBUTES.sub("", text)
            explicit = next((word[1:] for word in attributes[1].split() if word[0] == "#"), None)
        self.headings.append(
            _OpenHeading(
                int(done.given["level"][1]),
                text.strip(),
                title,
                explicit,
                self.lines.position(whole.start if whole.start or self.text[:1] != "\ufeff" else 1),
                whole.start,
                whole.end,
            )
        )

    def _title(self, whole: Span) -> Span:
        """Return where the title of a heading is written, after its `#` or above its underline."""
        written = whole.of(self.text).rstrip()
        hashes = _HASHES.match(written)
        if hashes is None:
            underline = max(written.rfind("\n"), written.rfind("\r"))
            return _stripped(self.text, Span(whole.start, whole.start + underline))
        inner = _CLOSING.sub("", written[hashes.end() :]).rstrip()
        start = whole.start + hashes.end()
        return Span(start, start + len(inner)) if inner else _empty_title(self.text, whole)

    def _link(self, done: _Open, place: Range) -> None:
        target, form = done.given["dest_url"], done.given["link_type"]
        if _REFUSED.match(target) or any(one.tag == "Image" for one in self.open):
            return  # in a picture's description it is plain text
        span, after = Span(self._at(done.start), self._at(place["end"])), self._at(self.last)
        kind: LinkKind = "reference"
        target_span: Span | None = None
        if form in ("Autolink", "Email"):
            kind, target_span = "autolink", Span(span.start + 1, span.end - 1)
            target = target if form == "Autolink" else f"mailto:{target}"
        elif form == "Inline":
            kind = "inline"
            opening = self.text.find("](", after, span.end)
            target_span = _destination(self.text, opening + 1, span.end) if opening >= 0 else None
        else:
            target_span = self._definition(done.given["id"])
            if form == "Collapsed" and self.text.startswith("[]", span.end):
                span = Span(span.start, span.end + 2)
        text = "".join(done.text)
        if done.tag == "Image":
            kind, text = "image", self.text[span.start + 2 : after]
        self.links.append(Link(text, _encoded(target), self.lines.position(span.start), span, target_span, kind))

    def _definition(self, label: str) -> Span | None:
        """Return where the target of a reference definition is written."""
        place = self._definitions.get(_label(label))
        if place is None:
            return None
        start, end = self._at(place["start"]), self._at(place["end"])
        head = self.text.find("]:", start, end)
        return _destination(self.text, head + 1, end) if head >= 0 else None

    @cached_property
    def _definitions(self) -> Mapping[str, Range]:
        found = reference_definitions(self.body, options=_READ)
        return {_label(name): definition["span"] for name, definition in found.items()}


def _label(written: str) -> str:
    return " ".join(written.split()).casefold()


def parsable(body: str) -> str:
    """Return a text of the same length that the parser reads as CommonMark says; it takes no half of a character."""
    if not body.isascii():
        body = _HALF.sub("\ufffd", body)
        body = _HARD_BLANK.sub(r"\1 ", body)
    body = body.replace("\0", "\ufffd")
    if "\r" in body:
        body = _LONE_RETURN.sub("\n", body)
    return _FENCE.sub(lambda found: found[1] + " " * len(found[2]), body) if "\t\n" in body or "\t\r" in body else body


def _encoded(target: str) -> str:
    """Return an address as it stands in HTML, with what is encoded already left as it is."""
    return quote(_STRAY_PERCENT.sub("%25", target), safe=_KEPT)


def _stripped(text: str, span: Span) -> Span:
    """Return a span without the blanks at its ends."""
    written = span.of(text)
    start = span.start + len(written) - len(written.lstrip())
    return Span(start, start + len(written.strip()))


def _destination(content: str, opening: int, limit: int) -> Span | None:
    """Return where the destination after the `(` or `:` at `opening` is written, without `<` and `>`."""
    start = opening + 1
    while start < limit and content[start] in " \t\r\n":
        start += 1
    if start >= limit:
        return None
    if content[start] == "<":
        end = content.find(">", start, limit)
        return Span(start + 1, end) if end > start + 1 else None
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
    return Span(start, end) if end > start else None


def _empty_title(text: str, whole: Span) -> Span:
    """Return the empty span after the `#` of a heading that has no title."""
    end = whole.start
    while end < whole.end and text[end] in "# \t":
        end += 1
    return Span(end, end)


def _with_sections(headings: Sequence[_OpenHeading], end_of_text: int) -> list[Heading]:
    """Give each heading the end of its section, from the last heading backwards."""
    result: list[Heading] = []
    next_start = [end_of_text] * 8  # by level: where the next heading of that level or higher begins
    for heading in reversed(headings):
        end = next_start[heading.level]
        result.append(
            Heading(
                heading.level,
                heading.text,
                heading.title,
                heading.id,
                heading.position,
                Span(heading.start, end),
                Span(min(heading.body_start, end), end),
            )
        )
        for level in range(heading.level, 8):
            next_start[level] = heading.start
    return result[::-1]
