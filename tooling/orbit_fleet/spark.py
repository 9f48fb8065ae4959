"""Apache Spark as the engine, through Spark Connect: the same tables, views and questions, in
Spark's dialect, on the user's own cluster.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from orbit_fleet.database import VIEWS_SQL, refuse_unknown, scope_match_sql
from orbit_fleet.lake import TABLES_SQL, Lake
from orbit_registry.errors import LakeError, UsageError
from orbit_registry.snapshot.export import quoted
from orbit_registry.snapshot.query import QueryResult

REMOTE = "SPARK_REMOTE"
"""Variable that names the server: `sc://spark.example:15002`."""
PORT = 15002
"""Where a server listens whose address names no port."""
SECONDS = 10.0
"""How long a server is waited for."""
_EXTRA = "pip install 'orbit-registry[spark]'"
_SCOPE_MATCH = re.compile(r"\bscope_match\(\s*('(?:[^']|'')*')\s*\)", re.IGNORECASE)
"""A call of DuckDB's macro, which Spark has not."""
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


def question_in_spark(sql: str) -> str:
    """Return one question in Spark's dialect.

    Raises:
        UsageError: it is no question, or more than one: a question changes nothing on the cluster.
    """
    translated = in_spark(_SCOPE_MATCH.sub(_expanded, sql))
    if len(translated) != 1 or not _only_reads(translated[0]):
        hint = "ask one SELECT (or FROM …); a question changes nothing"
        raise UsageError("this is not a question", hint=hint)

    return translated[0]


def _expanded(call: re.Match[str]) -> str:
    return f"({scope_match_sql(call[1])}) AS scope_match"


def _only_reads(statement: str) -> bool:
    """Say whether a statement in Spark's dialect is a query in which nothing writes."""
    import sqlglot
    from sqlglot import expressions

    (parsed,) = sqlglot.parse(statement, read="spark")
    writes = (expressions.DDL, expressions.DML, expressions.Into, expressions.Command)
    if not isinstance(parsed, expressions.Query):
        return False

    return not any(isinstance(node, writes) for node in parsed.walk())


def schemas() -> dict[str, str]:
    """Return the columns of each table as Spark declares them."""
    matches = filter(None, map(_TABLE.search, in_spark(TABLES_SQL.read_text("utf-8"))))
    return {match["name"]: f"{match['columns']}, repository STRING" for match in matches}


def answers(
    lake: Lake, questions: Sequence[str], rows: int, address: str, repository: str | None
) -> list[QueryResult]:
    """Return the first rows of Spark's answers to DuckDB's questions.

    Raises:
        UsageError: a package or the server's address is missing.
        LakeError: Spark failed.
    """
    lake.check()
    root = (address or lake.store.path("")).rstrip("/")
    translated = [question_in_spark(sql) for sql in questions]
    views = in_spark(VIEWS_SQL.read_text("utf-8"))
    condition = "repository <> '-'"
    if repository is not None:
        refuse_unknown(lake, repository)
        condition = f"repository = {quoted(repository)}"

    with _session() as spark:
        for table, schema in schemas().items():
            frame = spark.read.schema(schema).parquet(f"{root}/{table}")
            frame.filter(condition).createOrReplaceTempView(f"lake_{table}")

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
        from grpc import RpcError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        message = "`--engine spark` needs pyspark-client, which is not installed"
        raise UsageError(message, hint=_EXTRA) from None

    remote = os.environ.get(REMOTE, "")
    _reach(remote)
    spark = None
    try:
        spark = SparkSession.builder.remote(remote).getOrCreate()
        yield spark
    except (PySparkException, RpcError) as error:
        raise _failure(str(error)) from None
    finally:
        if spark is not None:
            spark.stop()


def _reach(remote: str) -> None:
    """Refuse an address where no server listens: Spark's client would try for ten minutes.

    Raises:
        UsageError: it is no address of a server.
        LakeError: nothing listens there.
    """
    hint = f"{REMOTE}=sc://spark.example:15002 orbit fleet report …"
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, PORT

    if not remote.startswith("sc://") or not host:
        raise UsageError(f"{REMOTE} names no Spark Connect server", hint=hint)

    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError as error:
        message = f"no server answers at {host}:{port}: {error.strerror or error}"
        raise LakeError(message, hint=f"see that {REMOTE} is right") from None


def _failure(text: str) -> LakeError:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    details = [line for line in lines if line.startswith("details =")]
    reason = (details or lines or ["no reason"])[0][:300]
    return LakeError(f"Spark failed: {reason}", hint="leave out --engine to ask DuckDB")
