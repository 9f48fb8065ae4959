"""DuckDB database over a lake: the views of its tables, and no access to anything but the lake."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orbit_fleet.lake import (
    TABLES,
    TABLES_SQL,
    Lake,
    memory_database,
    scan,
)
from orbit_registry.errors import LakeError, did_you_mean
from orbit_registry.snapshot.export import duckdb, quoted

VIEWS_SQL = Path(__file__).with_name("views.sql")
SCOPE_MATCH_SQL = Path(__file__).with_name("scope_match.sql")
SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Engine:
    """What answers a question, and what it may use."""

    name: str = "duckdb"  # or `spark`: the Spark Connect server that SPARK_REMOTE names
    address: str = ""  # of the lake as the cluster knows it, such as `s3a://decisions/lake`
    seconds: float = SECONDS
    memory: str = ""  # as DuckDB writes it (`8GB`); "" for half of the machine's
    spill: str = ""  # the folder for what does not fit; "" for a temporary one


DUCKDB = Engine()


def half_of_memory() -> str:
    """Return half of this machine's memory, as DuckDB writes it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{max(total // 2, 1 << 28) >> 20}MiB"


@contextlib.contextmanager
def open_lake(
    lake: Lake, repository: str | None = None, engine: Engine = DUCKDB
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the views of a lake, or of one repository of it, that reaches no other
    file.

    Raises:
        LakeError: there is no lake, or no such repository.
    """
    lake.check()
    if repository is not None:
        refuse_unknown(lake, repository)

    with tempfile.TemporaryDirectory(prefix="orbit-spill-", dir=engine.spill or None) as spill:
        config = {"memory_limit": engine.memory or half_of_memory(), "temp_directory": spill}
        with memory_database(lake, config) as connection:
            # No file may have a column yet that a newer version added.
            connection.execute(f"CREATE SCHEMA form; USE form; {TABLES_SQL.read_text('utf-8')}")
            connection.execute("USE memory.main")
            for table in TABLES:
                form = f"SELECT NULL AS repository, * FROM form.lake_{table}"
                files = f"FROM {scan(lake.files(table, repository))}"
                connection.execute(f"CREATE VIEW lake_{table} AS {form} UNION ALL BY NAME {files}")

            connection.execute(VIEWS_SQL.read_text("utf-8"))
            connection.execute(f"CREATE MACRO scope_match(file) AS TABLE {scope_match_sql('file')}")
            connection.execute(f"SET allowed_directories = [{quoted(lake.store.path(''))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection


def refuse_unknown(lake: Lake, repository: str) -> None:
    """Refuse the name of a repository that a lake does not have.

    Raises:
        LakeError: the lake does not have it.
    """
    names = lake.names()
    if repository in names:
        return

    hint = f"{did_you_mean(repository, names)}`orbit fleet repositories` lists them"
    raise LakeError(f"{lake.address} has no repository {repository!r}", hint=hint)


def scope_match_sql(file: str) -> str:
    """Return the SELECT of the records that apply to a file, which is an expression of SQL."""
    return SCOPE_MATCH_SQL.read_text("utf-8").replace("$file", file)
