"""Apache Spark as the engine, through Spark Connect: the same tables, views and questions, in
Spark's dialect, on the user's own cluster.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from orbit_registry.errors import LakeError, UsageError
from orbit_registry.fleet.database import VIEWS_SQL
from orbit_registry.fleet.lake import TABLES_SQL, Lake
from orbit_registry.snapshot.query import QueryResult

REMOTE = "SPARK_REMOTE"
"""Variable that names the server: `sc://spark.example:15002`."""
_EXTRA = "pip install 'orbit-registry[spark]'"
_TABLE = re.compile(r"CREATE TABLE lake_(?P<name>\w+) \((?P<columns>.+)\)\s*\Z", re.DOTALL)


def in_spark(text: str) -> list[str]:
    """Return DuckDB's statements in Spark's dialect.

    Raises:
        UsageError: sqlglot is not installed, or it can't read or translate the text.
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise UsageError("Spark needs sqlglot, which is not installed", hint=_EXTRA) from None

    try:
        return sqlglot.transpile(
            text, read="duckdb", write="spark", unsupported_level=sqlglot.ErrorLevel.RAISE
        )
    except SqlglotError as error:
        reason = " ".join(str(error).split())
        hint = "ask DuckDB: leave out --engine"
        raise UsageError(f"this question has no form in Spark: {reason}", hint=hint) from None


def schemas() -> dict[str, str]:
    """Return the columns of each table as Spark declares them."""
    matches = filter(None, map(_TABLE.search, in_spark(TABLES_SQL.read_text("utf-8"))))
    return {match["name"]: f"{match['columns']}, repository STRING" for match in matches}


def answers(
    lake: Lake, questions: Sequence[str], rows: int, *, on_engine: str = ""
) -> list[QueryResult]:
    """Return the first rows of Spark's answers to DuckDB's questions.

    `on_engine` is the lake's address as the cluster knows it, such as `s3a://decisions/lake`.

    Raises:
        UsageError: a package or the server's address is missing.
        LakeError: Spark failed.
    """
    lake.check()
    root = (on_engine or lake.store.path("")).rstrip("/")
    translated = [in_spark(sql)[0] for sql in questions]
    views = in_spark(VIEWS_SQL.read_text("utf-8"))

    with _session() as spark:
        for table, schema in schemas().items():
            frame = spark.read.schema(schema).parquet(f"{root}/{table}")
            frame.filter("repository <> '-'").createOrReplaceTempView(f"lake_{table}")

        for statement in views:
            spark.sql(
                statement.replace("CREATE TEMPORARY VIEW", "CREATE OR REPLACE TEMPORARY VIEW")
            )

        return [_answer(spark, sql, rows) for sql in translated]


def _answer(spark: Any, sql: str, rows: int) -> QueryResult:
    frame = spark.sql(sql)
    collected = [tuple(row) for row in frame.limit(rows + 1).collect()]
    return QueryResult(tuple(frame.columns), tuple(collected[:rows]), is_cut=len(collected) > rows)


@contextmanager
def _session() -> Iterator[Any]:
    """Yield a session on the server that `SPARK_REMOTE` names."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        message = "`--engine spark` needs pyspark-client, which is not installed"
        raise UsageError(message, hint=_EXTRA) from None

    remote = os.environ.get(REMOTE, "")
    if not remote.startswith("sc://"):
        message = f"{REMOTE} names no Spark Connect server"
        raise UsageError(message, hint=f"{REMOTE}=sc://spark.example:15002 orbit fleet report …")

    spark = None
    try:
        spark = SparkSession.builder.remote(remote).getOrCreate()
        yield spark
    except PySparkException as error:
        raise _failure(str(error)) from None
    except Exception as error:
        # An error of the connection has the class of the library below.
        if type(error).__module__.partition(".")[0] != "grpc":
            raise
        raise _failure(str(error)) from None
    finally:
        if spark is not None:
            spark.stop()


def _failure(text: str) -> LakeError:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    details = [line for line in lines if line.startswith("details =")]
    reason = (details or lines or ["no reason"])[0][:300]
    return LakeError(f"Spark failed: {reason}", hint="leave out --engine to ask DuckDB")
