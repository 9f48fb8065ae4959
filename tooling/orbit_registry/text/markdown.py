"""Markdown structure with places in the original text; the only importer of markdown-it-py, and it opens no file.

Every `Span` counts characters of the text as given: a byte order mark, CRLF, tabs and a missing last
newline shift nothing. Headings, links and tables inside fenced code, indented code or HTML blocks do
not exist here, because the parser does not see them either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, autolink, image, link
from markdown_it.token import Token
from pyromark import Options, events_with_range, html

from orbit_registry.text.places import Place, cell_places, destination, to_text, verified
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

_AUTOLINK = re.compile(r"<[^\s<>]{1,64}[:@]")
_MARKUP = re.compile(r"[*_`\\<>&!\[\]\n]")
_SEPARATOR = re.compile(r"(?<!\\)\|")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_SHOWN = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH
_TAG = re.compile(rb"<(?=[A-Za-z/!?])")
_MAY_SHOW_CODE = re.compile(rb"`|~~~|\n[ \t>]*\n(?: {4}|\t)")
_MOST_LOOKS = 32
"""So many blocks of HTML in a row are told from code that shows some; a longer row is not."""
_FENCE = re.compile(r"^([ >]*(?:`{3,}|~{3,}))[ \t]+$", re.MULTILINE)
"""What closes a block of code, with what pyromark takes for more: a tab after it."""
_LONGEST_ROW = 4096
"""A longer one is not searched for code: what opens and closes it would be looked for again and again."""
_HEADING_ID = re.compile(r"[ \t]*\{:?[ \t]*#([\w.:-]{1,200})[ \t]*\}[ \t]*$")


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
    env: dict[str, Any] = {}
    tokens = _parser().parse(text[start:], env)
    reader = _Reader(text, lines, first_line, env)
    reader.read(tokens)
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
        tuple(reader.links),
    )


def render_html(text: str) -> str:
    """Return `text` as HTML without its front matter; raw HTML in it comes out escaped.

    The result still has to be sanitised before it is published: this decides structure, not safety.
    """
    lines = TextLines(text)
    _, first_line = find_front_matter(text, lines)
    start = lines.start_of(first_line) if first_line else int(text.startswith("\ufeff"))
    body = text[start:].replace("\r\n", "\n").replace("\r", "\n")
    if "\t\n" in body:
        body = _FENCE.sub(r"\1", body)
    return html(_with_whole_rows(_without_html(body)), options=_SHOWN)


def _without_html(body: str) -> str:
    """Return a text with no HTML in it: a `<` that opens a tag or block stands there as the character that it is.

    What follows in a block is ordinary text then, in which the next may open; so it is looked at again.
    """
    for _ in range(_MOST_LOOKS):
        raw, parts, end = body.encode(), [], 0
        if _TAG.search(raw) is None:
            return body
        for event, place in events_with_range(body, options=_SHOWN):
            if event == {"Start": "HtmlBlock"} or "InlineHtml" in event:
                at, last = raw.index(b"<", place["start"]), place["end"]
                if _MAY_SHOW_CODE.search(raw, at, last):
                    last = at + 2
                parts += [raw[end:at], _TAG.sub(b"&lt;", raw[at:last])]
                end = last
        if not parts:
            return body
        body = b"".join((*parts, raw[end:])).decode()
    return _TAG.sub(b"&lt;", body.encode()).decode()


def _with_whole_rows(body: str) -> str:
    """Return a text whose tables have no row with more cells than columns: such cells would not be shown at all.

    Most of them come of a `|` in code that nobody escaped, as in `Edit | Write`.
    """
    if "|" not in body:
        return body
    raw, parts, end, columns = body.encode(), [], 0, 0
    for event, place in events_with_range(body, options=_SHOWN):
        match event:
            case {"Start": {"Table": alignments}}:
                columns = len(alignments)
            case {"Start": "TableRow"}:
                first = raw.rfind(b"\n", 0, place["start"]) + 1
                last = raw.find(b"\n", place["start"])
                line = raw[first:] if last < 0 else raw[first:last]
                parts += [raw[end:first], _whole_row(line.decode(), columns).encode()]
                end = first + len(line)
    return b"".join((*parts, raw[end:])).decode() if parts else body


def _whole_row(line: str, columns: int) -> str:
    if len(_separators(line)) < columns:
        return line
    if len(line) <= _LONGEST_ROW:
        line = _CODE_SPAN.sub(lambda found: _SEPARATOR.sub(r"\\|", found[0]), line)
    places = _separators(line)[columns - 1 :]
    if not places:
        return line
    first, end = places[0], places[-1] + 1
    return line[:first] + _SEPARATOR.sub(r"\\|", line[first:end]) + line[end:]


def _separators(line: str) -> list[int]:
    """Return where the cells of a table's row part."""
    first = len(line) - len(line.lstrip(" \t>"))
    last = len(line.rstrip()) - 1
    return [found.start() for found in _SEPARATOR.finditer(line) if found.start() not in (first, last)]


