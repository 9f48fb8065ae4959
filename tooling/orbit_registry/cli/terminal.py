"""Owns what may reach a terminal: text of records is data, and must not steer the reader's screen."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    """Return text with line ends and tabs as they are and every other control character written out."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return text whose line breaks are written out too: it can't begin a line of what is printed below it."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
