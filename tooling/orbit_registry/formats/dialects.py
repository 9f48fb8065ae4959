"""Notes of other generators, for the pages of the site: those of MkDocs (`!!!`, `???`), and the
containers of Docusaurus, VitePress, MyST and Quarto (`:::`). And links by a name (`[[name]]`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from orbit_registry.formats.common_markdown import outside_fences
from orbit_registry.formats.wiki_links import LINK_BY_NAME, target_of, words_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_KINDS = {
    "abstract": "abstract",
    "bug": "bug",
    "caution": "danger",
    "danger": "danger",
    "error": "danger",
    "example": "example",
    "failure": "failure",
    "important": "example",
    "info": "info",
    "note": "note",
    "question": "question",
    "quote": "quote",
    "success": "success",
    "tab": "quote",
    "tip": "tip",
    "hint": "tip",
    "warning": "warning",
    "attention": "warning",
}
"""Kinds of notes, and the theme's admonitions; others look like a note."""
_CONTAINER = re.compile(
    r"\s*(?:\{\.?(?:callout-)?(?P<named>[A-Za-z][\w-]{0,30})(?P<more>[^}]*)\}|(?P<kind>[A-Za-z][\w-]{0,30}))"
    r"\s*+(?:\[(?P<boxed>[^\]]*)\]|\{(?P<attributes>[^}]*)\})?\s*+(?P<title>.*)"
)
_COLONS = re.compile(r"(?P<colons>:{3,})(?P<params>[^:]?.*)")
_MARKED_LINE = re.compile(
    r"(?P<before>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<colons>:{3,})(?P<params>[^:]?.*)"
)
"""A line that opens or closes a container, be it in a quote or in an item of a list."""
_TITLE = re.compile(r"title=[\"']([^\"']*)[\"']")


def add_notes(markdown: MarkdownIt) -> None:
    """Let a parser read `!!! note`, `??? note` and `::: note`."""
    from mdit_py_plugins.admon import admon_plugin

    admon_plugin(markdown, _admonition)
    interrupted = ["paragraph", "reference", "blockquote", "list"]
    markdown.block.ruler.before("fence", "container", _container_block, {"alt": interrupted})
    markdown.add_render_rule("container_open", _container)
    markdown.add_render_rule("container_close", _container)


def _css(kind: str) -> str:
    return f"admonition {_KINDS.get(kind, 'note')}"


