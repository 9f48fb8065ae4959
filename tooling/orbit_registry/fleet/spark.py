"""Apache Spark as the engine of the report:
the same tables, views and questions, in Spark's dialect.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from orbit_registry.errors import LakeError, UsageError
from orbit_registry.fleet.database import CURRENT, VIEWS_SQL
from orbit_registry.fleet.lake import TABLES_SQL, Lake, Push
from orbit_registry.snapshot.query import QueryResult

MASTER = "ORBIT_SPARK_MASTER"
"""Variable that names the cluster; without it, Spark runs on this machine."""
_HEADS = tuple(
    field.name for field in fields(Push) if field.name not in ("removed", "rows", "files", "origin")
)
_NUMBERS = ("sequence", "since", "records", "schema_version")
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "16",
    # A thousand listed files need no job of Spark's own to list them.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}


def statements(text: str) -> list[str]:
    """Return DuckDB's statements in Spark's dialect.

    Raises:
        UsageError: sqlglot is not installed.
    """
    try:
        import sqlglot
    except ImportError:
        raise UsageError("Spark needs sqlglot, which is not installed", hint=_EXTRA) from None

    return sqlglot.transpile(
        text, read="duckdb", write="spark", unsupported_level=sqlglot.ErrorLevel.RAISE
    )


_EXTRA = "pip install 'orbit-registry[fleet]' pyspark"


def schemas() -> dict[str, str]:
    """Return the columns of each table as Spark declares them."""
    texts = (text.partition("(") for text in statements(TABLES_SQL.read_text("utf-8")))
    return {head.split("lake_")[1].strip(): columns.removesuffix(")") for head, _, columns in texts}


def answers(lake: Lake, questions: Sequence[str], rows: int) -> list[QueryResult]:
    """Return the first rows of Spark's answers to DuckDB's questions."""
    buckets = lake.all_buckets()
    with _session() as spark:
        files = [name for bucket in buckets for name in bucket.files]
        for table, schema in schemas().items():
            paths = [lake.store.path(name) for name in files if f"{table}/" in name]
            frame = (
                spark.read.schema(schema).parquet(*paths)
                if paths
                else spark.createDataFrame([], schema)
            )
            frame.createOrReplaceTempView(f"lake_{table}")

        heads = [push for bucket in buckets for push in bucket.heads.values() if not push.removed]
        types = ", ".join(
            f"`{name}` {'BIGINT' if name in _NUMBERS else 'STRING'}" for name in _HEADS
        )
        values = [tuple(getattr(push, name) for name in _HEADS) for push in heads]
        spark.createDataFrame(values, types).createOrReplaceTempView("lake_heads")
        spark.sql(statements(CURRENT)[0]).createOrReplaceTempView("lake_current")

        for statement in statements(VIEWS_SQL.read_text("utf-8")):
            spark.sql(statement)

        return [_answer(spark, statements(sql)[0], rows) for sql in questions]


def _answer(spark: Any, sql: str, rows: int) -> QueryResult:
    frame = spark.sql(sql)
    collected = [tuple(row) for row in frame.limit(rows + 1).collect()]
    return QueryResult(tuple(frame.columns), tuple(collected[:rows]), is_cut=len(collected) > rows)


@contextmanager
def _session() -> Iterator[Any]:
    """Yield a session of Spark.

    Raises:
        UsageError: Spark or Java is not installed.
        LakeError: Spark failed.
    """
    try:
        import pyspark
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError(
            "`--engine spark` needs pyspark, which is not installed", hint=_EXTRA
        ) from None

    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        hint = "install it (Debian: apt-get install openjdk-17-jre-headless), or leave out --engine"
        raise UsageError("Spark needs Java 17, which is not installed", hint=hint)

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ.setdefault("SPARK_SCALA_VERSION", "2.13")

    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.appName("orbit fleet").master(
            os.environ.get(MASTER, "local[*]")
        )
        for name, value in {
            **_SETTINGS,
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
        }.items():
            builder = builder.config(name, value)

        try:
            spark = builder.getOrCreate()
        except Exception as error:  # noqa: BLE001 - Java's errors have no common class in Python
            raise LakeError(
                f"Spark did not start: {str(error).splitlines()[0]}",
                hint="`java -version` must say 17",
            ) from None

        try:
            yield spark
        except PySparkException as error:
            message = f"Spark failed: {str(error).splitlines()[0]}"
            raise LakeError(message, hint="leave out --engine to ask DuckDB") from None
        finally:
            spark.stop()
