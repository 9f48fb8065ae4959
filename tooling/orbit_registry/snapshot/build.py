"""Writes a snapshot file from rows: checkpointed and synced to disk; it names none and reads no record."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import SnapshotError
from orbit_registry.snapshot.engine import duckdb
from orbit_registry.snapshot.events import fill_events
from orbit_registry.snapshot.rows import CONTENT, LOCAL, NAMING, WHOLE, Rows
from orbit_registry.snapshot.search_macro import search_tables
from orbit_registry.store.files import sync_folder, write_error

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors
    from orbit_registry.snapshot.copying import Copy

STORAGE = "v1.2.0"
"""The storage version that DuckDB 1.2 to 2.0 and the browser engine read."""
COMPRESSION = "zstd"
"""How copies for others are compressed: to try each way on each column takes as long as to write it, and is larger."""
TABLES = Path(__file__).with_name("tables.sql")
MACROS = Path(__file__).with_name("macros.sql")
SMALLEST_BUFFER = 1024 * 1024
"""DuckDB reads through several buffers of twice the longest row, in bytes."""
DIGEST = """
SELECT bit_xor(md5_number(line)) FROM (
    SELECT concat_ws(chr(0), 'source', path, role, sha256, size) AS line FROM sources WHERE NOT inbox {files}
    UNION SELECT concat_ws(chr(0), 'record', path, content_hash) FROM records WHERE NOT inbox {records}
    {links}
)
"""
"""A hash over every content row that git carries: equal in two clones, whenever they were built. It is the sum, without
carry, of the hashes of the rows, so that an edit changes it by what its own rows were and are."""
_LINKS = """
UNION SELECT concat_ws(chr(0), 'link', record_id, rel, target, coalesce(target_id, ''), derived)
FROM links WHERE record_id NOT IN (SELECT id FROM records WHERE inbox)
"""
NEAR = """
CREATE {within}MACRO near(any_id) AS TABLE
SELECT r.id, array_cosine_similarity(v.vector, o.vector)::DOUBLE AS cosine, r.title, r.kind, r.status, r.path
FROM vectors AS v
JOIN records AS r ON r.content_hash = v.content_hash AND r.phase = 'live' AND r.searched
JOIN records AS a ON a.id = any_id AND a.id <> r.id
JOIN vectors AS o ON o.content_hash = a.content_hash AND o.model = v.model
ORDER BY cosine DESC, r.id
"""
_REFERENCES = "SELECT record_id, list(target) FROM links WHERE derived AND rel = 'references' GROUP BY record_id"
_OF_TEXTS = """
SELECT path, id, inbox, content_hash FROM records WHERE id IN (SELECT id FROM records WHERE {theirs})
"""
_IN_DOCUMENTS = "source_path IN (SELECT unnest(?::VARCHAR[]))"
_IN_FOLDERS = "regexp_extract(path, '^.*/') IN (SELECT unnest(?::VARCHAR[]))"
_TEXTS = """
SELECT path, role, sha256 FROM sources
WHERE role IN ('document', 'body') AND path IN (SELECT unnest(?::VARCHAR[]))
"""
_OTHERS = """
WITH texts AS (SELECT unnest($1::VARCHAR[]) AS path), theirs AS (SELECT unnest($2::VARCHAR[]) AS id)
SELECT (SELECT count(*) FROM freshness_states WHERE cause <> 'source' AND record_id IN (FROM theirs))
    + (SELECT count(*) FROM records, texts WHERE id NOT IN (FROM theirs) AND contains(data, texts.path))
    + (SELECT count(*) FROM freshness, texts
       WHERE starts_with(texts.path, input) OR starts_with('./' || texts.path, input) OR contains(input, texts.path))
"""
"""Counts what may hang on texts beside what their own records say of them."""
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


@contextlib.contextmanager
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that holds nothing, for several questions and files: to make one takes 0.02 s of processor
    time."""
    # Each further thread has buffers of its own, 40 MB at 10,000 records, and saves no CPU time.
    connection = duckdb.connect(":memory:", config={**OFFLINE, "threads": 1})
    try:
        yield connection
    finally:
        connection.close()


