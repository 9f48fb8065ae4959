"""Blocks of code in colours, those that are diagrams among them, and emoji by their short codes."""

import re
from collections.abc import Iterator
from functools import cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType
from pygments.util import ClassNotFound

DIAGRAM_ID = "orbit-diagram-"  # how the id of a page's diagram begins; the rest is its number
_LONGEST = 50_000  # longer blocks stay plain: a lexer takes a second for 200 kB
_NAME = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_PLAIN = frozenset(("n", "o", "p", "w"))
"""Names, operators, punctuation and blanks: most parts of a code, which would double a page."""
_SHORT_CODE = re.compile(r"(?<![\w:]):[a-z0-9_+-]{1,40}:(?![\w:])")


def fence(code: str, language: str) -> str:
    """Return a block of code as HTML, with the theme's classes for its parts."""
    css = "highlight orbit-diagram" if language == "mermaid" else "highlight"
    lexer = _lexer(language) if language and len(code) <= _LONGEST else None
    inner = "".join(_spans(code, lexer)) if lexer else escape(code, quote=False)
    label = f' class="language-{language}"' if _NAME.fullmatch(language) else ""
    return f'<div class="{css}"><pre><code{label}>{inner}</code></pre></div>\n'


def emoji(text: str) -> str:
    """Return a text with emoji in place of GitHub's short codes, as in `:tada:`."""
    if text.count(":") > 1:
        return _SHORT_CODE.sub(lambda code: _characters().get(code[0], code[0]), text)

    return text


@cache
def _characters() -> dict[str, str]:
    from pymdownx.gemoji_db import aliases, emoji  # 10 ms, and most texts have none

    characters = {
        name: entry.get("unicode_alt", entry["unicode"])
        for name, entry in emoji.items()
        if "unicode" in entry
    }
    codes = {
        **characters,
        **{alias: characters[name] for alias, name in aliases.items() if name in characters},
    }
    return {name: _character(code) for name, code in codes.items()}


def _character(code: str) -> str:
    return "".join(chr(int(part, 16)) for part in code.split("-"))


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


def _spans(code: str, lexer: Lexer) -> Iterator[str]:
    """Yield the parts of a code; neighbours of one colour are one part."""
    open_css, text = "", ""
    for kind, value in lexer.get_tokens(code):
        css = _class(kind)
        if css == open_css:
            text += value
            continue

        yield _span(open_css, text)
        open_css, text = css, value

    yield _span(open_css, text)


def _span(css: str, text: str) -> str:
    inner = escape(text, quote=False)
    if css:
        return f'<span class="{css}">{inner}</span>'

    return inner


@cache
def _class(kind: _TokenType) -> str:
    """Return the theme's class for a kind of token, "" for one in the colour of the text."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    css = STANDARD_TYPES.get(kind, "")
    return "" if css in _PLAIN else css
