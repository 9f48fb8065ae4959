"""Positions and spans in a text, and problems found there."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Line and column, both from 1; columns count characters."""

    line: int
    column: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """Character offsets: `start` included, `end` not."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of the span."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a text: the code of the check that reports it, and where."""

    code: str
    message: str
    position: Position | None = None
    hint: str | None = None

    def at(self, path: str) -> str:
        """Return the message after its place in a file: `path:line:column: message`."""
        if self.position is None:
            return f"{path}: {self.message}"

        return f"{path}:{self.position.line}:{self.position.column}: {self.message}"


_LINE_END = re.compile(r"\r\n?|\n")


class TextLines:
    """Offsets of line starts, to turn an offset into a position in logarithmic time."""

    __slots__ = ("_newlines", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        line_ends = [match.span() for match in _LINE_END.finditer(text)]
        self.text = text
        self.starts: list[int] = [0, *(end for _, end in line_ends)]
        self.ends: list[int] = [*(start for start, _ in line_ends), len(text)]

        self._newlines = self.starts
        if "\r" in text.replace("\r\n", "\n"):  # one alone
            self._newlines = [0, *(at for at in self.starts[1:] if text[at - 1] == "\n")]

    def __len__(self) -> int:
        return len(self.starts)

    def position(self, offset: int) -> Position:
        """Return the position of an offset; lines end at `\\n`, as editors count them."""
        line = bisect_right(self._newlines, offset)
        return Position(line, offset - self._newlines[line - 1] + 1)

    def index_of(self, offset: int) -> int:
        """Return the number of the line at `offset`, from 0."""
        return bisect_right(self.starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return the offset of line `line` (from 0), or the end of the text after the last line."""
        if line < len(self.starts):
            return self.starts[line]

        return len(self.text)


@lru_cache(maxsize=16)
def text_lines(text: str) -> TextLines:
    """Return the lines of a text; several readers of a document ask one after the other."""
    return TextLines(text)


def position_at(text: str, offset: int) -> Position:
    """Return the position of the character at `offset`."""
    line = text.count("\n", 0, offset) + 1
    return Position(line, offset - (text.rfind("\n", 0, offset) + 1) + 1)


Pointer = tuple[str | int, ...]  # mapping keys and list indexes from the root to a value

MALFORMED = "ORB102"


class YamlProblemError(ValueError):
    """A text is not acceptable YAML; `problem` tells what and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
