"""Chunks of a text that search can find and a reader can go to.

Headings, rules and code are those of the Markdown parser, so that a `#` in fenced code cuts nothing
and front matter is no section. A text that is not Markdown is cut by its lines.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

from orbit_registry.errors import UsageError
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import Heading, parse_markdown, within
from orbit_registry.formats.position import Span, TextLines
from orbit_registry.hook.session import tokens
from orbit_registry.model.record import Record

Strategy = Literal["auto", "headers", "delimiter", "fixed", "none"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
ENOUGH = 3  # so many headings, else rules, make `auto` cut at them
_RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})[ \t]*$", re.MULTILINE)
_EQUALS = re.compile(r"^={3,}[ \t]*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？])")
_WORD = re.compile(r"\s+")
_CODE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Chunking:
    """How a text is cut: sizes in tokens, as the one estimator counts them.

    `levels` are those of headings.
    """

    strategy: Strategy = "auto"
    min_tokens: int = 100
    max_tokens: int = 800
    fixed_tokens: int = 500
    overlap_tokens: int = 50
    levels: tuple[int, ...] = (2, 3)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part of a text, its lines counted from 1, both included."""

    code: str  # a name that the chunk keeps while its own text stays, whatever happens above it
    title: str
    breadcrumb: str
    """The headings that lead to it, `Guide > Install > Linux`, of several sections `A … C`."""
    sections: tuple[str, ...]  # every heading in it
    anchors: tuple[str, ...]  # what a link to one of them has behind its `#`
    first_line: int
    last_line: int
    tokens: int
    body: str
    continues: bool = False  # whether it begins with the end of the chunk before it
    warning: Literal["", "undersized", "oversized"] = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in chunks, and the strategy that cut it: `auto` is never what it comes to."""

    strategy: Strategy
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    span: Span
    title: str = ""
    continues: bool = False


def chunking_from(value: object) -> Chunking:
    """Return what a record's `chunking` states, with the defaults for what it leaves out."""
    options = dict(value) if isinstance(value, Mapping) else {}
    if "levels" in options:
        options["levels"] = tuple(options["levels"])

    chunking = Chunking(**options)
    if chunking.strategy not in STRATEGIES:
        message = f"there is no strategy {chunking.strategy!r}"
        raise UsageError(message, hint=f"one of: {', '.join(STRATEGIES)}")

    if max(chunking.min_tokens, chunking.fixed_tokens) > chunking.max_tokens:
        message = "a chunk's least or usual size is above its largest"
        raise UsageError(message, hint="raise max_tokens")

    if chunking.overlap_tokens * 2 > chunking.fixed_tokens:
        hint = "lower overlap_tokens, or raise fixed_tokens"
        raise UsageError("chunks overlap by more than half", hint=hint)

    return chunking


def cut(text: str, chunking: Chunking | None = None, *, markdown: bool = True) -> Cut:
    """Return a text in chunks of all lines but front matter and delimiters.

    `markdown` says whether headings count.
    """
    return _Cutter(text, chunking or Chunking(), markdown=markdown).cut()


def chunks_of(record: Record) -> tuple[Chunk, ...]:
    """Return the chunks of a record's text where that is a whole file.

    It is cut by default where its record asks for nonsense.
    """
    source = record.source
    if source is None or not record.kind.in_file:
        return ()

    try:
        chunking = chunking_from(record.data.get("chunking"))
    except UsageError:  # the gate says so
        chunking = Chunking()

    return cut(record.prose, chunking, markdown=is_markdown(source.path)).chunks


