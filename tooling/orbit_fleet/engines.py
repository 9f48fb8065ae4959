"""Questions to a lake, answered by DuckDB here or by a Spark Connect server."""

from __future__ import annotations

from collections.abc import Sequence

from orbit_fleet import spark
from orbit_fleet.database import DUCKDB, Engine, open_lake
from orbit_fleet.lake import Lake
from orbit_registry.snapshot.query import QueryResult, ask

MOST_ROWS = 1_000_000
"""Rows of an answer that Spark sends here, where a question names no number."""
HINT = (
    "`SHOW TABLES` lists tables, `DESCRIBE records` columns; "
    "docs/guides/fleet.md in Orbit's documentation describes them"
)


def answers(
    lake: Lake,
    questions: Sequence[str],
    engine: Engine = DUCKDB,
    *,
    repository: str | None = None,
    rows: int | None = None,
) -> list[QueryResult]:
    """Return an engine's answers to questions in DuckDB's SQL about a lake, or one repository of
    it; of each at most so many rows.

    Raises:
        LakeError: a file of the lake is missing or damaged, or Spark failed.
        UsageError: a question has no form in Spark.
    """
    if engine.name == "spark":
        return spark.answers(lake, questions, rows or MOST_ROWS, engine.address, repository)

    def read() -> list[QueryResult]:
        with open_lake(lake, repository, engine) as connection:
            return [
                ask(connection, sql, seconds=engine.seconds, rows=rows, hint=HINT)
                for sql in questions
            ]

    return lake.reading(read)


def query(
    lake: Lake, sql: str, repository: str | None = None, engine: Engine = DUCKDB
) -> QueryResult:
    """Return the answer to one question."""
    return answers(lake, [sql], engine, repository=repository)[0]
