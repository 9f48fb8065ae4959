"""Metadata in a table of the header: rows of key and value, or one row under the keys."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.history import dated_rows, read_history
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.statement import read_statement
from orbit_registry.text.adr.words import KEY_OF, plain
from orbit_registry.text.markdown import Cell, Table, within
from orbit_registry.text.position import Span

NAME = "table"


def read(header: Header) -> Iterator[Fact]:
    """Yield the known keys of the tables in the header."""
    tables = header.document.tables
    for table in (table for zone in header.zone for table in within(tables, zone, lambda table: table.span.start)):
        first = {_key(cell) for cell in table.rows[0]} if table.rows else set()
        history = dated_rows(header.text, table) if {"status", "date"} <= first else []
        if len(history) > 1:
            yield from read_history(header.text, history, NAME)
            continue
        for key, cell in pairs(table):
            if cell.span is None:
                continue
            if key == "status":
                yield from read_statement(header.text, cell.span, NAME)
            else:
                raw = cell.span.of(header.text)
                yield Fact(key, raw, cell.span, NAME, (raw,))


def pairs(table: Table) -> Iterator[tuple[str, Cell]]:
    """Yield (key, value cell) of a table that is rows of key and value, or one row under the keys."""
    first = [_key(cell) for cell in table.rows[0]] if table.rows else []
    if len(table.rows) == 2 and sum(key is not None for key in first) > 1:
        for key, cell in zip(first, table.rows[1], strict=False):
            if key:
                yield key, cell
        return
    for row in table.rows:
        key = _key(row[0]) if len(row) > 1 else None
        if key:
            yield key, row[1]


def _key(cell: Cell) -> str | None:
    return KEY_OF.get(plain(cell.text.strip().strip("*_:").strip()))


def written(fact: Fact, value: str) -> str:
    """Return the value with its pipes escaped."""
    return value.replace("|", "\\|")


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Insert a row under the first row that states something, in a table of keys and values."""
    for fact in read(header):
        start = header.text.rfind("\n", 0, fact.span.start) + 1
        end = header.text.find("\n", fact.span.end)
        row = header.text[start : end if end >= 0 else len(header.text)]
        if row.count("|") == 3 and end >= 0:
            newline = "\r\n" if row.endswith("\r") else "\n"
            return end + 1, f"| {key.capitalize()} | {written(Fact(key, '', Span(0, 0), NAME), value)} |{newline}"
    return None
