"""Redaction of names and patterns in texts, however they are spelt.

A text is searched as written, then each line as a browser shows it, in two readings: with entities and escapes
decoded (`&#45;`, `&shy;`, `%2D`), and also without markup. Escapes of JSON or CSS and look-alike letters stay.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Invisible characters: soft hyphens, zero-width ones, direction marks, variation selectors."""
_DROPPED = re.compile(f"[{_UNSEEN}]+")
_CHARACTERS = rf"&(?:\#[xX]?[0-9A-Fa-f]{{1,8}};?|[A-Za-z][A-Za-z0-9]{{1,31}};?)|(?:%[0-9A-Fa-f]{{2}})+|[{_UNSEEN}]+"
_BREAKING = (
    "address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|"
    "figcaption|figure|footer|form|h[1-6]|head|header|hgroup|hr|html|iframe|img|input|legend|li|link|main|menu|meta|nav|ol|"
    "optgroup|option|p|pre|script|search|section|select|style|summary|table|tbody|td|template|textarea|tfoot|th|thead|"
    "title|tr|ul|video"
)
"""Elements that separate the text before and after them; all others join it."""
_TAG = rf"</?(?i:(?!(?:{_BREAKING})[\s/>])[a-z][^\s/<>]{{0,60}})(?:\s[^<>]{{0,300}})?/?>|<[!?][^<>\n-][^<>\n]{{0,300}}>"
_LINK_END = r"\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)|\]\[[^\[\]\n]{0,200}\]"
_MARKUP = rf"{_TAG}|<!--(?:(?!-->)[^\n]){{0,200}}-->|{_LINK_END}|!?\[|\]|\*+|~~?|`+"
_MEANT = re.compile(_CHARACTERS)
_BARE = re.compile(f"{_MARKUP}|{_CHARACTERS}")


def _character(match: re.Match[str]) -> str:
    source = match[0]
    if source[0] == "&":
        return _DROPPED.sub("", html.unescape(source))
    return _DROPPED.sub("", unquote(source)) if source[0] == "%" else ""


_READINGS = (_MEANT, _BARE)
"""Readings of a text besides the raw one; the second does not see what tags and addresses hold."""
MASK, REDACTED = "[withheld]", "[redacted]"  # replacements of a withheld name, and of a pattern's match
_WORD = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z]+|[0-9]+|[^\W0-9_A-Za-z]")
"""An escaped character of an address, a run of letters, one of digits, or a letter of another alphabet."""
_FARTHEST = 8  # most characters between two words of a name: `ADR-0005`, `adr_5`, a title over two lines


def words_of(text: str) -> tuple[str, ...]:
    """Return a name's words for comparison: case folded, numbers without leading zeros."""
    return tuple(_folded(word) for word in _WORD.findall(text) if word[0] != "%")


def _folded(word: str) -> str:
    return (word.lstrip("0") or "0") if word.isdecimal() else word.casefold()


@dataclass(slots=True)
class _Node:
    next: dict[str, _Node] = field(default_factory=dict)
    struck: bool | None = None  # whether the name that ends here is redacted or kept; None if no name ends here


def is_masked(text: str) -> bool:
    """Say whether a text was redacted."""
    return MASK in text or REDACTED in text


def redact_pattern(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text with `REDACTED` for every match of a pattern, as written or as shown."""
    written = pattern.sub(REDACTED, text)
    return _without_disguised(written, lambda shown: map(re.Match.span, pattern.finditer(shown)), REDACTED)


def _without_disguised(text: str, find: Callable[[str], Iterable[tuple[int, int]]], mask: str) -> str:
    """Return a text with a mask for each line that hides something to redact behind markup or escapes."""
    for reading in _READINGS:
        if reading.search(text) is None:
            continue
        lines = []
        for line in text.split("\n"):
            shown = reading.sub(_character, line)
            is_disguised = shown != line and any(stop > start for start, stop in find(shown))
            lines.append(mask if is_disguised else line)
        text = "\n".join(lines)
    return text


class NameMask:
    """Names to redact, and longer ones to keep; separators don't matter: `ADR-0005` is found in `adr 5`."""

    def __init__(self, struck: Iterable[str], exceptions: Iterable[str] = ()) -> None:
        self._top = _Node()
        for names, is_struck in ((exceptions, False), (struck, True)):
            for name in names:
                for spelt in {name, _MEANT.sub(_character, name)}:  # `AD&#45;5`
                    self._put(words_of(spelt), is_struck)

    def _put(self, words: Iterable[str], is_struck: bool) -> None:
        node = self._top
        for word in words:
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
        masked = "".join([*out, text[end:]]) if out else text
        result = _without_disguised(masked, self._spans, MASK)
        return text if result == text else result

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        words = [match for match in _WORD.finditer(text) if match[0][0] != "%"]
        at = 0
        while at < len(words):
            struck, length = self._longest(words, at)
            if struck:
                yield words[at].start(), words[at + length - 1].end()
            at += max(length, 1)

    def _longest(self, words: list[re.Match[str]], at: int) -> tuple[bool, int]:
        """Return whether the name at a word is redacted, and its number of words: 0 if no name begins there."""
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
