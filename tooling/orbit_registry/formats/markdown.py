"""Markdown structure with positions in the original text, and anchors, by markdown-it-py.

Every `Span` counts characters of the text as given: a byte order mark, CRLF, tabs and a missing
last newline shift nothing. Code and HTML blocks have no structure.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, pairwise, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from orbit_registry.formats.position import Position, Span, TextLines, text_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

    InlineRule = Callable[[StateInline, bool], bool]
    BlockRule = Callable[[StateBlock, int, int, bool], bool]

Item = TypeVar("Item")
LinkKind = Literal["inline", "reference", "autolink", "image"]

_MAX_NESTING = 40
"""Nesting of quotes and lists (lists count double); deeper ones would be parsed again and again."""
_TITLED = frozenset({"heading_open", "th_open", "td_open"})
"""Tokens whose text is always parsed; a paragraph is parsed only where it may hold a link."""
_LABELLED = frozenset({"link_open", "image"})
_SPANNED = _LABELLED | {"html_inline", "code_inline", "math_inline"}
HARD_BLANK = re.compile(r"^([ ]{0,3}#{1,6})[\u00a0\u202f\u3000]", re.MULTILINE)
"""A no-break blank after a heading's mark: CommonMark sees no heading there, its author does."""
_ATTRIBUTE = (
    r"""(?:[#.][\w.:-]{1,200}|[\w-]{1,60}=(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s"'{}]{1,200}))"""
)
ATTRIBUTES = re.compile(
    r"(?:(?<![ \t])[ \t]+)?(?<!\\)\{(?::|(?=[^{}\n]{0,2000}[#.]))[ \t]*"
    rf"({_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE}){{0,20}})[ \t]*\}}[ \t]*$"
)
"""Attributes at the end of a heading: `{#id}`, `{ #id .class }`, `{: #id key=value }`."""
_HASHES = re.compile(r"[ \t]*#{1,6}(?=[ \t\u00a0\u202f\u3000\r\n]|\Z)[ \t\u00a0\u202f\u3000]*")
_CLOSING = re.compile(r"(?:^|[ \t])#+\Z")
PIPE = re.compile(r"(?<!\\)\|")
_STOPS = re.compile(r"[\n*<@\[\\\]_`~$]|!(?=\[)|&(?=[#A-Za-z])|:(?=\S)|w(?=ww\.)")
"""Where a rule for text within lines may begin, and where a label ends. The parser stops at each
`w` and at signs that begin nothing here, and tries every rule there.
"""
_NOT_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside quotes, lists and code.

    `text` is plain, `title` spans the title as written.
    """

    level: int
    text: str
    title: Span
    id: str | None
    position: Position
    section: Span  # from the heading's line up to the next heading of the same or a higher level
    body: Span  # the section without the heading's lines


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: plain text, and the span of its content (None where the row omits it)."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first row is its header."""

    rows: tuple[tuple[Cell, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    """A link or image; `target` is decoded, `target_span` is where it is written."""

    text: str
    target: str
    position: Position
    span: Span
    target_span: Span | None
    kind: LinkKind
    label: Span | None = None  # where its words are written; None of an address alone


@dataclass(frozen=True, slots=True)
class Document:
    """The structure of one Markdown text."""

    text: str
    lines: TextLines
    front_matter: Span | None  # the lines between the `---` fences, without the fences
    content_start: int  # where the text after the front matter (or the byte order mark) begins
    headings: tuple[Heading, ...]
    code: tuple[Span, ...]  # fenced and indented code, whole lines, fences included
    html: tuple[Span, ...]  # HTML blocks, comments among them, whole lines
    rules: tuple[Span, ...]  # thematic breaks, whole lines
    tables: tuple[Table, ...]
    links: tuple[Link, ...]
    tags: tuple[Span, ...] = ()
    """HTML tags and comments within lines, where lines were read."""
    code_in_lines: tuple[Span, ...] = ()
    """Code within lines, backticks included, where lines were read."""
    hidden: tuple[Span, ...] = ()
    """Code and HTML blocks together, in order."""

    @property
    def anchors(self) -> dict[int, str]:
        """Anchors by the start of a heading's section.

        An anchor is an explicit `{#id}` or a slug, numbered where it repeats.
        """
        count: Counter[str] = Counter()
        anchors = {}
        for heading in self.headings:
            anchor = name = heading.id or slug(heading.text)
            if count[name]:
                anchor += f"-{count[name]}"

            anchors[heading.section.start] = anchor
            count[name] += 1

        return anchors


def slug(text: str) -> str:
    """Return a heading's anchor as forges make it: `ADR-1 — A` is `adr-1--a`.

    Leading underscores are left out.
    """
    return _NOT_SLUG.sub("", text.strip().lower()).replace(" ", "-").lstrip("_")


def within(items: Sequence[Item], span: Span, start: Callable[[Item], int]) -> Sequence[Item]:
    """Return the items that start inside `span`; they must be ordered by `start`."""
    first = bisect_left(items, span.start, key=start)
    beyond = bisect_left(items, span.end, key=start)
    return items[first:beyond]


_reader: ContextVar[Callable[[str], Document] | None] = ContextVar("reader", default=None)
"""What gives the structure of a text with more that it reads at once."""


@contextlib.contextmanager
def read_with(reader: Callable[[str], Document]) -> Iterator[None]:
    """Have a reader give the structures of texts: one that also makes HTML of them parses once what
    would be parsed twice.
    """
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def parse_markdown(text: str) -> Document:
    """Read the structure of `text`; never fails."""
    reader = _reader.get()
    if reader:
        return reader(text)

    return _structure(text)


@lru_cache(maxsize=4096)
def _structure(text: str) -> Document:
    """Read a structure. The cache has 18 kB a document: several readers ask about one."""
    env: dict[str, Any] = {}
    tokens = _parser().parse(parsed_text(text), env)
    return structure_of(text, tokens, env)


def parsed_text(text: str) -> str:
    """Return what a parser reads of a text: no front matter, and headings as their authors mean
    them.
    """
    return HARD_BLANK.sub(r"\1 ", text[content_start(text) :])


def structure_of(text: str, tokens: Sequence[Token], env: Mapping[str, Any]) -> Document:
    """Return the structure of a text that a parser made of `base_parser` and `with_spans` read."""
    return _Reader(text, env.get("references", {})).document(tokens)


def base_parser(**options: bool) -> MarkdownIt:
    """Return a parser of CommonMark and tables whose rows keep their text."""
    from markdown_it import MarkdownIt  # 45 ms: a run that reads no changed text needs none
    from markdown_it.rules_block import table

    markdown = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING, **options})
    markdown.enable("table")
    markdown.block.ruler.at("table", _with_columns(table), {"alt": ["paragraph", "reference"]})
    return markdown


