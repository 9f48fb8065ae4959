"""Edits of JSON texts that leave every other byte alone: members and elements are added at the end and taken out again.

Taking out what was added gives the very text there was before. It knows no agent and opens no file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from orbit_registry.errors import RefusedError

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_BLACK = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object, or an element of an array (its key is None): its place and its value's."""

    key: str | None
    start: int
    value_start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Container:
    """An object or an array in a text: its brackets' places and its items."""

    start: int
    end: int
    items: tuple[Item, ...]

    def get(self, key: str) -> Item | None:
        """Return the member that counts for a key: the last one, as every reader of JSON takes it."""
        return next((item for item in reversed(self.items) if item.key == key), None)


def parse(text: str, what: str) -> Any:
    """Return the value of a JSON text; `what` names the file in what is raised.

    Raises:
        RefusedError: it is no JSON; the message says where.
    """
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        said = f"{what}:{error.lineno}:{error.colno}: no valid JSON: {error.msg}"
        raise RefusedError(said, hint="correct it there, then run the command again; nothing was changed") from None
    except RecursionError:
        raise RefusedError(f"{what}: nested too deeply", hint="see what the file holds; nothing was changed") from None


def container(text: str, start: int | None = None) -> Container:
    """Return the items of the object or array that begins at a place; at the text's first bracket without one.

    The text is known to be valid JSON.
    """
    start = _skip(text, 1 if text.startswith("\ufeff") else 0) if start is None else start
    keyed = text[start] == "{"
    items: list[Item] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, None
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        items.append(Item(key, begin, at, end, value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Container(start, at + 1, tuple(items))


def appended(text: str, into: Container, added: str) -> str:
    """Return the text with one more item at a container's end, set off as the last one is."""
    if not into.items:
        at = into.start + 1
        return f"{text[:at]}{added}{text[at:]}"
    last = into.items[-1]
    begin = last.start
    while text[begin - 1] in _SPACE:
        begin -= 1
    return f"{text[: last.end]},{text[begin : last.start]}{added}{text[last.end :]}"


def removed(text: str, source: Container, item: Item, plain: str) -> str:
    """Return the text without an item, and without what set it off from its neighbour; comments between them stay.

    `plain` is the text with its comments blanked out.
    """
    place = source.items.index(item)
    if place:
        start, end = source.items[place - 1].end, item.start
        return text[:start] + _comments(text, plain, start, end) + text[item.end :]
    if len(source.items) > 1:
        second = source.items[1].start
        return text[: item.start] + _comments(text, plain, item.end, second) + text[second:]
    start = source.start + 1
    return text[:start] + _comments(text, plain, start, item.start) + text[item.end :]


def _comments(text: str, plain: str, start: int, end: int) -> str:
    """Return what stands between two places, without the comma, if there is a comment; else nothing."""
    if text[start:end] == plain[start:end]:
        return ""
    comma = plain.find(",", start, end)
    return text[start:end] if comma < 0 else text[start:comma] + text[comma + 1 : end]


def without_comments(text: str) -> str:
    """Return a text of the same length in which spaces stand for every `//` and `/* */` comment."""
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else _BLACK.sub(" ", found[0]), text)


def is_first_on_a_line(text: str, source: Container) -> bool:
    """Say whether a container's first item begins after a line's end; what is added to an empty one never does."""
    return text[source.start + 1] in _SPACE


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at
