"""The part of a document that may state metadata, as lines; no style is known here."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.text.adr.fields import Field, read_fields
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.words import KEY_OF, STATUS_OF, plain
from orbit_registry.text.citations import Citation
from orbit_registry.text.markdown import Document, Heading
from orbit_registry.text.position import Span

ROLES = ("deciders", "authors", "owner", "contact", "consulted", "informed")

_MARK = r"(?:\*\*|__|\*|_|`)?"
_KEYED = re.compile(
    rf"[ \t]{{0,3}}(?:>[ \t]{{0,3}})?(?P<open>{_MARK})(?P<key>[^\W\d_](?:[^\W\d]|[ -]){{1,30}}?)[ \t]?"
    rf"(?:{_MARK}[ \t]?[:：][ \t]?(?P<close>{_MARK}))(?P<gap>[ \t]*)"
)


_RUN_IN = re.compile(
    r"[ \t]{0,3}(?:>[ \t]{0,3})?(?P<mark>\*\*|__)(?P<key>[^\W\d_](?:[^\W\d_]|[ -]){1,30}?)"
    r"(?:(?P<stop>\.)(?P=mark)|(?P=mark)(?P<after>\.?))(?:[ \t]+|$)(?P<value>[^\r\n]*)"
)
"""`**Status.** Accepted`, and `**Status** Accepted`."""
_FIRST_WORD = re.compile(r"[^\w]*(?P<word>[^\W\d_]+)")
_CUT = re.compile(
    r"[ \t]+[|｜][ \t]+(?=(?:\*\*|__)?[^\W\d][\w -]{1,30}(?:\*\*|__)?[:：])|[ \t]+[·•][ \t]+(?=\*\*|__)"
    r"|(?P<known>[ \t]*[,;][ \t]+|[ \t]+[·•/—–-][ \t]+|[ ]{2,}|[ ]*\t[ \t]*)"
)
"""Where a line may go on with another key; after what is `known`, only one that says something here."""
_ON_ONE_LINE = frozenset({"status", "date", "tags", "superseded_by", "supersedes", *ROLES})


@dataclass(frozen=True, slots=True)
class Line:
    """A line outside code and comments, without its line end."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a style reads: the text, the zone that may state metadata, and the headings inside the decision."""

    document: Document
    zone: tuple[Span, ...]
    headings: tuple[Heading, ...]
    """The headings inside the decision, its own left out."""
    fields: tuple[Field, ...]
    in_log: bool
    citations: tuple[Citation, ...] = ()
    """The ids named anywhere in the file."""

    @property
    def text(self) -> str:
        """The whole text of the file."""
        return self.document.text

    def lines(self) -> Iterator[Line]:
        """Yield the zone's lines that are neither code nor an HTML comment."""
        for span in self.zone:
            yield from visible_lines(self.document, span, self.document.hidden)


def visible_lines(document: Document, span: Span, hidden: Sequence[Span]) -> Iterator[Line]:
    """Yield the lines of `span` outside the sorted `hidden` spans."""
    lines = document.lines
    number = lines.index_of(span.start)
    next_hidden = bisect_right(hidden, span.start, key=lambda other: other.end)
    while number < len(lines) and lines.starts[number] < span.end:
        start = max(lines.starts[number], span.start)
        end = min(lines.ends[number], span.end)
        while next_hidden < len(hidden) and hidden[next_hidden].end <= start:
            next_hidden += 1
        if next_hidden >= len(hidden) or hidden[next_hidden].start > start:
            yield Line(start, end)
        number += 1


def visible_starts(document: Document, span: Span, hidden: Sequence[Span], pattern: str) -> Iterator[int]:
    """Yield where those of `visible_lines` start that a pattern of one line matches; no other is looked at."""
    text = document.text
    if span.start == 0 or text[span.start - 1] not in "\r\n":
        first = re.compile(pattern)
        yield from (line.start for line in visible_lines(document, span, hidden) if first.match(text, line.start))
        return
    for match in re.compile(rf"[\r\n](?:{pattern})").finditer(text, span.start - 1, span.end):
        start = match.start() + 1
        at = bisect_right(hidden, start, key=lambda other: other.end)
        if at == len(hidden) or hidden[at].start > start:
            yield start


