"""Redaction of names and patterns in texts, however they are spelt.

A text is searched as a browser shows it, in two readings: with entities and escapes decoded
(`&#45;`, `&shy;`, `%2D`), and also without markup. Escapes of JSON or CSS and look-alike letters
are not decoded.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from orbit_registry.formats.letters import UNSEEN

_DROPPED = re.compile(f"[{UNSEEN}]+")
_CHARACTERS = (
    rf"&(?:\#[xX]?[0-9A-Fa-f]{{1,8}};?|[A-Za-z][A-Za-z0-9]{{1,31}};?)|(?:"
    rf"%[0-9A-Fa-f]{{2}})+|[{UNSEEN}]+"
)
_BREAKING = (
    "address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|"
    "figcaption|figure|footer|form|h[1-6]|head|header|hgroup|hr|html|iframe|img|input|legend|li"
    "|link|main|menu|meta|nav|ol|"
    "optgroup|option|p|pre|script|search|section|select|style|summary|table|tbody|td|template"
    "|textarea|tfoot|th|thead|"
    "title|tr|ul|video"
)
"""Elements that separate the text before and after them; all others join it."""
_TAG = (
    rf"</?(?i:(?!(?:{_BREAKING})[\s/>])[a-z][^\s/<>]{{0,60}})(?:\s[^<>]{{0,300}})?/?>|"
    rf"<[!?][^<>\n-][^<>\n]{{0,300}}>"
)
_LINK_END = r"\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)|\]\[[^\[\]\n]{0,200}\]"
_MARKUP = rf"{_TAG}|<!--(?:(?!-->)[^\n]){{0,200}}-->|{_LINK_END}|!?\[|\]|\*+|~~?|`+"
_MEANT = re.compile(_CHARACTERS)
_BARE = re.compile(f"{_MARKUP}|{_CHARACTERS}")
_TAG_NAME = re.compile(r"</?[A-Za-z][^\s/<>]*")


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A decoded text: `plain`, and its parts with their offsets in `plain` and in the source."""

    plain: str
    source: str
    _parts: list[tuple[int, int, int, bool]]
    """Of each part: start in `plain`, start and end in the source, and whether it is written as
    shown.
    """
    _read: list[tuple[int, int]]  # spans of the source that are shown differently, or not at all

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the source span of a span of `plain`; None if it is written there as shown."""
        shift, begin, _, is_written = self._part_at(start)
        if is_written:
            begin += start - shift

        shift, first, stop, is_written = self._part_at(end - 1)
        if is_written:
            stop = first + end - shift

        if self.source[begin:stop] == self.plain[start:end]:
            return None

        return begin, stop

    def _part_at(self, offset: int) -> tuple[int, int, int, bool]:
        return self._parts[bisect_right(self._parts, offset, key=lambda part: part[0]) - 1]

    def left(self, start: int, end: int) -> str:
        """Return what must stay of a redacted span of the source: ends of links, and tags without
        words.
        """
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


def _render(text: str, pattern: re.Pattern[str]) -> RenderedText | None:
    """Return a text with what a pattern matches decoded or left out, None if nothing matches."""
    matches = list(pattern.finditer(text))
    if not matches:
        return None

    plain: list[str] = []
    parts: list[tuple[int, int, int, bool]] = []
    length = end = 0

    def add(piece: str, start: int, stop: int, is_written: bool) -> None:
        nonlocal length
        if piece:
            plain.append(piece)
            parts.append((length, start, stop, is_written))
            length += len(piece)

    for match in matches:
        start, stop = match.span()
        add(text[end:start], end, start, True)
        add(_character(match), start, stop, False)
        end = stop

    add(text[end:], end, len(text), True)
    return RenderedText("".join(plain), text, parts, [match.span() for match in matches])


def _character(match: re.Match[str]) -> str:
    source = match[0]
    if source[0] == "&":
        return _DROPPED.sub("", html.unescape(source))
    if source[0] == "%":
        return _DROPPED.sub("", unquote(source))

    return ""


_READINGS = (_MEANT, _BARE)
"""Readings of a text besides the raw one; the second does not see what tags and addresses hold."""
MASK = "[withheld]"  # in the place of a withheld name
REDACTED = "[redacted]"  # in the place of a pattern's match
_WORD = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z]+|[0-9]+|[^\W0-9_A-Za-z]")
"""An escaped character of an address, a run of letters, one of digits, or a letter of another
alphabet.
"""
# most characters between two words of a name: `ADR-0005`, `adr_5`, a title over two lines
_FARTHEST = 8


def words_of(text: str) -> tuple[str, ...]:
    """Return a name's words for comparison: case folded, numbers without leading zeros."""
    return tuple(_folded(word) for word in _WORD.findall(text) if word[0] != "%")


