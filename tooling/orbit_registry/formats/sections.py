"""Headings of a text by its lines, outside code.

An index of a thousand decisions needs a sentence of each, and a parse takes four times as long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

RUN_IN = 7
"""Level of a heading that is the bold start of a paragraph."""
ITEM = 8
"""Level of a heading that is the start of a list's item, which ends no section above it."""
_HEADING = re.compile(
    r"^(?:[ ]{0,3}(?P<fence>```+|~~~+).*$|(?P<mark>#{1,6})[ \t]+(?P<name>.+)$"
    r"|(?P<bold>\*\*|__)(?P<run_in>[^*_\n]{1,50}?)[.:]?(?P=bold)[.:]?"
    r"|(?:[-*+]|\d{1,2}[.)])[ \t]+"
    r"(?:\*\*|__)?(?P<item>[^\W\d_][^*_:：\n]{1,40}?)(?:[:：](?:\*\*|__)?|(?:\*\*|__)[ ]?[:：.])"
    r"|(?P<over>[^\W_][^\n|]*+)\n(?P<rule>=+|-{3,})[ \t\r]*$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class LineHeading:
    """A heading, and where it begins and ends."""

    level: int
    name: str
    start: int
    end: int


@lru_cache(maxsize=4096)  # a build asks for a decision's options, its names and its sentence
def headings_of(text: str) -> tuple[LineHeading, ...]:
    """Return the headings of a text, and the named starts of its paragraphs and items."""
    return tuple(_headings(text))


def _headings(text: str) -> Iterator[LineHeading]:
    fence = ""
    for line in _HEADING.finditer(text):
        mark = line["fence"] or ""
        if fence:
            is_end = mark.startswith(fence) and not line[0].strip().strip(mark[:1])
            fence = "" if is_end else fence
        elif mark:
            fence = mark
        else:
            yield LineHeading(_level(line), _name(line), *line.span())


def _level(line: re.Match[str]) -> int:
    if line["mark"]:
        return len(line["mark"])

    if line["rule"]:
        if line["rule"].startswith("="):
            return 1

        return 2

    if line["item"]:
        return ITEM

    return RUN_IN


def _name(line: re.Match[str]) -> str:
    # A pattern that leaves the closing marks out costs the square of a line's length.
    name: str = line["name"] or line["run_in"] or line["item"] or line["over"]
    return name.rstrip(" \t\r#")