@cache
def _parser() -> MarkdownIt:
    markdown = base_parser()
    markdown.core.ruler.at("inline", _titles_and_links)
    return with_spans(markdown)


def with_spans(markdown: MarkdownIt) -> MarkdownIt:
    """Return a parser whose tokens of links and tags say where they are."""
    from markdown_it.rules_inline import autolink, backtick, html_inline, image, link

    rules = {
        "link": link,
        "image": image,
        "autolink": autolink,
        "html_inline": html_inline,
        "backticks": backtick,
    }
    for name, rule in rules.items():
        markdown.inline.ruler.at(name, with_span(rule))

    markdown.inline.terminator_re = _STOPS
    return markdown


def with_span(rule: InlineRule) -> InlineRule:
    """Wrap a link's rule so that its token has the spans of link and label in the inline text."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        start = state.pos
        first = len(state.tokens)

        if not rule(state, silent):
            return False
        if silent:
            return True

        tokens = state.tokens[first:]
        token = next((token for token in tokens if token.type in _SPANNED), None)
        if token is None:
            return True  # backticks without others that close them

        token.meta["span"] = (start, state.pos)
        token.meta["label_end"] = None

        if token.type in _LABELLED and token.markup != "autolink":
            is_link = token.type == "link_open"
            bracket = start + (not is_link)
            token.meta["label_end"] = state.md.helpers.parseLinkLabel(state, bracket, is_link)

        return True

    return wrapped


def _with_columns(rule: BlockRule) -> BlockRule:
    """Wrap the rule of tables so that the token of a row has its text and its column."""

    def wrapped(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        first = len(state.tokens)

        if not rule(state, start, end, silent):
            return False
        if silent:
            return True

        for token in state.tokens[first:]:
            if token.type == "tr_open" and token.map:
                line = token.map[0]
                row = state.bMarks[line] + state.tShift[line]
                line_start = state.eMarks[line - 1] + 1 if line else 0
                token.meta["row"] = state.src[row : state.eMarks[line]]
                token.meta["column"] = row - line_start

        return True

    return wrapped


def _titles_and_links(state: StateCore) -> None:
    marks = ["](", "<"]
    if state.env.get("references"):
        marks.append("[")

    for previous, token in pairwise(state.tokens):  # an inline token is never the first
        if token.type != "inline":
            continue

        if previous.type in _TITLED or any(mark in token.content for mark in marks):
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def row_cells(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of the cells of a table's row."""
    bounds = [start - 1, *(pipe.start() for pipe in PIPE.finditer(text, start, end)), end]
    spans = [_stripped(text, Span(before + 1, after)) for before, after in pairwise(bounds)]

    # Pipes at both ends are decoration.
    if not spans[0].of(text):
        del spans[0]
    if spans and not spans[-1].of(text):
        del spans[-1]

    return spans