def _folded(word: str) -> str:
    if word.isdecimal():
        return word.lstrip("0") or "0"

    return word.casefold()


@dataclass(slots=True)
class _Node:
    next: dict[str, _Node] = field(default_factory=dict)
    struck: bool | None = None
    """Whether the name that ends here is redacted or kept; None if no name ends here."""


def is_masked(text: str) -> bool:
    """Say whether a text was redacted."""
    return MASK in text or REDACTED in text


def redact_pattern(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text with `REDACTED` for every match of a pattern, as written or as shown."""
    return _redact(
        pattern.sub(REDACTED, text),
        lambda plain: map(re.Match.span, pattern.finditer(plain)),
        REDACTED,
    )


def _redact(text: str, find: Callable[[str], Iterable[tuple[int, int]]], mask: str) -> str:
    for reading in _READINGS:
        rendered = _render(text, reading)
        if rendered is None:
            continue

        out: list[str] = []
        end = 0
        for start, stop in find(rendered.plain):
            if stop == start:
                continue

            span = rendered.span(start, stop)
            if span is not None and span[0] >= end:
                out += [text[end : span[0]], mask, rendered.left(*span)]
                end = span[1]

        text = "".join([*out, text[end:]])

    return text


class NameMask:
    """Names to redact, and longer ones to keep, whatever separates their words.

    `ADR-0005` is found in `adr 5`.
    """

    def __init__(self, struck: Iterable[str], exceptions: Iterable[str] = ()) -> None:
        self._top = _Node()
        for name in exceptions:
            self._put(name, is_struck=False)
        for name in struck:
            self._put(name, is_struck=True)

    def _put(self, name: str, is_struck: bool) -> None:
        for spelt in {name, _MEANT.sub(_character, name)}:  # `AD&#45;5`
            node = self._top
            for word in words_of(spelt):
                node = node.next.setdefault(word, _Node())
            if node is not self._top:
                node.struck = is_struck

    def masked(self, text: str) -> str:
        """Return a text with `MASK` for every name to redact; the same object if there is none."""
        if not self._top.next:
            return text

        out: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            out += [text[end:start], MASK]
            end = stop

        masked = _redact("".join([*out, text[end:]]), self._spans, MASK)
        if masked == text:
            return text

        return masked

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        words = [match for match in _WORD.finditer(text) if match[0][0] != "%"]
        at = 0
        while at < len(words):
            struck, length = self._longest(words, at)
            if struck:
                yield words[at].start(), words[at + length - 1].end()
            at += max(length, 1)

    def _longest(self, words: list[re.Match[str]], at: int) -> tuple[bool, int]:
        """Return whether the name at a word is redacted, and how many words it has: 0 for none."""
        node, best = self._top, (False, 0)
        for index in range(at, len(words)):
            if index > at and words[index].start() - words[index - 1].end() > _FARTHEST:
                break

            below = node.next.get(_folded(words[index][0]))
            if below is None:
                break

            node = below
            if node.struck is not None:
                best = (node.struck, index - at + 1)

        return best
