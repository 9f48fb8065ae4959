"""Formulas between dollars, as GitHub reads them, shown as they are written.

Most dollars in decisions are prices and variables of a shell, so a formula has a sign of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from orbit_registry.formats.markdown import with_span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_FORMULA = re.compile(
    r"(?<![\w$\\])(?:\$\$(?P<double>[^$\n]{1,500})\$\$|\$(?![\s$])(?P<single>[^$\n]{1,500})(?<!\s)\$)"
    r"(?![\w${(])"
)
_SIGN = re.compile(
    r"\\[A-Za-z]|[\^_=<>≤≥±×·∑∈]|[A-Za-z0-9)] ?[-+*/] ?[A-Za-z0-9(]|[A-Za-z]?\([A-Za-z]"
)
"""What a formula has, and a price or a name has not."""
_NAME = re.compile(r"[A-Z][A-Z0-9_]+\b|[a-z]{2,}_\w{2,}\b|\([a-z]{2,}[ )-]")
"""How a variable or a command of a shell begins."""


def add_math(markdown: MarkdownIt) -> None:
    """Let a parser read `$a^2$` and `$$` blocks."""
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    dollarmath_plugin(
        markdown,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    markdown.inline.ruler.at("math_inline", with_span(_inline))
    markdown.add_render_rule("math_inline", _in_line)
    markdown.add_render_rule("math_block", _block)


def is_formula(text: str) -> bool:
    """Say whether a text between dollars is a formula: a letter alone, or one with a sign."""
    if len(text) == 1:
        return text.isalpha()

    return _SIGN.search(text) is not None and _NAME.match(text) is None


def _inline(state: StateInline, silent: bool) -> bool:
    match = _FORMULA.match(state.src, state.pos)
    if match is None:
        return False

    text = match["double"] or match["single"]
    if not is_formula(text.strip()):
        return False

    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = text.strip()

    state.pos = match.end()
    return True


def _in_line(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return f'<code class="math">{escape(tokens[index].content, quote=False)}</code>'


def _block(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    text = dedent(tokens[index].content).strip("\n")
    return f'<pre class="math"><code>{escape(text, quote=False)}</code></pre>\n'
