"""Where something stands in a text, and what a reader found wrong there; it reads none itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: line and column, both counted from 1, columns in characters."""

    line: int
    column: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text as character offsets, `start` included and `end` not."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of `text` that the span covers."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Problem:
    """What a reader found wrong with a text: the code of the check that reports it, and where."""

    code: str
    message: str
    position: Position | None = None
    hint: str | None = None


_LINE_END = re.compile(r"\r\n?|\n")


class TextLines:
    """Where the lines of a text start, so that an offset becomes a position in logarithmic time."""

    __slots__ = ("_newlines", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        line_ends = [match.span() for match in _LINE_END.finditer(text)]
        self.text = text
        self.starts: list[int] = [0, *(end for _, end in line_ends)]
        self.ends: list[int] = [*(start for start, _ in line_ends), len(text)]
        has_lone = "\r" in text.replace("\r\n", "\n")
        self._newlines = [0, *(at for at in self.starts[1:] if text[at - 1] == "\n")] if has_lone else self.starts

    def __len__(self) -> int:
        return len(self.starts)

    def position(self, offset: int) -> Position:
        """Return line and column of the character at `offset`; lines end at `\\n`, as editors count them."""
        line = bisect_right(self._newlines, offset)
        return Position(line, offset - self._newlines[line - 1] + 1)

    def index_of(self, offset: int) -> int:
        """Return the number (from 0) of the line that the character at `offset` stands in."""
        return bisect_right(self.starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return the offset where line `line` (from 0) starts, or the end of the text after the last line."""
        return self.starts[line] if line < len(self.starts) else len(self.text)


def position_at(text: str, offset: int) -> Position:
    """Return the position of the character at `offset`."""
    line = text.count("\n", 0, offset) + 1
    return Position(line, offset - (text.rfind("\n", 0, offset) + 1) + 1)


Pointer = tuple[str | int, ...]
"""The way to a value: mapping keys and list indexes, from the root."""

MALFORMED = "ORB102"


class YamlProblemError(ValueError):
    """A text is not the YAML we accept; `problem` says what and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
