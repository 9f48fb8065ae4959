"""Markdown of other generators, for the pages of the site.

Notes of MkDocs (`!!!`, `???`), containers of Docusaurus and VitePress (`:::`), tabs (`===`), and
component tags become what a reader expects instead of literal text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})")
_TAB = re.compile(r'^(?P<indent>[ \t>]*)===[!+]?[ \t]+(?P<title>".+")[ \t]*$')
_ATTRIBUTE = r"(?:\s+[\w:.-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|\{[^<>]*\}))?)"
_TAG = rf"</?[A-Z][\w.]{{0,60}}{_ATTRIBUTE}{{0,20}}\s*/?>"
_COMPONENTS = re.compile(rf"^[ \t]*(?:{_TAG}[ \t]*)+$")
"""A line of component tags alone: `<Badge status={status}></Badge>`, `<TabItem value="a">`."""
_COMPONENT = re.compile(
    rf"<[A-Z][\w.]{{0,60}}{_ATTRIBUTE}{{0,20}}\s*/>|<[A-Z][\w.]{{0,60}}{_ATTRIBUTE}{{1,20}}\s*>"
    r"\s*</[A-Z][\w.]{0,60}>"
)
"""A component within a line. `List<String>` has no attribute and no end: it is text."""
_IMPORT = re.compile(r"^import\s+[\w{},*\s]{1,200}\s+from\s+['\"][^'\"]{1,200}['\"];?\s*$")
_SPAN = re.compile(r"(?<!`)(`++).+?(?<!`)\1(?!`)")
_LONGEST_LINE = 4096  # longer lines are no tags
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
    r"\s*(?P<kind>[A-Za-z][\w-]{0,30})\s*(?:\[(?P<boxed>[^\]]*)\]|\{(?P<attributes>[^}]*)\})?"
    r"\s*(?P<title>.*?)\s*"
)
_TITLE = re.compile(r"title=[\"']([^\"']*)[\"']")


def common_markdown(text: str) -> str:
    """Return a text without component tags, and with tabs as notes; its lines keep their
    numbers, and code is left alone.
    """
    if "<" not in text and "===" not in text and "import" not in text:
        return text

    lines = text.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark["mark"].startswith(fence) else fence or mark["mark"]
        elif not fence and len(line) <= _LONGEST_LINE:
            lines[number] = _common_line(line)

    return "\n".join(lines)


def _common_line(line: str) -> str:
    if line.startswith(("    ", "\t")) and not _TAB.match(line):
        return line  # a block of code, or inside a list
    if _COMPONENTS.match(line) or _IMPORT.match(line):
        return ""
    if tab := _TAB.match(line):
        return f"{tab['indent']}!!! tab {tab['title']}"
    if "<" not in line:
        return line

    parts = []
    end = 0
    for code in _SPAN.finditer(line):
        parts += [_COMPONENT.sub("", line[end : code.start()]), code[0]]
        end = code.end()

    return "".join([*parts, _COMPONENT.sub("", line[end:])])


def add_notes(markdown: MarkdownIt) -> None:
    """Let a parser read `!!! note`, `??? note` and `::: note`."""
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.container import container_plugin

    admon_plugin(markdown, _admonition)
    container_plugin(markdown, "note", validate=_is_container, render=_container)


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
            return "<summary>" if folds else '<p class="admonition-title">'
        case "admonition_title_close":
            return "</summary>\n" if _folds_before(tokens, index) else "</p>\n"
        case _:
            return "</details>\n" if folds else "</div>\n"


def _folds_before(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a title belongs to a note that folds: its closing token does not say so."""
    openings = (tokens[at] for at in range(index, -1, -1))
    opening = next(token for token in openings if token.type == "admonition_title_open")
    return opening.markup.startswith("?")


def _is_container(params: str, *_: object) -> bool:
    return _CONTAINER.fullmatch(params) is not None


def _container(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    if token.nesting < 0:
        opening = _opening_of(tokens, index)
        return "</details>\n" if _parts_of(opening)[0] == "details" else "</div>\n"

    kind, title = _parts_of(token)
    if kind == "details":
        return f'<details class="{_css(kind)}"><summary>{escape(title)}</summary>\n'

    return f'<div class="{_css(kind)}">\n<p class="admonition-title">{escape(title)}</p>\n'


def _opening_of(tokens: Sequence[Token], index: int) -> Token:
    level = tokens[index].level
    openings = (tokens[at] for at in range(index - 1, -1, -1))
    name = tokens[index].type.replace("_close", "_open")
    return next(token for token in openings if token.type == name and token.level == level)


def _parts_of(token: Token) -> tuple[str, str]:
    """Return the kind of a container and its title."""
    parts = _CONTAINER.fullmatch(token.info)
    if parts is None:
        return "note", "Note"

    kind = parts["kind"].lower()
    attribute = _TITLE.search(parts["attributes"] or "")
    title = parts["boxed"] or parts["title"] or (attribute[1] if attribute else "")
    return kind, title or kind.capitalize()
