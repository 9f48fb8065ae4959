"""Finds in a regular expression a repetition that may take for ever; it runs none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"(?P<escaped>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?P<kind>>|P?<\w+>|[^)(]{0,20}?[:=!]))?)"
    r"|(?P<close>\))|(?P<bar>\|)|(?P<often>[*+?]|\{\d*,?\d*\})(?P<mode>[+?]?)|(?P<other>.)",
    re.DOTALL,
)
_MANY = 10
"""A part may come so often, with a repetition in it, and still be tried in time."""


@dataclass(slots=True)
class _Group:
    """What is known of a group that is open: where it begins, and whether it holds a repetition without an end."""

    start: int
    atomic: bool = False
    repeats: bool = False
    forks: bool = False

    @property
    def is_endless(self) -> bool:
        """Whether one text may be gone through in several ways once the group is repeated."""
        return not self.atomic and (self.repeats or self.forks)


def endless(pattern: str) -> str | None:
    """Return the first part of a pattern that repeats a repetition or a choice whose ways begin alike: `(a+)+`.

    A text that nearly matches is tried there in more ways than anybody waits for. None where there is no such part;
    what is tried in one way alone (`(?>a+)+`, `(a++)+`, `([a-z]+-)+`) is none.
    """
    groups = [_Group(0)]
    closed: _Group | None = None
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            groups.append(_Group(token.start(), token["kind"] == ">"))
        elif token["close"]:
            closed = groups.pop() if len(groups) > 1 else None
            if closed is not None:
                closed.forks |= _forks(pattern[closed.start : token.end()])
                groups[-1].repeats |= closed.repeats and not closed.atomic
            continue
        elif token["often"] and token["mode"] != "+" and _most(token["often"]) > _MANY:
            if closed is not None and closed.is_endless and not _is_parted(pattern[closed.start : token.start()]):
                return pattern[closed.start : token.end()]
            groups[-1].repeats = True
        elif token["often"] == "?" and token["mode"] != "+":
            groups[-1].repeats = True
        closed = None
    return None


def _is_parted(group: str) -> bool:
    """Say whether a group can be repeated in one way alone: a sign that nothing else in it takes begins or ends it.

    Of the rest one part alone may come more or less often: two would share a text between them in several ways.
    """
    parts: list[tuple[str, bool]] = []
    for token in list(_TOKEN.finditer(group))[1:-1]:
        if token["open"] or token["bar"] or (token["escaped"] or "")[1:].isdigit():
            return False
        if token["often"]:
            parts[-1:] = [(text, True) for text, _ in parts[-1:]]
        else:
            parts.append((token[0], False))
    if sum(is_repeated for _, is_repeated in parts) > 1:
        return False
    for (text, is_repeated), rest in ((parts[0], parts[1:]), (parts[-1], parts[:-1])) if parts else ():
        sign = text[-1]
        is_sign = text == sign != "." or (text == f"\\{sign}" and not sign.isalnum())
        if is_sign and not is_repeated and not any(re.fullmatch(one, sign, re.I | re.S) for one, _ in rest):
            return True
    return False


def _most(often: str) -> float:
    """Return how often something may come by its `*`, `+`, `?` or `{2,5}`."""
    if often in "*+":
        return float("inf")
    least, comma, most = often.strip("{}").partition(",")
    return 1 if often == "?" else float(most or ("inf" if comma else least or 0))


def _forks(group: str) -> bool:
    """Say whether two ways through a group begin with the same sign, or one with any."""
    first = list(_starts(group))
    return len(first) > 1 and (len(set(first)) < len(first) or any(one[:1] in ("[", ".", "\\") for one in first))


def _starts(group: str) -> Iterator[str]:
    """Yield what each way through a group begins with, where it says more than one."""
    depth, fresh = 0, True
    for token in _TOKEN.finditer(group):
        depth += bool(token["open"]) - bool(token["close"])
        if token["bar"] and depth == 1:
            fresh = True
        elif fresh and not token["open"]:
            yield token[0]
            fresh = False
