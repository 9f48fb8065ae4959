"""Diffs of one file applied to a text that may have moved on.

A hunk goes where its old lines are, even at another place. If they are nowhere, or at several
places but not at the named one, that is a conflict with the expected and the actual line.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from orbit_registry.formats.diff import NO_END, head_of, lines_of

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.ASCII)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a diff does not fit a text; `line` counts from 1, 0 for the whole text."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class _Hunk:
    start: int
    before: list[str]
    after: list[str]


def digest_of(diff: str) -> str:
    """Return a digest of a diff: 16 hexadecimal digits."""
    return hashlib.sha256(diff.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def apply_diff(diff: str, path: str, text: str) -> str | Conflict:
    """Return a text with the diff of the file at `path` applied, or why it does not fit."""
    hunks = _hunks(diff, path)
    if isinstance(hunks, Conflict):
        return hunks

    lines = lines_of(text)
    moved = 0
    floor = 0

    for hunk in hunks:
        position = _find_hunk(lines, hunk, hunk.start + moved, floor)
        if isinstance(position, Conflict):
            return position

        lines[position : position + len(hunk.before)] = hunk.after
        moved = position - hunk.start + len(hunk.after) - len(hunk.before)
        floor = position + len(hunk.after)

    return "".join(lines)


def added_lines(diff: str) -> list[str]:
    """Return the lines that a diff adds."""
    return [line[1:] for line in diff.split("\n")[2:] if line.startswith("+")]


def removes_lines(diff: str) -> bool:
    """Say whether a diff removes any line."""
    return any(line.startswith("-") for line in diff.split("\n")[2:])


def _hunks(diff: str, path: str) -> list[_Hunk] | Conflict:
    """Return the hunks of a diff, counted from 0, or why it is none of the file."""
    lines = diff.removesuffix("\n").split("\n")
    if lines[:2] != head_of(path):
        return Conflict(0, f"the diff is not one of {path}")

    hunks = []
    at = 2

    while at < len(lines):
        matched = _HUNK.match(lines[at])
        if matched is None:
            return Conflict(0, f"line {at + 1} of the diff begins no hunk: {lines[at][:80]}")

        start, many, _, many_new = matched.groups()
        before, after, at = _sides(lines, at + 1)
        if (len(before), len(after)) != (int(many or 1), int(many_new or 1)):
            return Conflict(0, f"the hunk at line {start} does not have the lines that it says")

        hunks.append(_Hunk(int(start) - bool(before), before, after))

    return hunks or Conflict(0, "the diff changes nothing")


def _sides(lines: Sequence[str], at: int) -> tuple[list[str], list[str], int]:
    """Return the old and the new lines of a hunk's body, and where it ends."""
    before: list[str] = []
    after: list[str] = []
    sides = {" ": (before, after), "-": (before,), "+": (after,)}
    last: tuple[list[str], ...] = ()

    while at < len(lines) and (lines[at] == NO_END or lines[at][:1] in sides):
        if lines[at] == NO_END:
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
        else:
            last = sides[lines[at][0]]
            for side in last:
                side.append(f"{lines[at][1:]}\n")

        at += 1

    return before, after, at


def _find_hunk(lines: Sequence[str], hunk: _Hunk, expected: int, floor: int) -> int | Conflict:
    """Return the position of a hunk's old lines: the expected one, or the only other one."""
    size = len(hunk.before)
    if not size and lines:  # a file that was empty
        return Conflict(1, "the file was empty, and is not any more")
    if not size:
        return 0
    if expected >= floor and list(lines[expected : expected + size]) == hunk.before:
        return expected

    positions = [
        at
        for at in range(floor, len(lines) - size + 1)
        if list(lines[at : at + size]) == hunk.before
    ]
    if len(positions) == 1:
        return positions[0]

    if positions:
        message = f"the text that it changes is now at {len(positions)} lines of the file"
        return Conflict(hunk.start + 1, message)

    for at, line in enumerate(hunk.before, _likeliest_start(lines, hunk, expected)):
        actual = lines[at] if 0 <= at < len(lines) else "the end of the file"
        if actual != line:
            break

    return Conflict(max(at, 0) + 1, f"expected `{_cut(line)}`, found `{_cut(actual)}`")


def _likeliest_start(lines: Sequence[str], hunk: _Hunk, expected: int) -> int:
    """Return where most of a hunk's old lines are.

    Compared elsewhere, the message of a conflict would name a line that only moved.
    """
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(hunk.before):
        numbers.setdefault(line, []).append(number)

    starts = Counter[int]()
    for at, line in enumerate(lines):
        starts.update(at - number for number in numbers.get(line, ()))

    return max(starts, key=lambda at: (starts[at], -abs(at - expected)), default=expected)


def _cut(line: str) -> str:
    return line.removesuffix("\n")[:120]
