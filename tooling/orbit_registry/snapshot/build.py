"""Writes a snapshot file from rows: checkpointed and synced to disk; it names none and reads no record."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from orbit_registry.errors import SnapshotError
from orbit_registry.snapshot.delta import Base, Held
from orbit_registry.snapshot.events import fill_events
from orbit_registry.snapshot.rows import CONTENT, LOCAL, WHOLE, Rows
from orbit_registry.store.files import sync_folder, write_error

STORAGE = "v1.2.0"
"""The storage version that DuckDB 1.2 to 2.0 and the browser engine read."""
TABLES = Path(__file__).with_name("tables.sql")
MACROS = Path(__file__).with_name("macros.sql")
SMALLEST_BUFFER = 1024 * 1024
"""DuckDB reads through several buffers of twice the longest row, in bytes."""
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


@contextlib.contextmanager
def new_database(path: Path, like: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection whose current database is a new file with our tables; it is complete when the block ends.

    `like` is a snapshot that the new one begins as a copy of.

    Raises:
        SnapshotError: the database refused, or the disk did.
    """
    try:
        if like is not None:
            shutil.copyfile(like, path)
        # Each further thread has buffers of its own, 40 MB at 10,000 records, and saves no CPU time.
        connection = duckdb.connect(":memory:", config={**OFFLINE, "threads": 1})
        try:
            connection.execute(f"ATTACH {quoted(str(path))} AS snapshot (STORAGE_VERSION '{STORAGE}')")
            connection.execute("USE snapshot")
            if like is None:
                connection.execute(TABLES.read_text(encoding="utf-8"))
            yield connection
            if like is None:
                connection.execute(MACROS.read_text(encoding="utf-8"))
            connection.execute("CHECKPOINT snapshot")
            connection.execute("USE memory")
            connection.execute("DETACH snapshot")
        finally:
            connection.close()
        _settle(path)
    except duckdb.Error as error:
        raise SnapshotError(
            f"the snapshot can't be built: {str(error).splitlines()[0]}",
            hint="free some space, or delete .orbit/state/cache and run `orbit sync`",
        ) from None


def _settle(path: Path) -> None:
    """Make sure that the file stands alone and survives a crash."""
    if path.with_name(path.name + ".wal").exists():
        raise SnapshotError(f"{path} was not checkpointed", hint="run `orbit sync` again")
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    sync_folder(path.parent)


def write_database(
    path: Path, rows: Rows, meta: Mapping[str, str | None], base: Base | None = None, events: Sequence[str] = ()
) -> None:
    """Write a snapshot file that must not exist yet: of rows alone, or of an earlier one in which they replace others.

    `events` are the lines of the event log.

    Rows go through files of JSON lines: DuckDB reads them about a hundred times faster than values handed over one
    by one, and no further library is needed.

    Raises:
        SnapshotError: the database refused, or the disk did.
    """
    try:
        lines = Path(tempfile.mkdtemp(prefix=".tmp-rows-", dir=path.parent))
        try:
            with new_database(path, base.file if base is not None else None) as connection:
                if base is not None:
                    _clear(connection, base.replaced)
                for table in (*CONTENT, *LOCAL):
                    fill(connection, table, rows.of(table), lines)
                fill_events(connection, "events", events)
                connection.executemany("INSERT INTO meta VALUES (?, ?)", sorted(meta.items()))
        finally:
            shutil.rmtree(lines, ignore_errors=True)
    except OSError as error:
        refused = write_error(path, error)
        raise SnapshotError(refused.message, hint=refused.hint) from None


def _clear(connection: duckdb.DuckDBPyConnection, ids: Sequence[str]) -> None:
    """Empty the tables that are filled anew, and take the rows of some records out of the others."""
    for table in (*WHOLE, "meta"):
        connection.execute(f"DELETE FROM {table}")
    for table in (*CONTENT, "vote_keys"):
        if ids and table not in WHOLE:
            column = "id" if table == "records" else "record_id"
            connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT unnest(?))", [list(ids)])


def fill(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[str], folder: Path, chosen: str = "SELECT *"
) -> None:
    """Add rows, JSON objects, to a table by way of a file in `folder`; `chosen` says which, and what of them."""
    file, longest = folder / f"{table}.json", 0
    with file.open("wb") as lines:
        for row in rows:
            size = lines.write(f"{row}\n".encode("utf-8", "replace"))  # a file's name may be no Unicode
            longest = max(longest, size)
    if not longest:
        return
    held = connection.execute(f"DESCRIBE {table}").fetchall()
    types = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind, *_ in held)
    connection.execute(
        f"INSERT INTO {table} FROM read_json({quoted(str(file))}, format = 'newline_delimited', "
        f"columns = {{{types}}}, maximum_object_size = {max(SMALLEST_BUFFER, longest)}) {chosen}"
    )
    file.unlink()


def quoted(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def held_by(path: Path) -> Held:
    """Return what a snapshot holds of records and files; nothing where it can't be asked."""
    try:
        connection = duckdb.connect(str(path), read_only=True, config=OFFLINE)
        try:
            records = connection.execute("SELECT path, id, inbox, content_hash FROM records").fetchall()
            files = connection.execute("SELECT path, role, sha256 FROM sources WHERE NOT inbox").fetchall()
            said = "SELECT record_id, list(target) FROM links WHERE derived AND rel = 'references' GROUP BY record_id"
            references = dict(connection.execute(said).fetchall())
        finally:
            connection.close()
    except duckdb.Error:
        return Held({}, frozenset())
    return Held({at: (name, inbox, known) for at, name, inbox, known in records}, frozenset(files), references)
