"""Strikes names out of texts, however they are spelt there; which names, and why, is its caller's business.

A text is read as a browser shows it, each part with its place in the source, and in two ways: the characters that are
meant (`&#45;`, `&shy;`, `%2D`), and those without the markup around them too. It knows the ways to write one text that
need no program: not escapes of JSON or CSS, not letters that look alike.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
class RenderedText:
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


def decoded(text: str) -> str:
    """Return a text with the characters that are meant."""
    return _MEANT.sub(_character, text)


def as_meant(text: str) -> RenderedText | None:
    """Return a text with the characters that are meant; None where it is written with them."""
    return _render(text, _MEANT)


def as_bare(text: str) -> RenderedText | None:
    """Return a text with the characters that are meant and without the markup in lines; None where it has none."""
    return _render(text, _BARE)


READINGS = (as_meant, as_bare)
"""All the ways to read a text beside as it is written; the second one does not see what tags and addresses hold."""


def _render(text: str, pattern: re.Pattern[str]) -> RenderedText | None:
    matches = list(pattern.finditer(text))
    if not matches:
        return None
    plain: list[str] = []
    parts: list[tuple[int, int, int, bool]] = []
    length = end = 0
    for match in matches:
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
    return RenderedText("".join(plain), text, parts, [match.span() for match in matches])


def _character(match: re.Match[str]) -> str:
    """Return what is shown in the place of a match."""
    source = match[0]
    if source[0] == "&":
        return _DROPPED.sub("", html.unescape(source))
    return _DROPPED.sub("", unquote(source)) if source[0] == "%" else ""


MASK, REDACTED = "[withheld]", "[redacted]"
"""What stands in the place of a name that is kept back, and of what a pattern strikes out."""
_WORD = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z]+|[0-9]+|[^\W0-9_A-Za-z]")
"""An escaped character of an address, a run of letters, one of digits, or a letter of another alphabet."""
_FARTHEST = 8
"""How many characters may part two words of a name: `ADR-0005`, `adr_5`, a title that goes on in the next line."""


def words_of(text: str) -> tuple[str, ...]:
    """Return a name's words as they are compared: whatever their case, numbers without the zeros before them."""
    return tuple(_folded(word) for word in _WORD.findall(text) if word[0] != "%")


def _folded(word: str) -> str:
    return (word.lstrip("0") or "0") if word.isdecimal() else word.casefold()


@dataclass(slots=True)
class _Node:
    next: dict[str, _Node] = field(default_factory=dict)
    struck: bool | None = None
    """Whether the name that ends here is struck out or stays; None where none ends."""


def is_masked(text: str) -> bool:
    """Say whether something was taken out of a text."""
    return MASK in text or REDACTED in text


def redact_pattern(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text with `REDACTED` in the place of all that a pattern matches, as it is written or as it is shown."""
    return _redact(
        pattern.sub(REDACTED, text), lambda plain: (match.span() for match in pattern.finditer(plain)), REDACTED
    )


def _redact(text: str, find: Callable[[str], Iterable[tuple[int, int]]], mask: str) -> str:
    """Return a text without what is found in the ways to read it, but for what is found as it is written."""
    for reading in READINGS:
        rendered = reading(text)
        if rendered is None:
            continue
        out: list[str] = []
        end = 0
        for start, stop in find(rendered.plain):
            span = rendered.span(start, stop) if stop > start else None
            if span is not None and span[0] >= end:
                out += [text[end : span[0]], mask, rendered.left(*span)]
                end = span[1]
        text = "".join([*out, text[end:]])
    return text


class NameMask:
    """Names to strike out, and names that stay although one of the others is part of them.

    What stands between words does not matter: `Use a secret vault` is found in `use-a-secret-vault.md`, and
    `ADR-0005` in `adr 5`. Of the names that begin at one place the longest counts.
    """

    def __init__(self, struck: Iterable[str], exceptions: Iterable[str] = ()) -> None:
        self._top = _Node()
        for names, is_struck in ((exceptions, False), (struck, True)):
            for name in names:
                for spelt in {name, decoded(name)}:
                    self._put(words_of(spelt), is_struck)

    def _put(self, words: Iterable[str], is_struck: bool) -> None:
        node = self._top
        for word in words:
            node = node.next.setdefault(word, _Node())
        if node is not self._top:
            node.struck = is_struck

    def masked(self, text: str) -> str:
        """Return a text with `MASK` in the place of every name to strike out; the very text where it holds none."""
        if not self._top.next:
            return text
        out: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            out += [text[end:start], MASK]
            end = stop
        masked = "".join([*out, text[end:]]) if out else text
        result = _redact(masked, self._spans, MASK)
        return text if result == text else result

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where names to strike out stand, in order."""
        words = [match for match in _WORD.finditer(text) if match[0][0] != "%"]
        at = 0
        while at < len(words):
            struck, length = self._longest(words, at)
            if struck:
                yield words[at].start(), words[at + length - 1].end()
            at += max(length, 1)

    def _longest(self, words: list[re.Match[str]], at: int) -> tuple[bool, int]:
        """Return whether the name that begins with a word is struck out, and its number of words: 0 where none does."""
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