def _admonition(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    folds = token.markup.startswith("?")
    match token.type:
        case "admonition_open" if folds:
            opened = " open" if token.markup.endswith("+") else ""
            return f'<details class="{_css(token.meta["tag"])}"{opened}>\n'
        case "admonition_open":
            return f'<div class="{_css(token.meta["tag"])}">\n'
        case "admonition_title_open":
            if folds:
                return "<summary>"

            return '<p class="admonition-title">'
        case "admonition_title_close":
            if _folds_before(tokens, index):
                return "</summary>\n"

            return "</p>\n"
        case _:
            if folds:
                return "</details>\n"

            return "</div>\n"


def _folds_before(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a title belongs to a note that folds: its closing token does not say so."""
    openings = (tokens[at] for at in range(index, -1, -1))
    opening = next(token for token in openings if token.type == "admonition_title_open")
    return opening.markup.startswith("?")


def _container_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a container that is closed; drop a closing of none.

    An opening without a closing is text: else it would take all that follows.
    """
    if state.is_code_block(start):
        return False

    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    mark = _COLONS.fullmatch(line)
    if mark is None:
        return False

    if not mark["params"].strip():
        state.line = state.line if silent else start + 1
        return True

    closing = _closings(state.src).get(start)
    if closing is None or closing >= end or _leaves_item(state, start, closing):
        return False

    if not silent:
        _push_container(state, mark, start, closing)

    return True


def _push_container(state: StateBlock, mark: re.Match[str], start: int, closing: int) -> None:
    """Add the tokens of a container, and of the blocks in it."""
    parent, last = state.parentType, state.lineMax
    state.parentType, state.lineMax = "container", closing

    token = state.push("container_open", "div", 1)
    token.markup, token.info = mark["colons"], mark["params"]
    token.block = True
    token.map = [start, closing]

    state.md.block.tokenize(state, start + 1, closing)
    state.push("container_close", "div", -1).block = True

    state.parentType, state.lineMax = parent, last
    state.line = closing + 1


def _leaves_item(state: StateBlock, start: int, closing: int) -> bool:
    """Say whether the item of a list ends between two lines."""
    lines = range(start + 1, closing + 1)
    return any(state.sCount[at] < state.blkIndent and not state.isEmpty(at) for at in lines)


@lru_cache(maxsize=4)  # asked for each container of a text
def _closings(text: str) -> Mapping[int, int]:
    """Return the line that closes each container, by the line that opens it.

    Colons close the nearest container that was opened with as many, else with fewer.
    """
    closings: dict[int, int] = {}
    open_ones: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by the depth of quotes
    for number, line in outside_fences(text.split("\n")):
        mark = _MARKED_LINE.fullmatch(line)
        if mark is None:
            continue

        count = len(mark["colons"])
        openings = open_ones[mark["before"].count(">")]
        if not mark["params"].strip():
            at = _opened_by(openings, count)
            if at is not None:
                closings[openings[at][0]] = number
                del openings[at:]
        elif _CONTAINER.fullmatch(mark["params"]):
            openings.append((number, count))

    return closings


def _opened_by(openings: Sequence[tuple[int, int]], count: int) -> int | None:
    """Return the place of the opening that this many colons close."""
    shorter = None
    for at in range(len(openings) - 1, -1, -1):
        length = openings[at][1]
        if length == count:
            return at
        if length < count and shorter is None:
            shorter = at

    return shorter


def _container(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    if token.nesting < 0:
        opening = _opening_of(tokens, index)
        if container_parts(opening)[0] == "details":
            return "</details>\n"

        return "</div>\n"

    kind, title = container_parts(token)
    if kind == "details":
        return f'<details class="{_css(kind)}"><summary>{escape(title)}</summary>\n'

    return f'<div class="{_css(kind)}">\n<p class="admonition-title">{escape(title)}</p>\n'


def _opening_of(tokens: Sequence[Token], index: int) -> Token:
    level = tokens[index].level
    openings = (tokens[at] for at in range(index - 1, -1, -1))
    name = tokens[index].type.replace("_close", "_open")
    return next(token for token in openings if token.type == name and token.level == level)


def container_parts(token: Token) -> tuple[str, str]:
    """Return the kind of a container and its title."""
    parts = _CONTAINER.fullmatch(token.info)
    if parts is None:
        return "note", "Note"

    kind = (parts["kind"] or parts["named"]).lower()
    kind = "note" if kind == "admonition" else kind
    attribute = _TITLE.search(parts["attributes"] or parts["more"] or "")
    title = parts["boxed"] or parts["title"].strip() or (attribute[1] if attribute else "")
    return kind, title or kind.capitalize()


def add_links_by_name(markdown: MarkdownIt) -> None:
    """Let a parser read `[[name]]`.

    What is a link in common Markdown stays one: `[[1]](address)`, and `[[1]]` where the text says
    where `[1]` leads.
    """
    markdown.inline.ruler.before("link", "link_by_name", _link_by_name)


def _link_by_name(state: StateInline, silent: bool) -> bool:
    # Silently the parser reads the words of a usual link: that one counts.
    if silent or state.linkLevel:
        return False

    link = LINK_BY_NAME.match(state.src, state.pos, state.posMax)
    if link is None or _is_defined(link[0], state):
        return False

    opening = state.push("link_open", "a", 1)
    opening.attrs = {"href": target_of(link)}
    opening.markup = "autolink"
    opening.meta = {"span": link.span(), "label_end": None}

    state.push("text", "", 0).content = words_of(link)
    state.push("link_close", "a", -1).markup = "autolink"
    state.pos = link.end()
    return True


def _is_defined(link: str, state: StateInline) -> bool:
    """Say whether a text has the definition `[name]: address`."""
    from markdown_it.common.utils import normalizeReference

    label = link.removeprefix("!").removeprefix("[[").removesuffix("]]")
    return normalizeReference(label) in state.env.get("references", {})
