"""Blocks of code in colours, and emoji by their short codes."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_LONGEST = 50_000
"""Longer blocks stay plain: a lexer takes a second for 200 kB."""
_NAME = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_SHORT_CODE = re.compile(r"(?<![\w:]):[a-z0-9_+-]{1,40}:(?![\w:])")


def fence(code: str, language: str) -> str:
    """Return a block of code as HTML, with the theme's classes for its parts."""
    lexer = _lexer(language) if language and len(code) <= _LONGEST else None
    inner = highlight(code, lexer, _formatter()) if lexer else escape(code, quote=False)
    css = f' class="language-{language}"' if _NAME.fullmatch(language) else ""
    return f'<div class="highlight"><pre><code{css}>{inner}</code></pre></div>\n'


def emoji(text: str) -> str:
    """Return a text with emoji in place of GitHub's short codes, as in `:tada:`."""
    return _SHORT_CODE.sub(lambda code: _characters().get(code[0], code[0]), text) if text.count(":") > 1 else text


@cache
def _characters() -> dict[str, str]:
    from pymdownx.gemoji_db import aliases, emoji  # 10 ms, and most texts have none

    drawn = {name: entry.get("unicode_alt", entry["unicode"]) for name, entry in emoji.items() if "unicode" in entry}
    codes = {**drawn, **{alias: drawn[name] for alias, name in aliases.items() if name in drawn}}
    return {name: "".join(chr(int(part, 16)) for part in code.split("-")) for name, code in codes.items()}


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@cache
def _formatter() -> HtmlFormatter[str]:
    return HtmlFormatter(nowrap=True)
