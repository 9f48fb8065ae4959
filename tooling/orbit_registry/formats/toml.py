"""Reader of TOML that a hostile text does not hold."""

import re
import tomllib
from collections.abc import Callable
from typing import Any

_DEEP_KEY = re.compile(r"(?:\.[ \t]*[\w\"'-]+[ \t]*){100}")
"""The parser's time grows with the square of a key's parts; no tool writes so many."""


def load_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the value of a text of TOML; ValueError if it is none, or takes too long to read."""
    if _DEEP_KEY.search(text):
        raise ValueError("a key has too many parts")

    return tomllib.loads(text, parse_float=parse_float)