def keyed(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return (known key, span of the value) if `text[start:end]` is `Key: value`, bold or plain."""
    match = _KEYED.match(text, start, end)
    if match is None:
        return _run_in(text, start, end)
    key = KEY_OF.get(plain(match["key"].strip()))
    if key is None:
        return None
    stop = end
    while stop > match.end() and text[stop - 1] in " \t\\":
        stop -= 1
    close = match["close"]
    is_closed = match["open"] in text[match.end("key") : match.start("close")]
    own = close and is_closed and close in text[match.end() : stop]
    value_start = match.start("close") if own else match.end()  # `Status: **Accepted**`: the value's own mark
    if (
        match["open"]
        and text[value_start:stop].endswith(match["open"])
        and match["open"] not in text[match.end("key") : value_start]
    ):
        stop -= len(match["open"])  # `**Status: Accepted**`: the mark closes after the value
    return key, Span(min(value_start, stop), stop)


def _run_in(text: str, start: int, end: int) -> tuple[str, Span] | None:
    """Return key and value of `**Status.** Accepted`; without the stop only where the value is surely none of prose."""
    match = _RUN_IN.match(text, start, end)
    key = KEY_OF.get(plain(match["key"].strip())) if match is not None else None
    if match is None or key not in ("status", "date", "deciders"):
        return None
    value = match["value"].rstrip(" \t\\")
    word = _FIRST_WORD.match(value)
    is_status = key == "status" and word is not None and plain(word["word"]) in STATUS_OF
    is_date = key == "date" and any(char.isdigit() for char in value[:20])
    stopped = (match["stop"] or match["after"]) and key != "date"
    if not (stopped or not value or is_status or is_date):
        return None
    return key, Span(match.start("value"), match.start("value") + len(value))


def keyed_parts(text: str, start: int, end: int) -> list[Span]:
    """Cut a line where it goes on with another key: `Status: accepted | Date: 2026-05-01`."""
    if _KEYED.match(text, start, end) is None:
        return [Span(start, end)]
    cuts = [
        cut
        for cut in _CUT.finditer(text, start, end)
        if cut["known"] is None or ((found := keyed(text, cut.end(), end)) is not None and found[0] in _ON_ONE_LINE)
    ]
    starts, ends = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
    return [Span(begin, stop) for begin, stop in zip(starts, ends, strict=True)]


def whole_line(text: str, span: Span) -> Span:
    """Return the lines of `span` from the line end before them (blank lines above included) to their own."""
    start = text.rfind("\n", 0, span.start) + 1
    while start > 0 and text[start - 1] in "\r\n \t":
        start -= 1
    end = span.end
    while end < len(text) and text[end] in " \t\\*_":
        end += 1
    return Span(start, end)


def first_offset(fact: Fact) -> int:
    """Return an offset in the first line that states `fact`; a superseding remark includes the gap above it."""
    return fact.span.end if fact.key == "superseding" else fact.span.start


def front_matter_fields(document: Document) -> tuple[Field, ...]:
    """Return the entries of the document's front matter, or none."""
    return read_fields(document.text, document.front_matter) if document.front_matter else ()


def split_names(value: str) -> tuple[str, ...]:
    """Return the names of `a, b and c`, `{a, b}` or `@a @b`; template prose gives none."""
    bare = value.strip()
    if bare.startswith(("{", "[")) and bare.endswith(("}", "]")):
        bare = bare[1:-1]
        if "," not in bare and len(bare.split()) > 3:
            return ()
    parts = re.split(r"[,;]|\band\b(?=[ ])", bare) if ("," in bare or ";" in bare) else re.split(r"[ ]+(?=@)", bare)
    return tuple(name for part in parts if (name := part.strip().strip("*_")))