def merge_rows(connection: duckdb.DuckDBPyConnection, *, wanted: bool) -> None:
    """Say whether checkpoints of a connection merge the rows that were added to a table with those before them.

    DuckDB does, each time, where a table has 2,048 rows or fewer, and writes all of them again: up to a fourth of the
    time of a sync after one edit.
    """
    connection.execute("RESET max_vacuum_tasks" if wanted else "SET max_vacuum_tasks = 0")


def compress(connection: duckdb.DuckDBPyConnection) -> None:
    """Have what a connection writes from now on compressed as copies for others are."""
    connection.execute(f"SET force_compression = '{COMPRESSION}'")


@contextlib.contextmanager
def new_database(
    connection: duckdb.DuckDBPyConnection, path: Path, like: Copy | None = None, source: Path | None = None
) -> Iterator[None]:
    """Make a new file with our tables the current database of a connection; it is complete when the block ends.

    `like` is the copy of a snapshot that the new one begins as; of `source`, a snapshot that is attached as `held`, it
    has the tables and macros alone, and no row. When anything fails, no part of the file stays.

    Raises:
        SnapshotError: the database refused, or the disk did.
    """
    try:
        if like is not None:
            like.wait()
        connection.execute(f"ATTACH {opened_as(path)} AS snapshot (STORAGE_VERSION '{STORAGE}')")
        try:
            connection.execute("USE snapshot")
            if source is not None:
                connection.execute(f"ATTACH {opened_as(source)} AS held (READ_ONLY)")
            # What is written in one transaction, and at its end at once, never goes through the log.
            connection.execute("SET checkpoint_threshold = '1KB'")
            connection.execute("BEGIN")
            if source is not None:
                # To parse and bind the macros takes 0.02 s, to take them over a tenth of that.
                connection.execute("COPY FROM DATABASE held TO snapshot (SCHEMA)")
            elif like is None:
                connection.execute(TABLES.read_text(encoding="utf-8"))
            yield
            if source is None and like is None:
                connection.execute(MACROS.read_text(encoding="utf-8"))
            search_tables(connection)
            connection.execute("COMMIT")
            connection.execute("CHECKPOINT snapshot")
        finally:
            with contextlib.suppress(duckdb.Error):  # there is none to undo where all is well
                connection.execute("ROLLBACK")
            connection.execute("USE memory")
            connection.execute("DETACH snapshot")
        _settle(path)
    except BaseException as error:
        for left in (path, path.with_name(path.name + ".wal")):
            with contextlib.suppress(OSError):
                left.unlink()
        if not isinstance(error, duckdb.Error):
            raise
        cause = str(error).splitlines()[0].rpartition("Original error: ")[2]
        raise SnapshotError(
            f"the snapshot can't be built: {cause}",
            hint="free some space, or delete .orbit/state/cache and run `orbit sync`",
        ) from None


@dataclass(frozen=True, slots=True)
class Held:
    """What a snapshot holds: records by path, as id, whether it is of the inbox, hash; files as path, role, sha256."""

    records: Mapping[str, tuple[str, bool, str]]
    files: frozenset[tuple[str, str, str]]
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the texts of records refer to, as written, by id."""


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier snapshot to begin from: the ids whose rows go, and the hashes of the records whose rows stay."""

    file: Path
    replaced: Sequence[str]
    untouched: Mapping[str, str]
    texts: Sequence[str] | None = None
    """The files that changed, where they are texts that name what they named; only their records were looked at."""


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
    path: Path, rows: Rows, meta: Mapping[str, str | None], base: Base | None = None, events: Sequence[str] = (),
    within: duckdb.DuckDBPyConnection | None = None, copy: Copy | None = None,
) -> str:  # fmt: skip
    """Write a snapshot file that must not exist yet: of rows alone, or of an earlier one in which they replace others.

    `events` are the lines of the event log, `within` a connection of `engine`, else one is made; `copy` is that of
    `base.file` at `path`, which a base needs. Returns the digest.

    Rows go through files of JSON lines: DuckDB reads them about a hundred times faster than values handed over one
    by one, and no further library is needed.

    Raises:
        SnapshotError: the database refused, or the disk did.
    """
    try:
        lines = Path(tempfile.mkdtemp(prefix=".tmp-rows-", dir=path.parent))
        try:
            made = engine() if within is None else contextlib.nullcontext(within)
            with made as connection, new_database(connection, path, copy if base is not None else None):
                texts = base if base is not None and base.texts is not None else None
                rest = 0 if texts is None else _said(connection) ^ _digest(connection, texts)
                if base is not None:
                    _clear(connection, base)
                for table in (*CONTENT, *LOCAL):
                    if base is None or base.texts is None or table not in NAMING:
                        fill(connection, table, rows.of(table), lines)
                if events:
                    fill_events(connection, "events", events)
                return fill_meta(connection, meta, rest, texts)
        finally:
            shutil.rmtree(lines, ignore_errors=True)
    except OSError as error:
        refused = write_error(path, error)
        raise SnapshotError(refused.message, hint=refused.hint) from None


