"""Comments that allow what a check finds: `orbit: allow ADR-0016 because …`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from orbit_enforce.kind import Match
from orbit_registry.formats.letters import as_seen
from orbit_registry.formats.syntax import comments_and_strings, line_starts, part_at

MARK = "orbit: allow"
_FORM = re.compile(
    rf"{MARK}[ \t]+(?P<name>(?:[a-z][a-z0-9-]*:)?[A-Za-z]+-[0-9A-Za-z]+(?:/[A-Za-z0-9_-]+)?)"
    r"(?:[ \t]+because[ \t]+(?P<reason>(?!\*/|-->|\*\))\S[^\n]{0,1000}?))?[ "
    r"\t\r]*(?:\*/|-->|\*\)|$)",
    re.MULTILINE,
)
_NO_REASON_WORDS = "because fixme n/a na none nope ok okay reason reasons tbd todo why xxx yes"
_NO_REASONS = frozenset(_NO_REASON_WORDS.split())
"""What people write where a reason is asked for, and that says none."""
_ID = re.compile(r"(?:adr|l|r)-[0-9a-z]{4,9}")
"""The id of a record, which says only what the name of the allowance says."""
_SHORTEST = 3
"""Letters and digits of a reason; a letter outside of ASCII may be a word."""
_COMMENT_OPENING = re.compile(r"[ \t#/*<!;%{(-]*")


class Allow(NamedTuple):
    """An allowance: its line, the record or check that it names, and the reason;
    each is empty if it can't be read.
    """

    line: int
    name: str
    reason: str
    is_alone: bool = False
    """Whether its line has nothing else; it is about the next line too."""

    def is_for(self, check: str) -> bool:
        """Say whether it names a check or its record."""
        return self.name in (check, check.partition("/")[0])


def allows_in(path: str, text: str) -> Iterator[Allow]:
    """Yield the allowances in a text, those in strings left out;
    one that can't be read only from a comment.
    """
    if MARK not in text:
        return

    spans = [*comments_and_strings(path, text)]
    starts = line_starts(text)
    for mark in re.finditer(re.escape(MARK), text):
        where = part_at(spans, mark.start())
        match = _FORM.match(text, mark.start())
        if where != "string" and (match or where == "comment"):
            line = bisect_right(starts, mark.start())
            opening = _COMMENT_OPENING.match(text, starts[line - 1])
            is_alone = opening is not None and opening.end() == mark.start()
            yield (
                Allow(line, match["name"], _reason(match["reason"] or ""), is_alone)
                if match
                else Allow(line, "", "")
            )


def _reason(text: str) -> str:
    """Return a text if it says something, else nothing: `.` is no reason."""
    words = as_seen(text).casefold().strip(" \t.,;:!?…-_*/\"'`()")
    letters = [letter for letter in words if letter.isalnum()]
    is_long = len(letters) >= _SHORTEST or not "".join(letters).isascii()
    is_one_letter = len(set(letters)) < 2 and "".join(letters).isascii()
    is_none = words in _NO_REASONS or _ID.fullmatch(words) is not None
    if is_none or not is_long or is_one_letter:
        return ""

    return text


def allowances(
    check: str, matches: Iterable[Match], allows: Sequence[Allow]
) -> Iterator[tuple[Match, Allow | None]]:
    """Yield the matches of a check, each with the first allowance on its lines or alone on the line
    before.
    """
    by_line = {allow.line: allow for allow in reversed(allows) if allow.is_for(check)}
    lines = sorted(by_line)
    for match in matches:
        position = bisect_left(lines, match.line - 1)
        nearest = (by_line[line] for line in lines[position : position + 2])
        fitting = (
            allow
            for allow in nearest
            if match.line - allow.is_alone <= allow.line <= match.end_line
        )
        yield match, next(fitting, None)