def _stripped(text: str, span: Span) -> Span:
    """Return a span without the white space at its ends."""
    content = span.of(text)
    start = span.start + len(content) - len(content.lstrip())
    return Span(start, start + len(content.strip()))


def _plain(tokens: Iterable[Token] | None) -> str:
    """Return inline tokens as plain text; code and unknown tags stay as written."""
    texts = []
    for token in tokens or ():
        if token.type in ("softbreak", "hardbreak"):
            texts.append(" ")
        elif token.children:
            texts.append(_plain(token.children))
        else:
            texts.append(token.content)

    return "".join(texts)


_Places = list[tuple[int, int]]
"""Pairs of offsets, in an inline token's content and in the text, where equal runs begin."""


class _Reader:
    def __init__(self, text: str, references: Mapping[str, Any]) -> None:
        self.text = text
        self.lines = text_lines(text)
        self.front_matter, self.first_line = _find_front_matter(text, self.lines)
        self.start = self.lines.start_of(self.first_line) or int(text.startswith("\ufeff"))

        self.references = references
        self.headings: list[Heading] = []
        self.blocks: dict[str, list[Span]] = {
            name: [] for name in ("fence", "code_block", "html_block", "hr")
        }
        self.tables: list[Table] = []
        self.links: list[Link] = []
        self.tags: list[Span] = []
        self.code_in_lines: list[Span] = []

    def document(self, tokens: Sequence[Token]) -> Document:
        self._read(tokens)

        headings = tuple(_with_sections(self.headings, len(self.text)))
        code = self.blocks["fence"] + self.blocks["code_block"]
        code.sort(key=lambda span: span.start)
        html = tuple(self.blocks["html_block"])
        hidden = sorted((*code, *html), key=lambda span: span.start)
        rules = tuple(self.blocks["hr"])
        return Document(
            self.text,
            self.lines,
            self.front_matter,
            self.start,
            headings,
            tuple(code),
            html,
            rules,
            tuple(self.tables),
            tuple(self.links),
            tuple(self.tags),
            tuple(self.code_in_lines),
            tuple(hidden),
        )

    def _read(self, tokens: Sequence[Token]) -> None:
        """Sort tokens into blocks, tables, headings and links."""
        rows: list[list[Cell]] = []
        spans: Iterator[Span] = iter(())
        start = 0

        for index, token in enumerate(tokens):
            if token.type in self.blocks:
                self.blocks[token.type].append(self._lines_of(token))
            elif token.type == "table_open":
                rows = []
                start = self._lines_of(token).start
            elif token.type == "tr_open":
                row = self._lines_of(token)
                spans = iter(row_cells(self.text, row.start + token.meta["column"], row.end))
                rows.append([])
            elif token.type == "table_close":
                # It begins with its first line, even if the cells of that are empty.
                ends = [cell.span.end for cell in chain.from_iterable(rows) if cell.span]
                end = max(ends, default=start)
                self.tables.append(Table(tuple(map(tuple, rows)), Span(start, end)))
            elif token.type == "inline":
                opening = tokens[index - 1]
                if opening.type in ("th_open", "td_open"):
                    rows[-1].append(self._cell(token, next(spans, None)))
                    continue

                if opening.type == "heading_open" and opening.level == 0:
                    self._heading(opening, _plain(token.children).rstrip())
                if token.children:
                    self._links(token, self._line_places(token))

    def _cell(self, token: Token, span: Span | None) -> Cell:
        """Return a table's cell, and keep its links."""
        if not token.content:
            span = None

        self._links(token, self._cell_places(span) if span else [])
        return Cell(_plain(token.children), span)

    def _lines_of(self, token: Token) -> Span:
        """Return the lines of a block; the parser counts them from the end of the front matter."""
        first, end = token.map or (0, 0)
        start = self.lines.start_of(first + self.first_line)
        return Span(start, self.lines.start_of(end + self.first_line))

    def _line_places(self, token: Token) -> _Places:
        """Return the places of a content whose lines are those of the text but for their start."""
        places = []
        offset = 0
        line = (token.map or (0, 0))[0] + self.first_line

        for content in token.content.split("\n"):
            bare = content.strip()
            start = self.lines.starts[line]
            end = self.lines.ends[line]
            position = self.text.rfind(bare, start, end)
            if position < 0:
                position = max(start, end - len(bare))

            lead = len(content) - len(content.lstrip())
            places.append((offset + lead, position))
            offset += len(content) + 1
            line += 1

        return places

    def _cell_places(self, cell: Span) -> _Places:
        """Return the places of a cell's content, in which an escaped pipe is one character."""
        places = [(0, cell.start)]
        for number, match in enumerate(re.finditer(r"\\\|", cell.of(self.text))):
            at = match.start()
            places.append((at - number, cell.start + at + 1))

        return places

    def _heading(self, token: Token, text: str) -> None:
        lines = self._lines_of(token)
        title = self._title(Span(max(lines.start, self.start), lines.end))
        explicit = None
        attributes = text.endswith("}") and ATTRIBUTES.search(title.of(self.text))
        if attributes:
            title = Span(title.start, title.start + attributes.start())
            text = ATTRIBUTES.sub("", text)
            explicit = next((word[1:] for word in attributes[1].split() if word[0] == "#"), None)

        position = self.lines.position(lines.start or int(self.text.startswith("\ufeff")))
        level = int(token.tag[1])
        self.headings.append(Heading(level, text.strip(), title, explicit, position, lines, lines))

    def _title(self, lines: Span) -> Span:
        """Return where the title of a heading is, without its hashes or its underline."""
        content = lines.of(self.text).rstrip()
        hashes = _HASHES.match(content)
        if hashes is None:
            underline = max(content.rfind("\n"), content.rfind("\r"))
            return _stripped(self.text, Span(lines.start, lines.start + underline))

        start = lines.start + hashes.end()
        return Span(start, start + len(_CLOSING.sub("", content[hashes.end() :]).rstrip()))

    def _links(self, token: Token, places: _Places) -> None:
        children = token.children or []
        for index, child in enumerate(children):
            if "span" not in child.meta:
                continue

            span = _translated(places, *child.meta["span"])
            if child.type not in _LABELLED:
                (self.tags if child.type == "html_inline" else self.code_in_lines).append(span)
                continue

            position = self.lines.position(span.start)
            kind, target_span = self._target(child, span, token.content, places)

            if child.type == "image":
                text = child.content
                target = child.attrGet("src")
            else:
                text = _plain(takewhile(_is_inside, children[index + 1 :]))
                target = child.attrGet("href")

            label = None
            label_end = child.meta["label_end"]
            if label_end is not None:
                label_start = child.meta["span"][0] + 1 + (child.type == "image")
                label = _translated(places, label_start, label_end)

            target = str(target or "")
            self.links.append(Link(text, target, position, span, target_span, kind, label))

    def _target(
        self, token: Token, span: Span, content: str, places: _Places
    ) -> tuple[LinkKind, Span | None]:
        """Return the kind of a link, and where its target is written."""
        start, end = token.meta["span"]
        label_end = token.meta["label_end"]
        if label_end is None:
            return "autolink", Span(span.start + 1, span.end - 1)

        is_image = token.type == "image"
        if content[end - 1] == ")":
            target_span = _destination(content, label_end + 2, end)
            if target_span is not None:
                target_span = _translated(places, target_span.start, target_span.end)

            return "image" if is_image else "inline", target_span

        label = content[label_end + 2 : end - 1] or content[start + 1 + is_image : label_end]
        return "image" if is_image else "reference", self._definition(label)

    def _definition(self, label: str) -> Span | None:
        """Return where the target of a reference is written: `[label]: target`."""
        from markdown_it.common.utils import normalizeReference

        definition = self.references.get(normalizeReference(label))
        if definition is None:
            return None

        start, end = (self.lines.start_of(line + self.first_line) for line in definition["map"])
        head = self.text.find("]:", start, end)
        if head < 0:
            return None

        return _destination(self.text, head + 2, end)


