"""Copies a snapshot into files for others: without this machine's inbox, findings, events and file times.

What `site.publish` admits is written anew from published records alone: rows taken out of a finished file could leave
their bytes in it, so a filtered file is never a copy of the whole one.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.checks.citing import references_of
from orbit_registry.checks.derivation import standing
from orbit_registry.errors import RefusedError, SnapshotError
from orbit_registry.records.freshness import Freshness
from orbit_registry.snapshot.build import (
    Base,
    compress,
    engine,
    fill,
    fill_meta,
    fill_vectors,
    held_of,
    new_database,
    quoted,
    write_database,
)
from orbit_registry.snapshot.delta import Material, Planned, sources_of
from orbit_registry.snapshot.engine import duckdb
from orbit_registry.snapshot.meta import meta_of
from orbit_registry.snapshot.publication import publication_of
from orbit_registry.snapshot.redaction import free_of_secrets
from orbit_registry.snapshot.rows import CONTENT, NAMING, WHOLE, rows_of
from orbit_registry.store.decisions.prose import prose_of
from orbit_registry.store.files import TEMPORARY, sync_folder, write_error
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors

_LOCAL_IDS = "(SELECT id FROM held.records WHERE inbox)"


def export(
    snapshot: Path | None,
    file: Path,
    parquet: Path | None = None,
    plan: Callable[[duckdb.DuckDBPyConnection], Planned | None] = lambda held: None,
    vectors: Vectors | None = None,
) -> list[Path]:
    """Write a copy of a snapshot, and where asked a Parquet file a table; returns what was written.

    `plan` says, of the snapshot that is attached as `held`, what the next one adds to it: the copy is then one of the
    next; where there is no snapshot, it says all. It is written whole all the same: rows taken out of a finished file
    could leave their bytes in it. An existing file is replaced as a whole; when anything fails, the old one stands.
    `vectors` are those that it is to hold.

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
        with engine() as connection, new_database(connection, temporary, source=snapshot):
            compress(connection)
            planned = plan(connection)
            if snapshot is not None:
                _copy(connection, planned.base if planned is not None else None)
            if planned is not None:
                _add(connection, planned, file.parent)
            if vectors is not None:
                fill_vectors(connection, vectors)
            more = ("vectors",) if vectors is not None else ()
            written = _write_parquet(connection, parquet, (*CONTENT, "meta", *more)) if parquet is not None else []
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


def _copy(connection: duckdb.DuckDBPyConnection, base: Base | None) -> None:
    """Take over the rows that others may have; of those that a next snapshot begins from, the ones that stay."""
    alone = base is not None and base.texts is not None
    gone = dict.fromkeys((*CONTENT, "vote_keys"), ("record_id", "replaced")) | {"records": ("id", "replaced")}
    if base is not None:
        for name, values in (("replaced", base.replaced), ("texts", base.texts or ())):
            connection.execute(f"CREATE TEMP TABLE {name} AS SELECT unnest(?::VARCHAR[]) AS id", [list(values)])
        gone |= {"sources": ("path", "texts")}
    for table in (*CONTENT, "vote_keys", "meta"):
        if base is not None and (table == "meta" or (table in WHOLE and not alone)):
            continue
        column, names = gone.get(table, ("", ""))
        leaves = base is not None and not (alone and table in NAMING)
        kept = f"AND {column} NOT IN (FROM temp.{names})" if leaves else ""
        connection.execute(f"INSERT INTO {table} SELECT {_columns(table)} FROM held.{table} {_shared(table)} {kept}")


def _add(connection: duckdb.DuckDBPyConnection, planned: Planned, folder: Path) -> None:
    """Add the rows that the snapshot at hand lacks, but for what this machine alone has."""
    lines = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}rows-", dir=folder))
    try:
        alone = planned.base is not None and planned.base.texts is not None
        for table in CONTENT if not alone else (one for one in CONTENT if one not in NAMING):
            fill(connection, table, planned.rows.shared.get(table, ()), lines, f"SELECT {_columns(table)}")
        known = "SELECT * WHERE record_id IN (SELECT id FROM records)"
        fill(connection, "vote_keys", planned.rows.local.get("vote_keys", ()), lines, known)
    finally:
        shutil.rmtree(lines, ignore_errors=True)
    fill_meta(connection, planned.meta)


