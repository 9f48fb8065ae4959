"""Owns what may reach a terminal: text of records is data, and must not steer the reader's screen."""

from __future__ import annotations

import json
import re

from orbit_registry.formats.untrusted import inert_json

_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f]|\r(?!\n)"
)
"""What steers a screen, and what takes no room on it: tags (U+E0000 on) spell words that only a model reads."""


def visible(text: str) -> str:
    """Return text with line ends and tabs as they are and every other character that nobody sees written out."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def json_text(data: object) -> str:
    """Return data as indented JSON; what nobody sees, or no output takes, is written as its escape."""
    return inert_json(json.dumps(data, ensure_ascii=False, indent=2, default=str))


def one_line(text: str) -> str:
    """Return text whose line breaks are written out too: it can't begin a line of what is printed below it."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
