"""The structure of a Markdown text and its front matter as values with places; how it is found is `markdown`'s."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from orbit_registry.text.position import Position, Span

Item = TypeVar("Item")
LinkKind = Literal["inline", "reference", "autolink", "image"]

_LINE_END = re.compile(r"\r\n?|\n")


class TextLines:
    """Where the lines of a text start, so that an offset becomes a position in logarithmic time."""

    __slots__ = ("_newlines", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        found = [match.span() for match in _LINE_END.finditer(text)]
        self.text = text
        self.starts: list[int] = [0, *(end for _, end in found)]
        self.ends: list[int] = [*(start for start, _ in found), len(text)]
        has_lone = "\r" in text.replace("\r\n", "\n")
        self._newlines = [0, *(at for at in self.starts[1:] if text[at - 1] == "\n")] if has_lone else self.starts

    def __len__(self) -> int:
        return len(self.starts)

    def position(self, offset: int) -> Position:
        """Return line and column of the character at `offset`; lines end at `\\n`, as editors count them."""
        line = bisect_right(self._newlines, offset)
        return Position(line, offset - self._newlines[line - 1] + 1)

    def index_of(self, offset: int) -> int:
        """Return the number (from 0) of the line that the character at `offset` stands in."""
        return bisect_right(self.starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return the offset where line `line` (from 0) starts, or the end of the text after the last line."""
        return self.starts[line] if line < len(self.starts) else len(self.text)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside quotes, lists and code; `text` is plain, `title` spans the title as written."""

    level: int
    text: str
    title: Span
    id: str | None
    position: Position
    section: Span
    """From the heading's own line up to the next heading of the same or a higher level."""
    body: Span
    """The section without the heading's lines."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: plain text, and where its content stands (None where the row leaves it out)."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first row is its header."""

    rows: tuple[tuple[Cell, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    """A link or image; `target` is decoded as the parser reads it, `target_span` is where it is written."""

    text: str
    target: str
    position: Position
    span: Span
    target_span: Span | None
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """The structure of one Markdown text."""

    text: str
    lines: TextLines
    front_matter: Span | None
    """The lines between the `---` fences, without the fences."""
    content_start: int
    """Where the text after the front matter (or the byte order mark) begins."""
    headings: tuple[Heading, ...]
    code: tuple[Span, ...]
    """Fenced and indented code, whole lines, fences included."""
    html: tuple[Span, ...]
    """HTML blocks, comments among them, whole lines."""
    hidden: tuple[Span, ...]
    """Code and HTML blocks together, in order."""
    rules: tuple[Span, ...]
    """Thematic breaks, whole lines."""
    tables: tuple[Table, ...]
    links: tuple[Link, ...]


def within(items: Sequence[Item], span: Span, start: Callable[[Item], int]) -> Sequence[Item]:
    """Return the items that start inside `span`; they must be in the order of `start`."""
    return items[bisect_left(items, span.start, key=start) : bisect_left(items, span.end, key=start)]


_MAPPING_LINE = re.compile(r"""["']?[\w.-]+["']?[ \t]*:(?:[ \t]|$)""")
_COMMENTS = re.compile(r"\ufeff?\s*(?:<!--(?:(?!-->).){0,4000}-->\s*)+(?=---[ \t]*[\r\n])", re.DOTALL)
_TOML = re.compile(r"\ufeff?\+{3}[ \t]*\r?\n(?:(?!\+{3})[^\n]*\n){0,400}?\+{3}[ \t]*(?:\r?\n|\Z)")
_TOML_LINE = re.compile(r"^[ \t]*[\w-]+[ \t]*=", re.MULTILINE)
_FRONT_MATTER = re.compile(rf"\ufeff?(?:\s*<!--|---|\+\+\+|{_MAPPING_LINE.pattern.removesuffix('$)')}[\r\n]|\Z))")
"""What a text begins with that has any; most have none."""
_FENCE_LIMIT = 4096  # lines a front matter may have before it is taken for ordinary text


def content_start(text: str) -> int:
    """Return where the text after the front matter, or the byte order mark, begins."""
    if _FRONT_MATTER.match(text) is not None:
        lines = TextLines(text)
        _, first_line = find_front_matter(text, lines)
        if first_line:
            return lines.start_of(first_line)
    return int(text.startswith("\ufeff"))


def find_front_matter(text: str, lines: TextLines) -> tuple[Span | None, int]:
    """Return the span between the `---` fences and the number of the first line after them (0: none).

    An opening fence that someone lost is forgiven where every line down to the closing one is an entry, and so are
    comments above the fence: licences are written there. One in TOML (`+++`) is skipped and has no span.
    """
    toml = _TOML.match(text)
    if toml is not None and _TOML_LINE.search(toml.group()):
        return None, lines.index_of(toml.end() - 1) + 1
    noted = _COMMENTS.match(text)
    top = lines.index_of(noted.end()) if noted else 0
    first = text[lines.starts[top] : lines.ends[top]].removeprefix("\ufeff")
    fenced = first.rstrip(" \t") == "---"
    if not fenced and _MAPPING_LINE.match(first) is None:
        return None, 0
    forgiven = not fenced or noted is not None
    mappings, others = 0, 0
    for number in range(top + fenced, min(len(lines), top + _FENCE_LIMIT)):
        line = text[lines.starts[number] : lines.ends[number]] if number else first
        if line.rstrip(" \t") in ("---", "..."):
            if (others and not mappings) or (forgiven and (others or mappings < 2)):
                return None, 0
            start = lines.starts[top + 1] if fenced else text.startswith("\ufeff")
            return Span(int(start), lines.starts[number]), number + 1
        if not fenced and not line.strip():
            return None, 0
        if line.strip() and not line.startswith((" ", "\t", "#", "- ")):
            matched = _MAPPING_LINE.match(line) is not None
            mappings, others = mappings + matched, others + (not matched)
    return None, 0
