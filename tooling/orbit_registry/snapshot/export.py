"""Copies of the snapshot for others: without local inbox, findings, events and file times."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import RefusedError, SnapshotError
from orbit_registry.matching.sources import references_in, sources_of
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.votes import half_life_days
from orbit_registry.snapshot.build import duckdb, engine, fill_all, fill_meta, fill_vectors, new_database, quoted
from orbit_registry.snapshot.publication import publication_of
from orbit_registry.snapshot.rows import CONTENT, Rows, meta_of, rows_of
from orbit_registry.workspace.files import TEMPORARY, sync_folder, write_error
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors

COMPRESSION = "zstd"
"""How copies are compressed: to try each way on each column takes as long as to write it, and is larger."""


def shared_rows(workspace: Workspace, reading: Reading, *, unfiltered: bool) -> Rows:
    """Return the rows that others may have: what `site.publish` admits, or all that is shared."""
    prose = ProseReading(workspace, reading.entries, reading.documents)
    inbox = f"{workspace.relative(workspace.inbox)}/" if workspace.config.inbox == "local" else ""
    shared = [record for record in reading.collection.records if not (inbox and record.path.startswith(inbox))]
    records = free_of_secrets(prose.filled(shared))
    if not unfiltered:
        records = publication_of(workspace, reading.collection).records(records)
    return rows_of(
        records,
        sources_of(reading, prose, {record.path for record in records}, with_times=False),
        half_life_days=half_life_days(),
        # The text of a document may hold what is withheld.
        references=references_in(records, workspace.kinds, prose if unfiltered else None),
    )


def export(
    workspace: Workspace, rows: Rows, file: Path, parquet: Path | None = None, vectors: Vectors | None = None
) -> list[Path]:
    """Write rows as a snapshot, and where asked a Parquet file a table; returns what was written.

    An existing file is replaced as a whole; on any failure the old one stays.

    Raises:
        RefusedError: a file is there that is no earlier export.
    """
    temporary = file.with_name(f"{TEMPORARY}{file.name}-{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            raise IsADirectoryError(21, "is a folder", str(file))
        if file.exists() and not _is_database(file):
            raise RefusedError(f"{file} is there and is no DuckDB file", hint="give another name, or remove it first")
        with engine() as connection, new_database(connection, temporary):
            connection.execute(f"SET force_compression = '{COMPRESSION}'")
            tables = {table: rows.shared.get(table, ()) for table in CONTENT}
            fill_all(connection, {**tables, "vote_keys": rows.local.get("vote_keys", ())}, file.parent)
            fill_meta(connection, meta_of(workspace, workspace.git.commit("HEAD")))
            if vectors is not None:
                fill_vectors(connection, vectors)
            more = ("vectors",) if vectors is not None else ()
            tables_written = (
                _write_parquet(connection, parquet, (*CONTENT, "meta", *more)) if parquet is not None else []
            )
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        raise write_error(file, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return [file, *tables_written]


def _is_database(file: Path) -> bool:
    """Say whether a file is an earlier export: DuckDB writes its mark at the ninth byte."""
    with file.open("rb") as content:
        return content.read(12)[8:] in (b"DUCK", b"")


def _write_parquet(connection: duckdb.DuckDBPyConnection, folder: Path, tables: Iterable[str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for table in tables:
        target = folder / f"{table}.parquet"
        temporary = folder / f"{TEMPORARY}{table}-{secrets.token_hex(4)}.parquet"
        try:
            connection.execute(f"COPY {table} TO {quoted(str(temporary))} (FORMAT parquet)")
            temporary.replace(target)
        except duckdb.Error as error:
            raise SnapshotError(
                f"{target} can't be written: {str(error).splitlines()[0]}",
                hint="see that the folder is writable and the disk has room, then try again",
            ) from None
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        paths.append(target)
    return paths