def _recording(rule: Callable[[StateInline, bool], bool], kind: LinkKind) -> Callable[[StateInline, bool], bool]:
    """Wrap an inline rule so that the token it pushes remembers where in the paragraph it stands."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        start, first = state.pos, len(state.tokens)
        found = rule(state, silent)
        if found and not silent:
            # The pending text is flushed as a token of its own before the link's.
            opened = next(token for token in state.tokens[first:] if token.type in ("link_open", "image"))
            opened.meta["place"] = (start, state.pos)
            opened.meta["kind"] = kind
            if kind in ("inline", "image"):
                label_at = start + (kind == "image")
                opened.meta["label"] = (label_at, state.md.helpers.parseLinkLabel(state, label_at, kind == "inline"))
        return found

    return wrapped


def _needed_inline(state: StateCore) -> None:
    """Parse the inline content that can hold a link or gives a title; the rest, most of a text, is left alone."""
    references = bool(state.env.get("references"))
    for index, token in enumerate(state.tokens):
        if token.type != "inline":
            continue
        content = token.content
        children: list[Token] = []
        titled = index > 0 and state.tokens[index - 1].type in ("heading_open", "th_open", "td_open")
        may_link = "](" in content or (references and "[" in content) or _AUTOLINK.search(content) is not None
        if may_link or (titled and _MARKUP.search(content)):
            state.md.inline.parse(content, state.md, state.env, children)
        elif titled and content:
            children = [Token("text", "", 0, content=content)]
        token.children = children


@cache
def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.core.ruler.at("inline", _needed_inline)
    markdown.inline.ruler.at("link", _recording(link, "inline"))
    markdown.inline.ruler.at("image", _recording(image, "image"))
    markdown.inline.ruler.at("autolink", _recording(autolink, "autolink"))
    return markdown


@dataclass(slots=True)
class _OpenHeading:
    level: int
    text: str
    title: Span
    id: str | None
    position: Position
    start: int
    body_start: int


class _Reader:
    """One pass over the parser's tokens that turns its line numbers into spans of the original text."""

    def __init__(self, text: str, lines: TextLines, first_line: int, env: Mapping[str, Any]) -> None:
        self.text = text
        self.lines = lines
        self.shift = first_line
        self.references: Mapping[str, Any] = env.get("references", {})
        self.headings: list[_OpenHeading] = []
        self.code: list[Span] = []
        self.html: list[Span] = []
        self.rules: list[Span] = []
        self.tables: list[Table] = []
        self.links: list[Link] = []

    def read(self, tokens: Sequence[Token]) -> None:
        rows: list[tuple[Cell, ...]] = []
        cells: list[Cell] = []
        cursor = table = 0
        for index, token in enumerate(tokens):
            if token.type == "heading_open" and token.level == 0:
                self._heading(token, tokens[index + 1])
            elif token.type in ("fence", "code_block"):
                self.code.append(self._line_span(token))
            elif token.type == "html_block":
                self.html.append(self._line_span(token))
            elif token.type == "hr":
                self.rules.append(self._line_span(token))
            elif token.type == "table_open":
                rows, table = [], self._line_span(token).start
            elif token.type == "tr_open":
                cells, cursor = [], self._line_span(token).start
            elif token.type == "tr_close":
                rows.append(tuple(cells))
            elif token.type == "table_close":
                self._table(table, rows)
            elif token.type == "inline":
                in_cell = _in_cell(tokens, index)
                if not in_cell and not token.children:
                    continue
                places = self._places(token, cursor if in_cell else None)
                if in_cell:
                    span = Span(places[0][1], places[-1][2]) if places and token.content else None
                    cursor = span.end if span else cursor
                    cells.append(Cell(_plain(token.children or ()), span))
                self._inline(token, places)

    def _line_span(self, token: Token) -> Span:
        first, last = token.map or (0, 0)
        return Span(self.lines.start_of(first + self.shift), self.lines.start_of(last + self.shift))

    def _table(self, start: int, rows: list[tuple[Cell, ...]]) -> None:
        """Add a table; it begins with its first line, be there nothing in the cells of that."""
        end = max((cell.span.end for row in rows for cell in row if cell.span), default=start)
        self.tables.append(Table(tuple(rows), Span(start, end)))

    def _heading(self, token: Token, inline: Token) -> None:
        whole = self._line_span(token)
        places = self._places(inline, None)
        title = Span(places[0][1], places[-1][2]) if places else _empty_title(self.text, whole)
        text = _plain(inline.children or ())
        explicit = _HEADING_ID.search(title.of(self.text))
        if explicit:
            title = Span(title.start, title.start + explicit.start())
            text = _HEADING_ID.sub("", text)
        self.headings.append(
            _OpenHeading(
                int(token.tag[1]),
                text.strip(),
                title,
                explicit.group(1) if explicit else None,
                self.lines.position(whole.start if whole.start or self.text[:1] != "\ufeff" else 1),
                whole.start,
                whole.end,
            )
        )

    def _places(self, token: Token, cell_from: int | None) -> list[Place]:
        """Return (offset in the token's content, start, end in the text) for each line of an inline token."""
        first, last = token.map or (0, 0)
        places: list[Place] = []
        offset = 0
        for number, part in enumerate(token.content.split("\n")):
            line = first + number + self.shift
            if line >= min(last + self.shift, len(self.lines)):
                break
            start, end = self.lines.starts[line], self.lines.ends[line]
            bare = part.strip()
            if cell_from is not None:
                return cell_places(self.text, bare, max(start, cell_from), end)
            found = self.text.rfind(bare, start, end)
            if found < 0:  # the parser changed a character (a NUL): the line's end is still right
                found = max(start, end - len(bare))
            lead = len(part) - len(part.lstrip())
            places.append((offset + lead, found, found + len(bare)))
            offset += len(part) + 1
        return places

    def _inline(self, token: Token, places: list[Place]) -> None:
        children = token.children or []
        if not places or not any("place" in child.meta for child in children):
            return
        for index, child in enumerate(children):
            self._link(token.content, places, children, index, child)
            for inner in child.children or ():  # a link in an image's description is plain text, not a link
                inner.meta.pop("place", None)

    def _link(self, content: str, places: list[Place], children: Sequence[Token], index: int, child: Token) -> None:
        place = child.meta.get("place")
        if place is None:
            return
        start, end = place
        kind: LinkKind = child.meta["kind"]
        span = Span(to_text(places, start), to_text(places, end - 1) + 1)
        target_span: Span | None = None
        target = str(child.attrGet("src" if kind == "image" else "href") or "")
        if kind == "autolink":
            target_span = Span(span.start + 1, span.end - 1)
        elif content[end - 1] == ")":
            inner = destination(content, child.meta["label"][1] + 1, end)
            if inner is not None:
                target_span = Span(to_text(places, inner[0]), to_text(places, inner[1] - 1) + 1)
                target_span = verified(self.text, target_span, content[inner[0] : inner[1]], span)
        else:
            label_start, label_end = child.meta["label"]
            own = content[label_start + 1 : label_end]
            full = content[label_end + 2 : end - 1] if content[label_end + 1 : label_end + 2] == "[" else ""
            target_span = self._definition(full or own)
            kind = "reference" if kind == "inline" else kind
        text = child.content if kind == "image" else _plain(_inside(children, index))
        self.links.append(Link(text, target, self.lines.position(span.start), span, target_span, kind))

    def _definition(self, label: str) -> Span | None:
        """Return where the target of a reference definition is written."""
        definition = self.references.get(normalizeReference(label))
        if not definition or not definition.get("map"):
            return None
        first, last = definition["map"]
        start = self.lines.start_of(first + self.shift)
        end = self.lines.start_of(last + self.shift)
        head = self.text.find("]:", start, end)
        if head < 0:
            return None
        inner = destination(self.text, head + 1, end)
        return Span(*inner) if inner else None


def _in_cell(tokens: Sequence[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].type in ("td_open", "th_open")


def _empty_title(text: str, whole: Span) -> Span:
    """Return the empty span after the `#` of a heading that has no title."""
    end = whole.start
    while end < whole.end and text[end] in "# \t":
        end += 1
    return Span(end, end)


def _inside(children: Sequence[Token], index: int) -> Iterator[Token]:
    """Yield the tokens between a `link_open` and its `link_close`."""
    for following in range(index + 1, len(children)):
        if children[following].type == "link_close":
            return
        yield children[following]


def _plain(children: Sequence[Token] | Iterator[Token]) -> str:
    """Return inline tokens as plain text: markers gone, code and unknown tags kept as written."""
    parts: list[str] = []
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(_plain(child.children or ()))
        elif child.content:
            parts.append(child.content)
    return "".join(parts)


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