def fill_meta(
    connection: duckdb.DuckDBPyConnection, meta: Mapping[str, str | None], rest: int = 0, changed: Base | None = None
) -> str:
    """Say what a filled snapshot is, and return its digest; `rest` is that of all rows but those that `changed`."""
    digest = f"{rest ^ _digest(connection, changed):032x}"
    connection.executemany("INSERT INTO meta VALUES (?, ?)", sorted({**meta, "digest": digest}.items()))
    return digest


def _digest(connection: duckdb.DuckDBPyConnection, base: Base | None = None) -> int:
    """Return the digest of all rows, or of those of the files and records that changed since `base`, whose links did
    not."""
    if base is None:
        found = connection.execute(DIGEST.format(files="", records="", links=_LINKS)).fetchall()
    else:
        files, records = (f"AND {column} IN (SELECT unnest(?::VARCHAR[]))" for column in ("path", "id"))
        asked = DIGEST.format(files=files, records=records, links="")
        found = connection.execute(asked, [list(base.texts or ()), list(base.replaced)]).fetchall()
    return int(found[0][0] or 0)


def _said(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the digest that a snapshot says it has."""
    ((digest,),) = connection.execute("SELECT value FROM meta WHERE name = 'digest'").fetchall()
    return int(digest, 16)


def fill_vectors(connection: duckdb.DuckDBPyConnection, vectors: Vectors, within: str = "") -> None:
    """Add a table of records' vectors, and the macro that asks it which records are near one by exact cosine.

    `within` begins its names: `TEMP ` for a connection's own.
    """
    size = max(map(len, vectors.records.values()), default=1)
    connection.execute(
        f"CREATE {within}TABLE vectors AS SELECT r.content_hash, $2 AS model, v.vector FROM records AS r JOIN "
        f"(SELECT unnest($1::VARCHAR[]) AS path, unnest($3::FLOAT[{size}][]) AS vector) AS v ON v.path = r.path",
        [list(vectors.records), vectors.model, list(map(list, vectors.records.values()))],
    )
    connection.execute(NEAR.format(within=within))


def _clear(connection: duckdb.DuckDBPyConnection, base: Base) -> None:
    """Empty the tables that are filled anew, and take the rows of some records out of the others."""
    rows = dict.fromkeys((*CONTENT, "vote_keys"), ("record_id", base.replaced)) | {"records": ("id", base.replaced)}
    if base.texts is not None:
        rows |= {"sources": ("path", base.texts), "freshness_states": ("record_id", base.replaced)}
    tables = dict.fromkeys((*WHOLE, "meta", *rows))
    filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (FROM {name})" for name in tables)
    held = {name for (name,) in connection.execute(filled).fetchall()}
    for table in tables:
        if table not in held or (base.texts is not None and table in NAMING):
            continue
        if table in rows and (base.texts is not None or table not in WHOLE):
            column, gone = rows[table]
            connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT unnest(?::VARCHAR[]))", [list(gone)])
        else:
            connection.execute(f"DELETE FROM {table}")


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
        f"INSERT INTO {table} FROM read_json({opened_as(file)}, format = 'newline_delimited', "
        f"columns = {{{types}}}, maximum_object_size = {max(SMALLEST_BUFFER, longest)}) {chosen}"
    )
    file.unlink()


def quoted(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def opened_as(path: Path) -> str:
    """Return the path of a file as an SQL string.

    Raises:
        SnapshotError: DuckDB opens no file that is called so.
    """
    text = str(path)
    if "\\" in text or any("\udc80" <= character <= "\udcff" for character in text):
        said = f"{text!a}: DuckDB opens no file with a backslash in its path, or one that is not UTF-8"
        raise SnapshotError(said, hint="rename the folder, or work in a checkout elsewhere")
    return quoted(text)


@contextlib.contextmanager
def _held(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Make a snapshot the current database of a connection, read only."""
    connection.execute(f"ATTACH {opened_as(path)} AS held (READ_ONLY)")
    try:
        connection.execute("USE held")
        yield
    finally:
        connection.execute("USE memory")
        connection.execute("DETACH held")


def texts_changed(
    connection: duckdb.DuckDBPyConnection, path: Path, now: Mapping[str, str]
) -> tuple[dict[str, tuple[str, str]], Held] | None:
    """Return those of some documents and bodies that have another hash than a snapshot says, with their role and that
    hash, and what it holds of their records; None where its rows say more of those records than a text does.
    """
    try:
        with _held(connection, path):
            then = connection.execute(_TEXTS, [list(now)]).fetchall()
            changed = {at: (role, sha256) for at, role, sha256 in then if sha256 != now[at]}
            folders = [f"{at.rpartition('/')[0]}/" for at, (role, _) in changed.items() if role == "body"]
            theirs = f"{_IN_DOCUMENTS} OR {_IN_FOLDERS}" if folders else _IN_DOCUMENTS
            wanted = [list(changed), *([folders] if folders else [])]
            records = connection.execute(_OF_TEXTS.format(theirs=theirs), wanted).fetchall()
            ids = [record_id for _, record_id, _, _ in records]
            ((others,),) = connection.execute(_OTHERS, [list(changed), ids]).fetchall()
            theirs = f"{_REFERENCES} HAVING record_id IN (SELECT unnest(?))"
            references = dict(connection.execute(theirs, [ids]).fetchall())
    except duckdb.Error:
        return None
    if others or len(set(ids)) < len(ids) or any(inbox for _, _, inbox, _ in records):
        return None
    return changed, Held({at: (name, inbox, digest) for at, name, inbox, digest in records}, frozenset(), references)


def held_of(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> Held:
    """Return what the attached snapshot holds of the records at some paths, and of others that have their ids."""
    theirs = "SELECT id FROM held.records WHERE path IN (SELECT unnest(?::VARCHAR[]))"
    found = f"SELECT path, id, inbox, content_hash FROM held.records WHERE id IN ({theirs})"
    records = connection.execute(found, [list(paths)]).fetchall()
    named = f"{_REFERENCES.replace('FROM links', 'FROM held.links')} HAVING record_id IN (SELECT unnest(?::VARCHAR[]))"
    references = dict(connection.execute(named, [[name for _, name, _, _ in records]]).fetchall())
    return Held({at: (name, inbox, known) for at, name, inbox, known in records}, frozenset(), references)


def held_by(connection: duckdb.DuckDBPyConnection, path: Path) -> Held:
    """Return what a snapshot holds of records and files; nothing where it can't be asked."""
    try:
        with _held(connection, path):
            records = connection.execute("SELECT path, id, inbox, content_hash FROM records").fetchall()
            files = connection.execute("SELECT path, role, sha256 FROM sources WHERE NOT inbox").fetchall()
            references = dict(connection.execute(_REFERENCES).fetchall())
    except duckdb.Error:
        return Held({}, frozenset())
    return Held({at: (name, inbox, known) for at, name, inbox, known in records}, frozenset(files), references)
