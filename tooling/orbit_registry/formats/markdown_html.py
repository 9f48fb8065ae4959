"""HTML of Markdown as GitHub renders it.

Alerts, task lists, footnotes, bare addresses and a safe part of raw HTML are among it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orbit_registry.formats.common_markdown import common_markdown
from orbit_registry.formats.dialects import add_links_by_name, add_notes, container_parts
from orbit_registry.formats.formulas import add_math
from orbit_registry.formats.markdown import (
    ATTRIBUTES,
    PIPE,
    Document,
    base_parser,
    content_start,
    parsed_text,
    row_cells,
    structure_of,
    with_spans,
)
from orbit_registry.formats.position import Span, TextLines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

Fence = Callable[[str, str], str]  # makes HTML of a block of code and its language

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_LONGEST_ROW = 4096  # longer rows are not searched for code spans, which takes quadratic time
_ALERTS = {
    "NOTE": "note",
    "TIP": "tip",
    "IMPORTANT": "example",
    "WARNING": "warning",
    "CAUTION": "danger",
}
"""Kinds of alerts, and the theme's admonitions in about the same colours."""
_EMPTY = frozenset(("br", "hr", "img", "wbr"))
_PAIRED = (
    "a b blockquote code dd del details div dl dt em h1 h2 h3 h4 h5 h6 i ins kbd li mark ol p pre "
    "s small span strong sub summary sup table tbody td th thead tr ul"
)
_TAGS = _EMPTY.union(_PAIRED.split())
"""Raw HTML that is rendered; other tags are text, as in `List<String>` and `<your name>`."""
_DROPPED = {
    "center": "center",
    "cite": "cite",
    "figcaption": "figcaption",
    "figure": "figure",
    "font": "font",
    "nobr": "nobr",
    "picture": "picture",
    "section": "section",
    "source": "picture",
    "u": "u",
    "var": "var",
}
"""Raw HTML whose content is rendered without it, and the tag around it."""
_KEPT = {
    "a": ("href", "id"),
    "img": ("src", "alt", "width", "height"),
    "details": ("open",),
    "ol": ("start",),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan"),
}
"""Attributes of raw HTML that are rendered."""
_RAW = re.compile(
    r"<!--.{0,20000}?-->|<(?P<over>/?)(?P<tag>[a-z][a-z0-9]{0,10})(?P<rest>\s[^<>]{0,300})?/?>|<",
    re.DOTALL,
)
_BRACKETS = re.compile(r"\[((?:[^\[\]\\]|\\.){1,999})\]", re.DOTALL)
_LONGEST_HIDDEN = 200
"""A longer comment leaves a blank: `snapshot.redact` finds no name that continues after it."""
_RAW_ATTRIBUTE = re.compile(
    r"""([a-z]{1,20})(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+))?""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a text, not inside another: its lines, the last one excluded, and its HTML."""

    first: int
    last: int
    html: str
    has_tags: bool
    """Whether it has HTML tags, balanced or not."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note of another dialect, as in `!!! note "Title"`: its lines, the last one excluded."""

    first: int
    last: int
    kind: str
    title: str
    is_closed: bool
    """Whether its last line is a mark too: `:::`."""


@dataclass(frozen=True, slots=True)
class Footnote:
    """A footnote that is referred to: its number, its name, and its lines, the last excluded."""

    number: int
    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ReadText:
    """What one parse of a text gives: its structure, and the HTML of each block."""

    structure: Document
    common: Document
    """The structure of the text as it was parsed, without component tags; its lines are the same
    as those of the text.
    """
    blocks: tuple[Block, ...]
    notes: tuple[Block, ...]
    """The footnotes, whose lines are anywhere."""
    definitions: tuple[tuple[int, int], ...]
    """The lines that say where references lead."""
    code: tuple[Span, ...]
    """All code, within lines too, in order."""
    dialect: tuple[Note, ...]
    footnotes: tuple[Footnote, ...]
    places: Mapping[str, tuple[int, int]]
    """The lines of the first definition of each name, and of each footnote."""

    def part(self, first: int, last: int) -> Sequence[Block] | None:
        """Return the blocks between two lines, and the footnotes.

        It is None where these lines divide a block, or the footnotes are those of more lines.
        """
        is_outside = any(block.first < first or block.last > last for block in self.blocks)
        if self.notes and is_outside:
            return None

        first_block = bisect_right(self.blocks, first, key=lambda block: block.last)
        beyond = bisect_left(self.blocks, last, key=lambda block: block.first)
        blocks = self.blocks[first_block:beyond]
        is_cut = any(block.first < first or block.last > last for block in blocks)
        if is_cut:
            return None

        return (*blocks, *self.notes)

    def definitions_for(self, text: str, first: int, last: int) -> str:
        """Return the definitions and footnotes that a part of this text refers to, and those that
        they refer to; without those that are in the part, which is between two lines.
        """
        texts: dict[tuple[int, int], str] = {}
        unread = [text]
        while unread:
            names = _names_in(unread.pop())
            places = {self.places[name] for name in names if name in self.places}
            for place in places.difference(texts):
                if not first <= place[0] < last:
                    texts[place] = self._lines(*place)
                    unread.append(texts[place])

        return "".join(f"\n\n{texts[place]}" for place in sorted(texts))

    def _lines(self, first: int, last: int) -> str:
        lines = self.structure.lines
        return Span(lines.starts[first], lines.ends[last - 1]).of(lines.text)


def render_html(text: str, fence: Fence) -> tuple[str, bool]:
    """Return a text as HTML, and whether it has HTML tags."""
    read = read_text(text, fence)
    blocks = (*read.blocks, *read.notes)
    return "".join(block.html for block in blocks), any(block.has_tags for block in blocks)


def read_text(text: str, fence: Fence) -> ReadText:
    """Return what a text has in it, without its front matter."""
    start = content_start(text)
    common = text[:start] + common_markdown(text[start:])
    source = parsed_text(common)
    env: dict[str, Any] = {"source": source, "raw": False}
    parser = _parser(fence)
    tokens = parser.parse(source, env)

    structure = structure_of(common, tokens, env)
    above = text.count("\n", 0, start)
    blocks: list[Block] = []
    notes: list[Block] = []
    for opening, closing in _outermost(tokens):
        env["raw"] = False
        html = parser.renderer.render(tokens[opening:closing], parser.options, env)
        lines = tokens[opening].map
        if lines is None:
            notes.append(Block(0, 0, html, env["raw"]))
        else:
            first, last = lines[0] + above, lines[1] + above
            blocks.append(Block(first, _end_of_text(structure.lines, last), html, env["raw"]))

    footnotes = tuple(_footnotes(tokens, above))
    original = structure if common == text else structure_of(text, tokens, env)
    return ReadText(
        original,
        structure,
        tuple(blocks),
        tuple(notes),
        tuple(_definitions(env, above)),
        tuple(sorted((*structure.code, *structure.code_in_lines), key=lambda span: span.start)),
        tuple(_dialect(tokens, above)),
        footnotes,
        _places(env, footnotes, above),
    )


def _end_of_text(lines: TextLines, last: int) -> int:
    """Return where a block ends without the blank lines below it, which a list has too."""
    last = min(last, len(lines))
    while last and not lines.text[lines.starts[last - 1] : lines.ends[last - 1]].strip():
        last -= 1

    return last


def _outermost(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where each block begins and ends that is not inside another."""
    start = depth = 0
    for number, token in enumerate(tokens, 1):
        depth += token.nesting
        if depth == 0 or number == len(tokens):
            yield start, number
            start = number


def _definitions(env: Mapping[str, Any], above: int) -> Iterator[tuple[int, int]]:
    for definition in (*env.get("references", {}).values(), *env.get("duplicate_refs", ())):
        first, last = definition["map"]
        yield first + above, last + above


def _places(
    env: Mapping[str, Any], footnotes: Iterable[Footnote], above: int
) -> dict[str, tuple[int, int]]:
    places = {_name(f"^{note.name}"): (note.first, note.last) for note in footnotes}
    for name, definition in env.get("references", {}).items():
        first, last = definition["map"]
        places[name] = (first + above, last + above)

    return places


def _names_in(text: str) -> set[str]:
    """Return what is in brackets in a text."""
    return {_name(match[1]) for match in _BRACKETS.finditer(text)}


def _name(text: str) -> str:
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(text)


def _dialect(tokens: Sequence[Token], above: int) -> Iterator[Note]:
    for token in tokens:
        if token.map is None:
            continue

        first, last = token.map[0] + above, token.map[1] + above
        if token.type == "admonition_open":
            yield Note(first, last, token.meta["tag"], token.content, is_closed=False)
        elif token.type == "container_open":
            kind, title = container_parts(token)
            yield Note(first, last + 1, kind, title, is_closed=True)


def _footnotes(tokens: Sequence[Token], above: int) -> Iterator[Footnote]:
    opening = None
    lines: list[int] = []
    for token in tokens:
        if token.type == "footnote_open":
            opening, lines = token, []
        elif token.type == "footnote_close" and opening is not None and lines:
            name = opening.meta["label"] or ""
            first, last = min(lines) + above, max(lines) + above
            yield Footnote(opening.meta["id"] + 1, name, first, last)
            opening = None
        elif opening is not None and token.map is not None:
            lines += token.map


@cache
def _parser(fence: Fence) -> MarkdownIt:
    from markdown_it.rules_block import html_block
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

    markdown = base_parser(alerts=True, tasklists=True, strikethrough_single_tilde=True)
    markdown.enable("strikethrough")
    markdown.use(footnote_plugin, inline=False).use(deflist_plugin).use(gfm_autolink_plugin)
    markdown.use(add_notes).use(add_math).use(add_links_by_name)

    def known_html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        raw = _RAW.match(state.src, state.bMarks[start] + state.tShift[start])
        if raw is None or not _is_rendered(raw, state.src):
            return False

        return html_block(state, start, end, silent)

    markdown.block.ruler.at(
        "html_block", known_html, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    markdown.core.ruler.after("block", "whole_rows", _whole_rows)
    markdown.core.ruler.after("inline", "stated_ids", _stated_ids)
    with_spans(markdown)

    markdown.add_render_rule("html_block", _html)
    markdown.add_render_rule("html_inline", _html)
    markdown.add_render_rule("list_item_open", _list_item)
    markdown.add_render_rule("alert_open", _alert)
    markdown.add_render_rule("alert_title_open", lambda *_: '<p class="admonition-title">')
    markdown.add_render_rule(
        "footnote_caption", lambda _, tokens, index, *__: str(tokens[index].meta["id"] + 1)
    )

    def code(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
        words = tokens[index].info.split(maxsplit=1)
        language = words[0].lower() if words else ""
        return fence(tokens[index].content, language)

    markdown.add_render_rule("fence", code)
    return markdown


def _whole_rows(state: StateCore) -> None:
    """Join surplus cells of a row into its last cell.

    Most come from an unescaped `|` in code: `Edit | Write`.
    """
    columns = 0
    contents: Iterator[str] = iter(())
    for previous, token in pairwise(state.tokens):
        if token.type == "tr_open":
            row: str = token.meta["row"]
            spans = row_cells(row, 0, len(row))
            if previous.type == "thead_open":
                columns = len(spans)
            elif len(spans) > columns and len(row) <= _LONGEST_ROW:
                row = _CODE_SPAN.sub(lambda code: PIPE.sub(r"\\|", code[0]), row)
                spans = row_cells(row, 0, len(row))

            if len(spans) > columns:
                spans[columns - 1 :] = [Span(spans[columns - 1].start, spans[-1].end)]

            contents = iter([span.of(row).replace("\\|", "|") for span in spans])
        elif token.type == "inline" and previous.type == "td_open":
            token.content = next(contents, "")


def _stated_ids(state: StateCore) -> None:
    """Take `{ #id .class }` off the end of headings, and give them that id."""
    for heading, title in pairwise(state.tokens):
        if heading.type != "heading_open" or not title.children:
            continue

        last = title.children[-1]
        if last.type != "text":
            continue

        attributes = ATTRIBUTES.search(last.content)
        if attributes is not None:
            last.content = last.content[: attributes.start()]
            name = next((word[1:] for word in attributes[1].split() if word[0] == "#"), None)
            if name:
                heading.attrSet("id", name)


def _alert(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return f'<div class="admonition {_ALERTS[tokens[index].info]}">\n'


def _list_item(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    item = renderer.renderToken(tokens, index, options, env)
    if "checked" not in tokens[index].meta:
        return item

    css = ""
    label = "to do"
    if tokens[index].meta["checked"]:
        css = " orbit-done"
        label = "done"

    return f'{item}<span class="task-list-indicator{css}" role="img" aria-label="{label}"></span>'


def _html(
    _: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    env["raw"] = True
    return inert_html(tokens[index].content, env["source"])


def inert_html(html: str, source: str) -> str:
    """Return the HTML in a text: tags that pages may have, others as text, no comments."""
    return _RAW.sub(lambda raw: _raw_html(raw, source), html)


def _is_rendered(raw: re.Match[str], source: str) -> bool:
    tag = raw["tag"]
    if not tag:
        return len(raw[0]) > 1

    return tag in _TAGS and _is_whole(tag, source)


def _is_whole(tag: str, source: str) -> bool:
    """Say whether a text opens and closes a tag; otherwise it is a word between brackets."""
    return tag in _EMPTY or (f"<{tag}" in source and f"</{tag}" in source)


def _raw_html(raw: re.Match[str], source: str) -> str:
    tag = raw["tag"]
    if not _is_rendered(raw, source):
        is_dropped = tag in _DROPPED and _is_whole(_DROPPED[tag], source)
        if is_dropped:
            return ""

        return escape(raw[0])

    if tag is None:
        if len(raw[0]) > _LONGEST_HIDDEN or "\n" in raw[0]:
            return " "

        return ""
    if raw["over"]:
        return f"</{tag}>"

    attributes = {}
    for name, value in _RAW_ATTRIBUTE.findall(raw["rest"] or ""):
        bare = value[1:-1] if value.startswith(('"', "'")) else value
        attributes[name.lower()] = unescape(bare)

    if tag == "a" and "name" in attributes:
        attributes.setdefault("id", attributes["name"])

    names = [name for name in _KEPT.get(tag, ()) if name in attributes]
    written = "".join(f' {name}="{escape(attributes[name])}"' for name in names)
    return f"<{tag}{written}>"