def _is_inside(token: Token) -> bool:
    return token.type != "link_close"


def _translated(places: _Places, start: int, end: int) -> Span:
    """Return a stretch of an inline token's content as a span of the text."""

    def in_text(offset: int) -> int:
        content, text = places[bisect_right(places, offset, key=itemgetter(0)) - 1]
        return text + offset - content

    return Span(in_text(start), in_text(end - 1) + 1)


def _destination(text: str, start: int, limit: int) -> Span | None:
    """Return the span of the destination after `(` or `:`, without `<` and `>`."""
    from markdown_it.helpers import parseLinkDestination

    while start < limit and text[start] in " \t\r\n":
        start += 1

    if start >= limit:
        return None

    bracket = text[start] == "<"
    end = parseLinkDestination(text, start, limit).pos
    if end <= start + 2 * bracket:
        return None

    return Span(start + bracket, end - bracket)


def _with_sections(headings: Sequence[Heading], end_of_text: int) -> Iterator[Heading]:
    """Yield the headings with their sections, which reach to the next of their level."""
    # By level: where the next heading of that level or higher begins.
    next_start = [end_of_text] * 8
    sections = []

    for heading in reversed(headings):
        sections.append((heading, next_start[heading.level]))
        next_start[heading.level :] = [heading.section.start] * (8 - heading.level)

    for heading, end in reversed(sections):
        lines = heading.section
        yield replace(heading, section=Span(lines.start, end), body=Span(min(lines.end, end), end))


