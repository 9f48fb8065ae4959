"""Reader of TOML that a hostile text does not hold."""

import re
import tomllib
from collections.abc import Callable
from typing import Any

_MOST_PARTS = 100
"""The parser's time grows with the square of a key's parts; no tool writes so many."""
_PART = r"[ \t]*(?:[\w-]+|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\")[ \t]*"
_DEEP_KEY = re.compile(rf"(?m)(?:^[ \t]*\[{{0,2}}|[{{,]){_PART}(?:\.{_PART}){{{_MOST_PARTS}}}")
_SHOWN = 40


def load_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the value of a text of TOML; ValueError if it is none, or takes too long to read."""
    deep = _DEEP_KEY.search(text)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        key = deep[0].strip(" \t[{,")[:_SHOWN]
        raise ValueError(
            f"line {line}: the key `{key}…` has too many parts: write at most {_MOST_PARTS}"
        )

    return tomllib.loads(text, parse_float=parse_float)