def _columns(table: str) -> str:
    if table == "sources":
        return "* REPLACE (NULL AS mtime)"
    return "*"


def _shared(table: str) -> str:
    """Return the condition that leaves this machine's own rows out."""
    if table in ("records", "sources"):
        return "WHERE NOT inbox"
    if table == "meta":
        return "WHERE true"
    return f"WHERE record_id NOT IN {_LOCAL_IDS}"


def _write_parquet(connection: duckdb.DuckDBPyConnection, folder: Path, tables: Iterable[str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for table in tables:
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


def export_again(workspace: Workspace, reading: Reading, earlier: Path, paths: Sequence[str], file: Path) -> list[Path]:
    """Write what `export` does, out of an earlier copy for others: only the records at `paths` say something else now.

    Raises:
        SnapshotError: one of them names something else too, or shares its id; or the database refused.
        WriteError: the disk refused.
    """
    entries = [one for one in reading.entries if one.path in paths]
    prose = prose_of(workspace, entries, filter(None, map(reading.document_of, entries)))
    material = Material(workspace, reading, prose, ())

    def plan(connection: duckdb.DuckDBPyConnection) -> Planned:
        found = material.alone(earlier, held_of(connection, paths), paths)
        if found is None:
            raise SnapshotError(f"{earlier} holds more that changed", hint="write it anew")
        # By code of another version nothing of it is taken over.
        ((tool,),) = connection.execute("SELECT value FROM held.meta WHERE name = 'tool_version'").fetchall()
        return Planned(*found, meta_of(workspace, workspace.git.commit("HEAD"), tool), len(paths))

    return export(earlier, file, plan=plan)


def export_first(
    workspace: Workspace,
    reading: Reading,
    file: Path,
    freshness: Mapping[str, Freshness] | None = None,
) -> list[Path]:
    """Write what `export` does of a workspace that has no snapshot, and make it none.

    Raises what `export` does.
    """
    prose = prose_of(workspace, reading.entries, reading.documents)
    material = Material(workspace, reading, prose, ())

    def plan(connection: duckdb.DuckDBPyConnection) -> Planned:
        rows = material.rows(connection, None, False, tuple, freshness, shared=True)[1]
        return Planned(rows, None, meta_of(workspace, workspace.git.commit("HEAD")), len(rows.hashes))

    return export(None, file, plan=plan)


def export_published(
    workspace: Workspace,
    reading: Reading,
    file: Path,
    parquet: Path | None = None,
    freshness: Mapping[str, Freshness] | None = None,
) -> list[Path]:
    """Write what `site.publish` admits, and where asked a Parquet file a table; returns the paths.

    Raises what `snapshot.export.export` does.
    """
    publication = publication_of(workspace, reading.collection)
    prose = prose_of(workspace, reading.entries, reading.documents)
    inbox = workspace.relative(workspace.inbox) if workspace.config.inbox == "local" else ""
    shared = [one for one in reading.collection.records if not (inbox and one.path.startswith(f"{inbox}/"))]
    known = standing(workspace, shared).freshness if freshness is None else freshness
    records = publication.records(free_of_secrets(prose.filled(shared)))
    rows = rows_of(
        records,
        sources_of(reading, prose, {one.path for one in records}, False),
        freshness=publication.freshness(known),
        half_life_days=half_life_days(),
        references={one.path: references_of(one, workspace.kinds.id_forms) for one in records},
    )
    with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
        whole = Path(folder) / "snapshot.duckdb"
        write_database(whole, rows, meta_of(workspace, workspace.git.commit("HEAD")))
        return export(whole, file, parquet)
