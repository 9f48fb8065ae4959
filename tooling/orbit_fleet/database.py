"""DuckDB database over a lake: the views of its tables, and no access to anything but the lake."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orbit_fleet.lake import (
    FILES,
    FORM,
    TABLES,
    Lake,
    damage,
    folder_of,
    memory_database,
    scan,
)
from orbit_registry.errors import LakeError, did_you_mean
from orbit_registry.snapshot.export import duckdb, quoted
from orbit_registry.snapshot.query import QueryResult, ask

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
VIEWS_SQL = Path(__file__).with_name("views.sql")
SCOPE_MATCH_SQL = Path(__file__).with_name("scope_match.sql")
SECONDS = 600.0
HINT = (
    "`SHOW TABLES` lists tables, `DESCRIBE records` columns; "
    "docs/guides/fleet.md in Orbit's documentation describes them"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a question may use: seconds, memory as DuckDB writes it (`8GB`), a folder to spill to.

    Without a memory DuckDB takes half of the machine's, without a folder a temporary one.
    """

    seconds: float = SECONDS
    memory: str = ""
    spill: str = ""


DEFAULT = Limits()


def half_of_memory() -> str:
    """Return half of this machine's memory, as DuckDB writes it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{max(total // 2, 1 << 28) >> 20}MiB"


@contextlib.contextmanager
def open_lake(
    lake: Lake, repository: str | None = None, limits: Limits = DEFAULT
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the views of a lake, or of one repository of it, that reaches no other
    file.

    Raises:
        LakeError: there is no lake, or no such repository.
    """
    lake.check()
    if repository is not None:
        _refuse_unknown(lake, repository)

    folders = ["*"] if repository is None else [FORM, folder_of(repository)]
    with tempfile.TemporaryDirectory(prefix="orbit-spill-", dir=limits.spill or None) as spill:
        config = {"memory_limit": limits.memory or half_of_memory(), "temp_directory": spill}
        with memory_database(lake, config) as connection:
            for table in TABLES:
                paths = [f"{table}/{folder}/{FILES[table]}" for folder in folders]
                files = [lake.store.path(path) for path in paths]
                connection.execute(f"CREATE VIEW lake_{table} AS FROM {scan(files)}")

            connection.execute(VIEWS_SQL.read_text("utf-8"))
            connection.execute(SCOPE_MATCH_SQL.read_text("utf-8"))
            connection.execute(f"SET allowed_directories = [{quoted(lake.store.path(''))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection


def _refuse_unknown(lake: Lake, repository: str) -> None:
    names = lake.names()
    if repository in names:
        return

    hint = f"{did_you_mean(repository, names)}`orbit fleet repositories` lists them"
    raise LakeError(f"{lake.address} has no repository {repository!r}", hint=hint)


def with_lake(
    lake: Lake,
    use: Callable[[duckdb.DuckDBPyConnection], Result],
    repository: str | None = None,
    limits: Limits = DEFAULT,
) -> Result:
    """Use a database over a lake; once more where a file was replaced in the meantime.

    Raises:
        LakeError: a file of the lake is missing or damaged.
    """
    for is_last in (False, True):
        try:
            with open_lake(lake, repository, limits) as connection:
                return use(connection)
        except duckdb.Error as error:
            if is_last:
                raise damage(lake, error) from None

    raise AssertionError


def query(
    lake: Lake, sql: str, repository: str | None = None, limits: Limits = DEFAULT
) -> QueryResult:
    """Return the answer of a lake to one SQL question."""
    return with_lake(
        lake,
        lambda connection: ask(connection, sql, seconds=limits.seconds, hint=HINT),
        repository,
        limits,
    )
