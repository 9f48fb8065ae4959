"""Search for repetitions in a regular expression that may take exponential time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"(?P<escaped>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?P<kind>>|P?<\w+>|[^)(]{0,20}?[:=!]))?)"
    r"|(?P<close>\))|(?P<bar>\|)|(?P<count>[*+?]|\{\d*,?\d*\})(?P<mode>[+?]?)|(?P<other>.)",
    re.DOTALL,
)
_MANY = 10
"""A group with a repetition in it may be repeated this often and is still tried in time."""


@dataclass(slots=True)
class _Group:
    """An open group: where it begins, and whether one text can match it in several ways."""

    start: int
    atomic: bool = False
    repeats: bool = False
    is_ambiguous_choice: bool = False

    @property
    def is_ambiguous(self) -> bool:
        return not self.atomic and (self.repeats or self.is_ambiguous_choice)


def find_slow_repetition(pattern: str) -> str | None:
    """Return the first repeated part that can match one text in several ways: `(a+)+`, `(a|ab)+`.

    A text that nearly matches such a part is tried in exponentially many ways. Atomic groups, possessive repetitions
    and groups with a separator (`([a-z]+-)+`) are safe.
    """
    groups = [_Group(0)]
    closed: _Group | None = None
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            groups.append(_Group(token.start(), token["kind"] == ">"))
        elif token["close"]:
            closed = groups.pop() if len(groups) > 1 else None
            if closed is not None:
                closed.is_ambiguous_choice |= _is_ambiguous_choice(pattern[closed.start : token.end()])
                groups[-1].repeats |= closed.repeats and not closed.atomic
            continue
        elif token["count"] and token["mode"] != "+" and _largest(token["count"]) > _MANY:
            if closed is not None and closed.is_ambiguous and not _has_separator(pattern[closed.start : token.start()]):
                return pattern[closed.start : token.end()]
            groups[-1].repeats = True
        elif token["count"] == "?" and token["mode"] != "+":
            groups[-1].repeats = True
        closed = None
    return None


def _has_separator(group: str) -> bool:
    """Say whether a character that no other part of the group matches begins or ends each repetition.

    At most one part may be repeated: two would share a text between them in several ways.
    """
    parts: list[tuple[str, bool]] = []
    for token in list(_TOKEN.finditer(group))[1:-1]:
        if token["open"] or token["bar"] or (token["escaped"] or "")[1:].isdigit():
            return False
        if token["count"]:
            parts[-1:] = [(text, True) for text, _ in parts[-1:]]
        else:
            parts.append((token[0], False))
    if not parts or sum(is_repeated for _, is_repeated in parts) > 1:
        return False
    for (text, is_repeated), others in ((parts[0], parts[1:]), (parts[-1], parts[:-1])):
        character = text[-1]
        is_literal = text == character != "." or (text == f"\\{character}" and not character.isalnum())
        if is_literal and not is_repeated and not any(re.fullmatch(part, character, re.I | re.S) for part, _ in others):
            return True
    return False


def _largest(count: str) -> float:
    """Return the largest count that `*`, `+`, `?` or `{2,5}` allows."""
    if count in "*+":
        return float("inf")
    least, comma, most = count.strip("{}").partition(",")
    return 1 if count == "?" else float(most or ("inf" if comma else least or 0))


def _is_ambiguous_choice(group: str) -> bool:
    """Say whether two alternatives of a group begin with the same token, or one with any character."""
    starts = list(_alternative_starts(group))
    is_open = any(start[:1] in ("[", ".", "\\") for start in starts)
    return len(starts) > 1 and (len(set(starts)) < len(starts) or is_open)


def _alternative_starts(group: str) -> Iterator[str]:
    depth, at_start = 0, True
    for token in _TOKEN.finditer(group):
        depth += bool(token["open"]) - bool(token["close"])
        if token["bar"] and depth == 1:
            at_start = True
        elif at_start and not token["open"]:
            yield token[0]
            at_start = False
