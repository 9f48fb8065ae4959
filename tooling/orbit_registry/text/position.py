"""Where something stands in a text, and what a reader found wrong there; it reads none itself."""

from __future__ import annotations

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
