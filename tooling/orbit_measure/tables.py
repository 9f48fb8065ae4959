"""Tables in memory, and the reports over them: each is a file of SQL in `reports/`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orbit_registry.snapshot.export import duckdb

REPORTS = Path(__file__).with_name("reports")


class Tables:
    """Tables that reports read, in a database in memory."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, schema: str) -> None:
        self.connection = connection
        for name in ("figures", schema):
            self.connection.execute(_sql(name))

    def fill(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        """Add rows to a table, whose values are in the order of its columns."""
        columns = [list(values) for values in zip(*rows, strict=True)]
        if not columns:
            return

        described = self.connection.execute(f"DESCRIBE {table}").fetchall()
        # One list a column is read in a hundredth of the time that a statement a row takes.
        values = ", ".join(f"unnest(?::{row[1]}[])" for row in described)
        self.connection.execute(f"INSERT INTO {table} SELECT {values}", columns)

    def ask(self, report: str, **variables: float) -> list[dict[str, Any]]:
        """Return the rows of a report; `variables` are what its SQL reads by `getvariable`."""
        for name, value in variables.items():
            self.connection.execute(f"SET VARIABLE {name} = ?::DOUBLE", [value])

        result = self.connection.execute(_sql(report))
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _sql(name: str) -> str:
    return (REPORTS / f"{name}.sql").read_text("utf-8")


@contextlib.contextmanager
def tables(schema: str) -> Iterator[Tables]:
    """Yield empty tables, as a file in `reports/` describes them."""
    from orbit_registry.snapshot.export import engine

    with engine() as connection:
        yield Tables(connection, schema)
