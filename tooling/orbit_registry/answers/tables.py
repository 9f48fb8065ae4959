"""Aligned columns for a terminal of some width, of records or of anything else; it prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orbit_registry.answers.tallies import vote_cell
from orbit_registry.records.record import Record


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as aligned columns; the last one takes what space is left."""
    listed = [tuple(cell.replace("\n", " ") for cell in row) for row in rows]
    if not listed:
        return ""
    heads = tuple(column.upper() for column in columns)
    widths = [min(40, max(len(row[index]) for row in (heads, *listed))) for index in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    return "\n".join(map(line, (heads, *listed)))


def records_table(records: Sequence[Record], columns: Sequence[str]) -> str:
    """Return records as a table of the columns their kind names; the headline last, where it may run on."""
    if not records:
        return "no records"
    headline = records[0].kind.headline
    ordered = [column for column in columns if column not in (headline, "title")]

    def cell(record: Record, column: str) -> str:
        if column == "votes":
            return vote_cell(record.votes)
        value = record.data.get(column, "")
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    rows = [[*(cell(record, column) for column in ordered), record.title] for record in records]
    return table([*ordered, headline], rows)
