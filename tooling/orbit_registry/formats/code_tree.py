"""Code as a tree of syntax: ast-grep parses it, within limits."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

NO_AST_GREP = "code patterns need ast-grep: install `orbit-registry[enforce]`"
MOST_BRACKETS = 2_000  # in one another: errors in a text take quadratic time
_BRACKET = re.compile(r"[\[({})\]]")


class NotRunError(Exception):
    """Code can't be looked at here: a library is missing, or a file is beyond the limits."""


class UnreadableError(NotRunError):
    """A file can't be parsed."""


@lru_cache(maxsize=1)  # several checks look at one file in a row
def parsed(text: str, language: str) -> Any:
    """Return the root node of a text, as ast-grep parses it; raises NotRunError."""
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise NotRunError(NO_AST_GREP) from None

    if sum(map(text.count, "([{")) > MOST_BRACKETS and _depth(text) > MOST_BRACKETS:
        raise NotRunError(f"more than {MOST_BRACKETS:,} nested brackets")

    return SgRoot(text, language).root()


def _depth(text: str) -> int:
    depth = 0
    deepest = 0
    for match in _BRACKET.finditer(text):
        step = 1 if match[0] in "([{" else -1
        depth = max(depth + step, 0)
        deepest = max(deepest, depth)

    return deepest
