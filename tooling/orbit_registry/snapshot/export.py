"""Copies a snapshot into files for others: without this machine's inbox, findings, events and file times."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

import duckdb

from orbit_registry.errors import RefusedError, SnapshotError
from orbit_registry.snapshot.build import new_database, quoted
from orbit_registry.snapshot.rows import CONTENT
from orbit_registry.store.files import TEMPORARY, sync_folder, write_error

_LOCAL_IDS = "(SELECT id FROM held.records WHERE inbox)"


def export(snapshot: Path, file: Path, parquet: Path | None = None) -> list[Path]:
    """Write a copy of a snapshot, and where asked a Parquet file a table; returns what was written.

    An existing file is replaced as a whole; when anything fails, the old one stands.

    Raises:
        SnapshotError: the database refused.
        WriteError: the disk refused.
    """
    temporary = file.with_name(f"{TEMPORARY}{file.name}-{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            raise IsADirectoryError(21, "is a folder", str(file))
        if file.exists() and not _is_database(file):
            raise RefusedError(f"{file} is there and is no DuckDB file", hint="give another name, or remove it first")
        with new_database(temporary) as connection:
            connection.execute(f"ATTACH {quoted(str(snapshot))} AS held (READ_ONLY)")
            for table in (*CONTENT, "vote_keys", "meta"):
                connection.execute(f"INSERT INTO {table} SELECT {_columns(table)} FROM held.{table} {_shared(table)}")
            connection.execute("DETACH held")
            written = _write_parquet(connection, parquet) if parquet is not None else []
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        raise write_error(file, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return [file, *written]


def _is_database(file: Path) -> bool:
    """Say whether a file is an earlier export: DuckDB writes its mark at the ninth byte."""
    with file.open("rb") as held:
        return held.read(12)[8:] in (b"DUCK", b"")


def _columns(table: str) -> str:
    if table == "sources":
        return "* REPLACE (NULL AS mtime)"
    return "*"


def _shared(table: str) -> str:
    """Return the condition that leaves this machine's own rows out."""
    if table in ("records", "sources"):
        return "WHERE NOT inbox"
    if table == "meta":
        return ""
    return f"WHERE record_id NOT IN {_LOCAL_IDS}"


def _write_parquet(connection: duckdb.DuckDBPyConnection, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for table in (*CONTENT, "meta"):
        target = folder / f"{table}.parquet"
        temporary = folder / f"{TEMPORARY}{table}-{secrets.token_hex(4)}.parquet"
        try:
            connection.execute(f"COPY {table} TO {quoted(str(temporary))} (FORMAT parquet)")
            temporary.replace(target)
        except duckdb.Error as error:
            said = f"{target} can't be written: {str(error).splitlines()[0]}"
            raise SnapshotError(
                said, hint="see that the folder is writable and the disk has room, then try again"
            ) from None
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        written.append(target)
    return written