_MAPPING_LINE = re.compile(r"""["']?[\w.-]+["']?[ \t]*:(?:[ \t]|$)""")
_TIGHT_LINE = re.compile(r"[a-z][\w.-]*:(?!//)\S")
"""`tag:the web` between fences: no YAML, and no sentence either."""
_EXPLICIT_LINE = re.compile(r"""[?:][ \t]|\{[ \t]*["']?[\w.-]+["']?[ \t]*:|[}\]]""")
"""`? status`, and a mapping in braces: YAML that few people write."""
_COMMENTS = re.compile(
    r"\ufeff?\s*(?:<!--(?:(?!-->).){0,4000}-->\s*)+(?=---(?:ya?ml)?[ \t]*[\r\n])", re.DOTALL
)
_TOML = re.compile(r"\ufeff?\+{3}[ \t]*\r?\n(?:(?!\+{3})[^\n]*\n){0,400}?\+{3}[ \t]*(?:\r?\n|\Z)")
_TOML_LINE = re.compile(r"^[ \t]*[\w.-]+[ \t]*=", re.MULTILINE)
_PLAIN_START = re.compile(r"[#*>|!`]|[-+]\s|\w+[ \t,.]")
"""How a text without front matter begins, as far as its first characters tell."""
_OPENING_FENCES = ("---", "---yaml", "---yml")
_FENCE_LIMIT = 4096  # lines a front matter may have before it is taken for ordinary text


@lru_cache(maxsize=64)
def content_start(text: str) -> int:
    """Return the offset after the front matter or the byte order mark."""
    if _PLAIN_START.match(text):
        return 0

    lines = text_lines(text)
    _, first_line = _find_front_matter(text, lines)
    return lines.start_of(first_line) or int(text.startswith("\ufeff"))


def _find_front_matter(text: str, lines: TextLines) -> tuple[Span | None, int]:
    """Return the span between the `---` fences, and the number of the first line after them.

    That number is 0 without front matter. A missing opening fence is accepted if every line down to
    the closing one is an entry, and so are comments above the fence, where licences are written.
    TOML (`+++`) is skipped and has no span.
    """
    toml = _TOML.match(text)
    if toml is not None and _TOML_LINE.search(toml.group()):
        return None, lines.index_of(toml.end() - 1) + 1

    noted = _COMMENTS.match(text)
    top = lines.index_of(noted.end()) if noted else 0
    first = text[lines.starts[top] : lines.ends[top]].removeprefix("\ufeff")
    fenced = first.rstrip(" \t") in _OPENING_FENCES
    is_lower = fenced and top > 0

    if not fenced and _MAPPING_LINE.match(first) is None:
        return None, 0

    mappings = 0
    others = 0

    for number in range(top + fenced, min(len(lines), top + _FENCE_LIMIT)):
        line = text[lines.starts[number] : lines.ends[number]] if number else first
        if line.rstrip(" \t") in ("---", "..."):
            fewest = 1 if is_lower else 2
            is_strict = is_lower or not fenced
            if (others and not mappings) or (is_strict and (others or mappings < fewest)):
                return None, 0

            start = lines.starts[top + 1] if fenced else int(text.startswith("\ufeff"))
            return Span(start, lines.starts[number]), number + 1

        if not fenced and not line.strip():
            return None, 0

        if not line.strip() or line.startswith((" ", "\t", "#", "- ")):
            continue

        is_tight = fenced and (_TIGHT_LINE.match(line) or _EXPLICIT_LINE.match(line))
        if _MAPPING_LINE.match(line) or is_tight:
            mappings += 1
        else:
            others += 1

    return None, 0
