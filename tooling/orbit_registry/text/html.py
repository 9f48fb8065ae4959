"""Markdown as HTML, by the parser that reads its structure; what HTML a page may hold is not its matter."""

from __future__ import annotations

import re

from pyromark import Options, events_with_range, html

from orbit_registry.text.markdown import parsable
from orbit_registry.text.structure import content_start

_SHOWN = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH
_TAG = re.compile(rb"<(?=[A-Za-z/!?])")
_MAY_SHOW_CODE = re.compile(rb"`|~~~|\n[ \t>]*\n(?: {4}|\t)|\(\s*<|<[A-Za-z][^\s<>]*[:@]")
_MOST_LOOKS = 32
"""So many blocks of HTML in a row are told from code that shows some; a longer row is not."""
_SEPARATOR = re.compile(r"(?<!\\)\|")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_LONGEST_ROW = 4096
"""A longer one is not searched for code: what opens and closes it would be looked for again and again."""


def render_html(text: str) -> str:
    """Return `text` as HTML without its front matter; raw HTML in it comes out escaped.

    The result still has to be sanitised before it is published: this decides structure, not safety.
    """
    body = text[content_start(text) :].replace("\r\n", "\n").replace("\r", "\n")
    return html(_with_whole_rows(_without_html(parsable(body))), options=_SHOWN)


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
