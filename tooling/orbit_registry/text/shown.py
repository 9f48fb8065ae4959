"""Reads a text as a browser shows it, each part with its place in the source; it renders nothing and strikes nothing.

Two readings of it: the characters that are meant (`&#45;`, `&shy;`, `%2D`), and those without the markup around them
too. It knows the ways to write one text that need no program: not escapes of JSON or CSS, not letters that look alike.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from urllib.parse import unquote

_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Characters that take no room: soft hyphens, zero-width ones, marks of direction, selectors of variants."""
_DROPPED = re.compile(f"[{_UNSEEN}]+")
_CHARACTERS = rf"&(?:\#[xX]?[0-9A-Fa-f]{{1,8}};?|[A-Za-z][A-Za-z0-9]{{1,31}};?)|(?:%[0-9A-Fa-f]{{2}})+|[{_UNSEEN}]+"
_BREAKING = (
    "address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|"
    "figcaption|figure|footer|form|h[1-6]|head|header|hgroup|hr|html|iframe|img|input|legend|li|link|main|menu|meta|nav|ol|"
    "optgroup|option|p|pre|script|search|section|select|style|summary|table|tbody|td|template|textarea|tfoot|th|thead|"
    "title|tr|ul|video"
)
"""The elements that part what stands before and after them; all others, those that nobody knows too, join it."""
_TAG = rf"</?(?i:(?!(?:{_BREAKING})[\s/>])[a-z][^\s/<>]{{0,60}})(?:\s[^<>]{{0,300}})?/?>|<[!?][^<>\n-][^<>\n]{{0,300}}>"
_LINK_END = r"\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)|\]\[[^\[\]\n]{0,200}\]"
_MARKUP = rf"{_TAG}|<!--(?:(?!-->)[^\n]){{0,200}}-->|{_LINK_END}|!?\[|\]|\*+|~~|`+"
_MEANT = re.compile(_CHARACTERS)
_BARE = re.compile(f"{_MARKUP}|{_CHARACTERS}")
_TAG_NAME = re.compile(r"</?[A-Za-z][^\s/<>]*")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as it is shown: `plain`, and the parts that it is made of, as indexes into `plain` and into the source."""

    plain: str
    source: str
    _parts: list[tuple[int, int, int, bool]]
    """Of each part its place in `plain`, its place in the source and its end there, and whether it is as written."""
    _read: list[tuple[int, int]]
    """The spans of the source that are shown as something else, or not at all."""

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a part of `plain` stands in the source; None where it stands there as it is shown."""
        first = self._parts[bisect_right(self._parts, start, key=lambda part: part[0]) - 1]
        last = self._parts[bisect_right(self._parts, end - 1, key=lambda part: part[0]) - 1]
        begin = first[1] + start - first[0] if first[3] else first[1]
        stop = last[1] + end - last[0] if last[3] else last[2]
        return (begin, stop) if self.source[begin:stop] != self.plain[start:end] else None

    def left(self, start: int, end: int) -> str:
        """Return what has to stay of a part of the source that is struck out: ends of links, and tags without words."""
        out: list[str] = []
        opened = 0
        for begin, stop in self._read[bisect_left(self._read, (start, start)) :]:
            if stop > end:
                break
            piece = self.source[begin:stop]
            name = _TAG_NAME.match(piece)
            if name:
                out.append(f"{name[0]}>")
            elif piece.endswith("["):
                opened += 1
            elif piece.startswith("]") and opened:
                opened -= 1
            elif len(piece) > 1 and piece.startswith("]"):
                out.append(piece)
        return "".join(out)


def meant(text: str) -> str:
    """Return a text with the characters that are meant."""
    return _MEANT.sub(_character, text)


def as_meant(text: str) -> Shown | None:
    """Return a text with the characters that are meant; None where it is written with them."""
    return _shown(text, _MEANT)


def as_bare(text: str) -> Shown | None:
    """Return a text with the characters that are meant and without the markup in lines; None where it has none."""
    return _shown(text, _BARE)


READINGS = (as_meant, as_bare)
"""All the ways to read a text beside as it is written; the second one does not see what tags and addresses hold."""


def _shown(text: str, pattern: re.Pattern[str]) -> Shown | None:
    found = list(pattern.finditer(text))
    if not found:
        return None
    plain: list[str] = []
    parts: list[tuple[int, int, int, bool]] = []
    length = end = 0
    for match in found:
        for piece, start, stop, is_written in (
            (text[end : match.start()], end, match.start(), True),
            (_character(match), match.start(), match.end(), False),
        ):
            if piece:
                plain.append(piece)
                parts.append((length, start, stop, is_written))
                length += len(piece)
        end = match.end()
    if end < len(text):
        plain.append(text[end:])
        parts.append((length, end, len(text), True))
    return Shown("".join(plain), text, parts, [match.span() for match in found])


def _character(match: re.Match[str]) -> str:
    """Return what is shown in the place of a match."""
    written = match[0]
    if written[0] == "&":
        return _DROPPED.sub("", html.unescape(written))
    return _DROPPED.sub("", unquote(written)) if written[0] == "%" else ""
