"""The blocks of a text, and the renderer that joins them: lines, tables and facts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under the names of columns; empty without rows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> Iterable[str]:
        """Return the head and the rows, aligned."""
        if not self.rows:
            return

        listed = [[column.upper() for column in self.columns]]
        for cells in self.rows:
            listed.append([cell.replace("\n", " ") for cell in cells])

        widths = [max(map(len, cells)) for cells in zip(*listed, strict=True)]

        for row in listed:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join(padded).rstrip()


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values, one a line; those without a value are left out."""

    pairs: Sequence[tuple[str, str]]
    width: int = 14

    def lines(self) -> Iterable[str]:
        """Return the pairs, the values aligned."""
        for name, value in self.pairs:
            if value:
                yield f"  {name:<{self.width}}{' '.join(value.splitlines())}"


Block = str | Table | Facts


def rendered(blocks: str | Iterable[Block]) -> str:
    """Return the text of an answer: a text itself, or lines, tables and facts below each other."""
    if isinstance(blocks, str):
        return blocks

    lines: list[str] = []
    for block in blocks:
        lines += [block] if isinstance(block, str) else block.lines()

    return "\n".join(lines)
