"""Where a value stands in a record's text: by lines where the text is plain, else by the composing parser."""

from __future__ import annotations

import re

from orbit_registry.formats.position import Pointer, Position, position_at
from orbit_registry.formats.yaml import position_of


def place_of(text: str, pointer: Pointer) -> Position:
    """Return where the value at `pointer` stands, as `text.yaml.locate` does, but quickly for block style."""
    found = _by_lines(text, pointer) if pointer else Position(1)
    return found or position_of(text, pointer)


def _by_lines(text: str, pointer: Pointer) -> Position | None:
    """Follow keys and list items by their indentation; None where the text's form is not that plain."""
    start, end, column = 0, len(text), 0
    place: int | None = None
    for step in pointer:
        if isinstance(step, int):
            items = _items(text, start, end)
            if items is None or step >= len(items):
                return None
            place = items[step]
            start = place
            column = place - (text.rfind("\n", 0, place) + 1)
            end = next((text.rfind("\n", 0, item) for item in items[step + 1 :]), end)
        else:
            key = re.compile(rf"^{' ' * column}{re.escape(step)}[ ]*:(?=[ \r\n])", re.MULTILINE)
            found = list(key.finditer(text, start, end))
            if len(found) != 1:
                return None
            place = found[0].start() + column
            start = found[0].end()
            following = re.compile(rf"^ {{0,{column}}}(?!- )[^\s#]", re.MULTILINE).search(text, start, end)
            end = following.start() if following else end
            inner = re.compile(r"^( *)[^\s#]", re.MULTILINE).search(text, start, end)
            column = len(inner[1]) if inner else column + 2
    return position_at(text, place) if place is not None else None


def _items(text: str, start: int, end: int) -> list[int] | None:
    """Return where the entries of a block list begin, after their dashes."""
    first = re.compile(r"^( *)-[ ]", re.MULTILINE).search(text, start, end)
    if first is None or text[start : first.start()].strip(" \r\n"):
        return None
    if re.compile(rf"^{first[1]}-[ ]*\r?$", re.MULTILINE).search(text, start, end):
        return None  # an entry that starts on the next line, or holds nothing
    dashes = re.compile(rf"^{first[1]}-[ ]+", re.MULTILINE)
    return [found.end() for found in dashes.finditer(text, start, end)]