class _Cutter:
    """A text that is being cut; `headings`, `code` and `anchors` are empty without Markdown."""

    def __init__(self, text: str, chunking: Chunking, *, markdown: bool) -> None:
        self.text = text
        self.chunking = chunking
        self.headings: Sequence[Heading] = ()
        self.code: Sequence[Span] = ()
        self.anchors: Mapping[int, str] = {}

        if markdown or chunking.strategy == "headers":
            document = parse_markdown(text)
            self.lines = document.lines
            self.headings = document.headings
            self.code = document.code
            self.anchors = document.anchors
            self.content = Span(document.content_start, len(text))
            self.rules = [*document.rules, *self._equals()]
            self.rules.sort(key=lambda span: span.start)
        else:
            self.lines = TextLines(text)
            self.content = Span(int(text.startswith("\ufeff")), len(text))
            self.rules = [Span(*match.span()) for match in _RULE.finditer(text)]

    def cut(self) -> Cut:
        strategy = self._strategy()
        chunks = list(filter(None, map(self._chunk, self._pieces(strategy))))
        if len(chunks) > 1 and strategy != "none":
            for number, chunk in enumerate(chunks):
                if chunk.tokens < self.chunking.min_tokens:
                    chunks[number] = replace(chunk, warning="undersized")

        return Cut(strategy, tuple(_with_unique_codes(chunks)))

    def _pieces(self, strategy: Strategy) -> Iterable[_Piece]:
        """Return the pieces of a strategy that has been decided on; they become chunks."""
        match strategy:
            case "headers":
                return self._split(self._by_headers())
            case "delimiter":
                return self._split(self._by_rules())
            case "fixed":
                return self._fixed(self.content)

        return [_Piece(self.content)]

    def _strategy(self) -> Strategy:
        strategy = self.chunking.strategy
        if strategy != "auto":
            return strategy
        if self._tokens(self.content) < 2 * self.chunking.min_tokens:
            return "none"
        if sum(heading.level in self.chunking.levels for heading in self.headings) >= ENOUGH:
            return "headers"
        if len(self.rules) >= ENOUGH:
            return "delimiter"

        return "fixed"

    # --------------------------------------------------------------------------------- where to cut

    def _by_headers(self) -> Iterator[_Piece]:
        """Cut before each heading of the levels asked for and above, which end what came before."""
        # Each place to cut, with the title of what follows.
        cuts = [(self.content.start, "")]
        for heading in self._heads(self.headings):
            cuts.append((heading.section.start, heading.text))

        cuts.append((self.content.end, ""))
        for (start, title), (end, _) in pairwise(cuts):
            if self.text[start:end].strip():
                yield _Piece(Span(start, end), title)

    def _heads(self, headings: Iterable[Heading]) -> list[Heading]:
        """Return those of some headings that begin a part."""
        deepest = max(self.chunking.levels, default=0)
        return [heading for heading in headings if heading.level <= deepest]

    def _by_rules(self) -> Iterator[_Piece]:
        """Cut at each rule, which is in no piece."""
        start = self.content.start
        for rule in (*self.rules, Span(self.content.end, self.content.end)):
            if self.text[start : rule.start].strip():
                yield _Piece(Span(start, rule.start))

            start = rule.end

    def _equals(self) -> Iterator[Span]:
        """Yield the lines of `=` that are a paragraph: under a line of text they make a heading."""
        for match in _EQUALS.finditer(self.text):
            at = match.start()
            above = self._heading_above(at)
            is_heading = above >= 0 and at < self.headings[above].body.start
            if not is_heading and not self._is_code(at):
                yield Span(at, match.end())

    def _merged(self, pieces: Iterable[_Piece]) -> list[_Piece]:
        """Join pieces that are too small with the next, and the last one with the one before."""
        merged: list[_Piece] = []
        for piece in pieces:
            joined = None
            if merged and self._is_small(merged[-1]):
                joined = self._joined(merged[-1], piece)

            if joined is not None:
                merged[-1] = joined
            else:
                merged.append(piece)

        if len(merged) > 1 and self._is_small(merged[-1]):
            joined = self._joined(*merged[-2:])
            if joined is not None:
                merged[-2:] = [joined]

        return merged

    def _is_small(self, piece: _Piece) -> bool:
        return self._tokens(piece.span) < self.chunking.min_tokens

    def _joined(self, first: _Piece, second: _Piece) -> _Piece | None:
        """Return two pieces as one; None if that is larger than allowed."""
        span = Span(first.span.start, second.span.end)
        if self._tokens(span) > self.chunking.max_tokens:
            return None

        return _Piece(span, first.title or second.title)

    def _split(self, sections: Iterable[_Piece]) -> Iterator[_Piece]:
        """Yield sections, small ones joined and large ones in parts."""
        for section in self._merged(sections):
            if self._tokens(section.span) <= self.chunking.max_tokens:
                yield section
                continue

            for number, part in enumerate(self._fixed(section.span), start=1):
                yield replace(part, title=f"{section.title} (part {number})".strip())

    def _fixed(self, span: Span) -> Iterator[_Piece]:
        """Yield overlapping stretches of the usual size.

        They are cut at a paragraph, else a line, a sentence, a word.
        """
        offsets = self._offsets(span)
        start = reached = span.start
        continues = False

        while start < span.end:
            remaining = Span(start, span.end)
            end = span.end
            if not self._fits(remaining, self.chunking.fixed_tokens):
                end = self._end(start, offsets)

            # No line fits behind the overlap: it would only say the end once more.
            if continues and end <= reached:
                start = reached
                continues = False
                continue

            is_short = self._fits(Span(end, span.end), self.chunking.min_tokens)
            if is_short and self._fits(remaining, self.chunking.max_tokens):
                end = span.end
            if self.text[start:end].strip():
                yield _Piece(Span(start, end), continues=continues)
            if end >= span.end:
                return

            start = self._overlap(start, end, offsets)
            reached = end
            continues = start < end

    def _end(self, start: int, offsets: Sequence[int]) -> int:
        """Return where a stretch that begins here ends.

        That is the last end of a paragraph in its second half, if there is one.
        """
        size = self.chunking.fixed_tokens
        first = bisect_right(offsets, start)
        ends = offsets[first : bisect_right(offsets, start + 4 * size)]
        fitting = bisect_right(ends, size, key=lambda end: self._tokens(Span(start, end)))
        last = first + max(fitting - 1, 0)

        if self._fits(Span(start, offsets[last]), self.chunking.min_tokens - 1):
            longer = Span(start, offsets[min(last + 1, len(offsets) - 1)])
            if self._fits(longer, self.chunking.max_tokens):
                return longer.end

            return offsets[last]

        # A paragraph that ends in the first half would leave a short stretch.
        middle = start + (offsets[last] - start) // 2
        for index in range(last, first, -1):
            if offsets[index] < middle:
                break

            if self._ends_paragraph(offsets[index]):
                return offsets[index]

        return offsets[last]

    def _overlap(self, start: int, end: int, offsets: Sequence[int]) -> int:
        """Return where the next stretch begins: tokens before this one's end, at a place to cut."""
        if not self.chunking.overlap_tokens:
            return end

        # A token has four characters of ASCII, and fewer in other scripts.
        stretch = self.text[start:end]
        share = 4 if stretch.isascii() else max(1, len(stretch) // max(tokens(stretch), 1))
        earliest = max(end - self.chunking.overlap_tokens * share, start + 1)
        index = bisect_left(offsets, earliest)

        if index < len(offsets) and offsets[index] < end:
            return offsets[index]

        word = _WORD.search(self.text, earliest, end)
        if word is not None:
            return min(word.end(), end)

        return end

    def _offsets(self, span: Span) -> list[int]:
        """Return where the text may be cut: after lines, in long ones after sentences and words."""
        offsets: list[int] = []
        line = self.lines.index_of(span.start)
        start = span.start
        while start < span.end:
            end = min(self.lines.start_of(line + 1), span.end)
            if self._tokens(Span(start, end)) > self.chunking.fixed_tokens:
                offsets += self._offsets_in_line(start, end)

            offsets.append(end)
            start = end
            line += 1

        return offsets

    def _offsets_in_line(self, start: int, end: int) -> Iterator[int]:
        """Yield where a long line may be cut: after sentences if that is enough, else words."""
        for pattern in (_SENTENCE, _WORD):
            offsets = [match.end() for match in pattern.finditer(self.text, start, end)]
            parts = pairwise([start, *offsets, end])
            if all(self._tokens(Span(*bounds)) <= self.chunking.fixed_tokens for bounds in parts):
                yield from (offset for offset in offsets if offset < end)
                return

        last = start
        for offset in [*offsets, end]:  # a word without end
            step = self.chunking.fixed_tokens
            if self.text[last:offset].isascii():
                step *= 4

            yield from range(last + step, offset, step)
            if offset < end:
                yield offset

            last = offset

    def _ends_paragraph(self, offset: int) -> bool:
        return self.text.endswith(("\n\n", "\n\r\n"), 0, offset) and not self._is_code(offset)

    def _is_code(self, offset: int) -> bool:
        index = bisect_right(self.code, offset, key=lambda span: span.start) - 1
        return index >= 0 and self.code[index].start < offset < self.code[index].end

    # --------------------------------------------------------------------------------- chunks -----

    def _chunk(self, piece: _Piece) -> Chunk | None:
        """Return a piece as a chunk without the blank lines around it; None if nothing is left."""
        raw = piece.span.of(self.text)
        body = raw.strip("\r\n")
        if not body.strip():
            return None

        start = piece.span.start + len(raw) - len(raw.lstrip("\r\n"))
        end = start + len(body)
        inside = within(self.headings, Span(start, end), lambda heading: heading.section.start)
        # What is before the first heading is named by that heading.
        path = self._path(start)
        if inside and not path:
            path = self._path(inside[0].section.start)

        digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
        breadcrumb = self._breadcrumb(path, inside)
        sections = tuple(heading.text for heading in inside)
        anchors = tuple(self.anchors[heading.section.start].lower() for heading in inside)
        size = tokens(body)
        first_line = self.lines.position(start).line
        last_line = self.lines.position(end - 1).line
        return Chunk(
            digest[:_CODE_LENGTH],
            piece.title or "".join(path[-1:]),
            breadcrumb,
            sections,
            anchors,
            first_line,
            last_line,
            size,
            body,
            piece.continues,
            "oversized" if size > self.chunking.max_tokens else "",
        )

    def _breadcrumb(self, path: Sequence[str], inside: Sequence[Heading]) -> str:
        """Return the way to a chunk, and where sections follow the first, to the last of them."""
        way = " > ".join(path)
        sections = self._heads(inside)
        if not sections:
            return way

        last = self._path(sections[-1].section.start)
        if last == path:
            return way

        # What both have in common is not repeated.
        shared = 0
        for heading, last_heading in zip(path, last[:-1], strict=False):
            if heading != last_heading:
                break

            shared += 1

        return f"{way} … {' > '.join(last[shared:])}"

    def _path(self, offset: int) -> list[str]:
        """Return the headings that a place is under, the highest first."""
        path = []
        index = self._heading_above(offset)
        while index >= 0:
            path.append(self.headings[index].text)
            index = self.parents[index]

        return path[::-1]

    @cached_property
    def parents(self) -> list[int]:
        """The number of the heading above each heading, -1 for none."""
        parents = []
        under = [-1] * 8  # by level: the last heading of it or of one above
        for number, heading in enumerate(self.headings):
            parents.append(under[heading.level - 1])
            under[heading.level :] = [number] * (8 - heading.level)

        return parents

    def _heading_above(self, offset: int) -> int:
        """Return the number of the last heading that begins at a place or before it, or -1."""
        return bisect_right(self.headings, offset, key=lambda heading: heading.section.start) - 1

    def _fits(self, span: Span, most: int) -> bool:
        """Say whether a stretch has so many tokens at most; a long one is not counted."""
        return span.end - span.start <= 4 * most and self._tokens(span) <= most

    def _tokens(self, span: Span) -> int:
        return tokens(span.of(self.text))


def _with_unique_codes(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks, those that say the same word for word with a number behind their code."""
    counts: dict[str, int] = {}
    for chunk in chunks:
        count = counts[chunk.code] = counts.get(chunk.code, 0) + 1
        if count > 1:
            chunk = replace(chunk, code=f"{chunk.code}-{count}")

        yield chunk
