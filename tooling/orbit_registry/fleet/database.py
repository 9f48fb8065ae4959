"""DuckDB database over a lake: views of the newest state,
and no access to anything but the lake's files.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.errors import LakeError
from orbit_registry.fleet.lake import TABLES, TABLES_SQL, Bucket, Lake, file_stem, folder_name
from orbit_registry.snapshot.export import OFFLINE, duckdb, fill_all, quoted
from orbit_registry.snapshot.query import MEMORY, SECONDS, QueryResult, ask

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
ROW_GROUP = (
    8192  # rows of a part of a file that is read alone: small, for questions about one repository
)
VIEWS_SQL, SCOPE_MATCH_SQL = (
    Path(__file__).with_name(f"{name}.sql") for name in ("views", "scope_match")
)
HINT = (
    "`SHOW TABLES` lists tables, `DESCRIBE records` columns; "
    "docs/guides/fleet.md in Orbit's documentation describes them"
)
HEADS = """
CREATE TABLE lake_heads (
    repository VARCHAR, sequence BIGINT, since BIGINT,
    "commit" VARCHAR, committed_at VARCHAR, pushed_at VARCHAR,
    records BIGINT, digest VARCHAR, extends VARCHAR,
    origin VARCHAR, removed BOOLEAN, schema_version INTEGER
)
"""
CURRENT = """
SELECT r.repository, r.record_id, max(r.sequence) AS sequence
FROM lake_records AS r
JOIN lake_heads AS h
    ON h.repository = r.repository AND r.sequence >= h.since AND r.sequence <= h.sequence
GROUP BY r.repository, r.record_id
HAVING NOT arg_max(r.removed, r.sequence)
"""
"""The push that decides about each record."""


@contextlib.contextmanager
def memory_database(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database in memory that can read the lake's files."""
    config = {**OFFLINE, "memory_limit": MEMORY, "temp_directory": ""}
    connection = duckdb.connect(":memory:", config=config)
    try:
        if not lake.store.is_local:
            connection.register_filesystem(lake.store.files)
        yield connection
    finally:
        connection.close()


def add_tables(
    connection: duckdb.DuckDBPyConnection, lake: Lake, files: Iterable[str], repository: str = ""
) -> None:
    """Add a view `lake_…` of the rows in files for each table;
    a column that a file lacks is NULL.
    """
    connection.execute("CREATE SCHEMA form")
    connection.execute(
        TABLES_SQL.read_text("utf-8").replace("CREATE TABLE lake_", "CREATE TABLE form.")
    )
    chosen = f"WHERE repository = {quoted(repository)}" if repository else ""
    names = list(files)

    for table in TABLES:
        columns = ", ".join(
            name for name, *_ in connection.execute(f"DESCRIBE form.{table}").fetchall()
        )
        paths = [quoted(lake.store.path(name)) for name in names if f"{table}/" in name]
        scan = (
            f"read_parquet([{', '.join(paths)}], union_by_name = true, hive_partitioning = false)"
        )
        rows = f"UNION ALL BY NAME FROM {scan}" if paths else ""
        connection.execute(
            f"CREATE VIEW lake_{table} AS SELECT {columns} FROM (FROM form.{table} {rows}) {chosen}"
        )


def add_state(connection: duckdb.DuckDBPyConnection, buckets: Sequence[Bucket]) -> None:
    """Add the table of the newest pushes, and that of the push that decides about each record."""
    pushes = [push for bucket in buckets for push in bucket.heads.values() if not push.removed]
    connection.execute(HEADS)
    with tempfile.TemporaryDirectory() as folder:
        fill_all(
            connection, {"lake_heads": (json.dumps(asdict(push)) for push in pushes)}, Path(folder)
        )
    connection.execute(f"CREATE TABLE lake_current AS {CURRENT}")


@contextlib.contextmanager
def open_lake(lake: Lake, repository: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the views of a lake, or of one repository of it, that reaches no other
    file.

    Raises:
        LakeError: there is no such repository.
    """
    buckets = (
        lake.all_buckets()
        if repository is None
        else [lake.bucket(lake.bucket_of(repository), repository)]
    )
    if repository is not None and not any(not push.removed for push in buckets[0].heads.values()):
        hint = "`orbit fleet repositories` lists them"
        raise LakeError(f"{lake.address} has no repository {repository!r}", hint=hint)

    files = [
        name
        for bucket in buckets
        for name in (bucket.files if repository is None else bucket.files_of(repository))
    ]

    if (
        not lake.store.is_local
    ):  # a file that was listed is opened without four questions about its size and time
        for table in TABLES:
            lake.store.times(
                table if repository is None else f"{table}/{folder_name(buckets[0].number)}"
            )

    with memory_database(lake) as connection:
        add_tables(connection, lake, files, repository or "")
        add_state(connection, buckets)
        connection.execute(VIEWS_SQL.read_text("utf-8"))
        connection.execute(SCOPE_MATCH_SQL.read_text("utf-8"))
        connection.execute(f"SET allowed_directories = [{quoted(lake.store.path(''))}]")

        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def with_lake(
    lake: Lake, use: Callable[[duckdb.DuckDBPyConnection], Result], repository: str | None = None
) -> Result:
    """Use a database over a lake; once more where a compaction removed a file in the meantime.

    Raises:
        LakeError: a file of the lake is missing or damaged.
    """
    for is_last in (False, True):
        try:
            with open_lake(lake, repository) as connection:
                return use(connection)
        except duckdb.Error as error:
            if is_last:
                raise damage(lake, error) from None

    raise AssertionError


def damage(lake: Lake, error: duckdb.Error, number: int | None = None) -> LakeError:
    """Return an error that names the repositories of a damaged file,
    and the command that repairs them.
    """
    text = str(error).splitlines()[0]
    match = re.search(r"bucket=(\d+)/([^/'\"]+)\.parquet", text)
    if match is not None:
        number = int(match[1])

    if not lake.writes_anew:
        return LakeError(
            f"{lake.address}: {text}", hint="restore this file from a copy of the store"
        )

    if number is None:
        return LakeError(
            f"{lake.address}: {text}", hint="`orbit fleet compact` says which bucket is damaged"
        )

    names = [name for name, push in lake.bucket(number).heads.items() if not push.removed]
    if match is not None:
        names = [name for name in names if match[2].startswith(f"{file_stem(name)}.")] or names

    command = f"`orbit fleet push {quote(lake.address)} --force`"
    hint = f"{command} in {', '.join(sorted(names))} writes all records anew"
    return LakeError(f"{lake.address}: bucket {number} is damaged: {text}", hint=hint)


def query(
    lake: Lake, sql: str, repository: str | None = None, *, seconds: float = SECONDS
) -> QueryResult:
    """Return the answer of a lake to one SQL question."""
    return with_lake(
        lake, lambda connection: ask(connection, sql, seconds=seconds, hint=HINT), repository
    )
