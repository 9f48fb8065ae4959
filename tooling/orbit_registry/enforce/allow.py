"""Comments that allow a place what a decision forbids: `orbit: allow ADR-0016 because …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MARK = "orbit: allow "
_FORM = re.compile(
    r"orbit: allow (?P<name>[A-Za-z]+-[0-9A-Za-z]+(?:/[A-Za-z0-9_-]+)?)"
    r"(?:[ \t]+because[ \t]+(?P<reason>\w[^\n]*?))?[ \t\r]*(?:\*/|-->|\*\)|$)",
    re.MULTILINE,
)


class Allow(NamedTuple):
    """An allowance: its line, the record or check that it names, and the reason; empty where it has none."""

    line: int
    name: str
    reason: str

    def is_for(self, check: str, first: int, last: int) -> bool:
        """Say whether it allows a match of a check: it is on one of its lines, or on the line before."""
        is_named = self.name in (check, check.partition("/")[0])
        return is_named and first - 1 <= self.line <= last


def allows_in(text: str) -> Iterator[Allow]:
    """Yield the allowances in a text."""
    if MARK in text:
        for match in _FORM.finditer(text):
            yield Allow(text.count("\n", 0, match.start()) + 1, match["name"], match["reason"] or "")
