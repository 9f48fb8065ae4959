"""DuckDB files: tables filled from rows and from the event log, and copies of the snapshot for
others.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import RefusedError, SnapshotError, UsageError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook.events import NAMES, RETRIEVAL
from orbit_registry.hook.words import LONGEST_WORD, UNSPACED
from orbit_registry.hook.words import MARKS as LETTER_MARKS
from orbit_registry.lifecycle.review_facts import due_reviews
from orbit_registry.lifecycle.verdicts import verdicts
from orbit_registry.matching.routes import Routes, routes_in
from orbit_registry.matching.words import Words
from orbit_registry.operations.freshness.evaluate import FreshnessReport, evaluate_freshness
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.repository.reader import Reading, digests_of
from orbit_registry.repository.skills import Skill
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.index import K1, B, index_of
from orbit_registry.search.query import MARKS
from orbit_registry.search.texts import TextWords
from orbit_registry.snapshot.references import references_in
from orbit_registry.snapshot.rows import (
    CONTENT,
    LOCAL,
    ROUTES,
    TEXTS,
    WORDS,
    RouteRows,
    Rows,
    citations_of,
    extra_tables,
    meta_of,
    route_rows,
    rows_of,
    word_rows,
)
from orbit_registry.snapshot.sources import sources_of
from orbit_registry.workspace.event_log import LONGEST_LINE, log_files
from orbit_registry.workspace.files import replaced, sync_folder, write_error
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    import duckdb as duckdb

    from orbit_registry.search.vectors import Vectors

    VectorSource = Callable[[Sequence[str]], Vectors | None]
# the compiled module alone: the package's interface for building questions takes three times as
# long to import
else:
    try:
        duckdb = importlib.import_module("_duckdb")
    except ImportError:  # the name is not promised: another version may call it otherwise
        duckdb = importlib.import_module("duckdb")

EVENTS = Path(__file__).with_name("events.sql")
SEARCH = Path(__file__).with_name("search.sql")
ENDINGS = "[bdfglmnprt]?(?:s|e|es|d|ed|ing|ings|er|ers|ly|y|ies|ied|ion|ions|ment|ments)"
"""What may follow a known word in one that is not known."""


def _make_search(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the macro `search`, which adds what words weigh."""
    text = SEARCH.read_text("utf-8")
    for name, value in _VALUES.items():
        text = text.replace(f"@{name}@", value.replace("'", "''"))
    connection.execute(text)


_VALUES = {
    "unspaced": UNSPACED,
    "marks": LETTER_MARKS,
    "longest": str(LONGEST_WORD),
    "edges": MARKS,
    "endings": ENDINGS,
    "k1": str(K1),
    "b": str(B),
}


def event_lines(state: Path) -> list[str]:
    """Return the lines of a workspace's event log in their order, without what can't be read."""
    lines: list[str] = []
    for path in log_files(state):
        try:
            content = path.read_bytes()
        except OSError:
            continue  # rotated just now, or not readable

        for line in content.splitlines():
            if 0 < len(line) <= LONGEST_LINE:
                lines.append(line.decode("utf-8", "replace"))

    return lines


def fill_events(connection: duckdb.DuckDBPyConnection, table: str, lines: Sequence[str]) -> None:
    """Fill a table with a row for each record of each event, and one for an event without.

    Lines that are no events are left out.
    """
    rows = EVENTS.read_text("utf-8")
    connection.execute(f"INSERT INTO {table} {rows}", [list(lines), RETRIEVAL, list(NAMES)])


STORAGE = "v1.2.0"  # the storage version that DuckDB 1.2 to 2.0 and the browser engine read
TABLES = Path(__file__).with_name("tables.sql")
MACROS = Path(__file__).with_name("macros.sql")
# DuckDB reads through several buffers of twice the longest row, in bytes.
SMALLEST_BUFFER = 1024 * 1024
NEAR = """
CREATE {within}MACRO near(any_id) AS TABLE
SELECT
    r.id, array_cosine_similarity(v.vector, o.vector)::DOUBLE AS cosine,
    r.title, r.kind, r.status, r.path
FROM vectors AS v
JOIN records AS r ON r.content_hash = v.content_hash AND r.phase = 'live' AND r.searched
JOIN records AS a ON a.id = any_id AND a.id <> r.id
JOIN vectors AS o ON o.content_hash = a.content_hash AND o.model = v.model
ORDER BY cosine DESC, r.id
"""
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


@contextlib.contextmanager
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an empty database in memory."""
    # Each further thread has its own buffers, 40 MB at 10,000 records, and saves no CPU time.
    connection = duckdb.connect(":memory:", config={**OFFLINE, "threads": 1})
    try:
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def new_database(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Make a new file with our tables the current database for a block that fills it.

    A failure leaves no file.
    """
    with _database(connection, path):
        connection.execute(TABLES.read_text(encoding="utf-8"))
        for table in extra_tables().values():
            connection.execute(table.sql)

        yield

        connection.execute(MACROS.read_text(encoding="utf-8"))
        _make_search(connection)


@contextlib.contextmanager
def _copied_database(
    connection: duckdb.DuckDBPyConnection, path: Path, earlier: Earlier
) -> Iterator[None]:
    """Make a copy of an earlier file the current database for a block that fills its tables,
    except for those that stay.
    """
    shutil.copyfile(earlier.path, path)
    with _database(connection, path):
        for table in (*_tables(), "meta"):
            if table not in earlier.same:
                connection.execute(f"DELETE FROM {table}")

        yield


@contextlib.contextmanager
def _database(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Make a file the current database for a block, in one transaction.

    A failure leaves no file.
    """
    try:
        connection.execute(
            f"ATTACH {_file_literal(path)} AS snapshot (STORAGE_VERSION '{STORAGE}')"
        )
        try:
            connection.execute("USE snapshot")

            # What is written in one transaction, and at its end at once, never goes through the
            # log.
            connection.execute("SET checkpoint_threshold = '1KB'")
            connection.execute("BEGIN")

            yield

            connection.execute("COMMIT")
            connection.execute("CHECKPOINT snapshot")
        finally:
            with contextlib.suppress(duckdb.Error):  # there is none to undo where all is well
                connection.execute("ROLLBACK")
            connection.execute("USE memory")
            connection.execute("DETACH snapshot")

        if path.with_name(path.name + ".wal").exists():
            raise SnapshotError(f"{path} was not checkpointed", hint="run `orbit sync` again")

        with path.open("rb") as file:
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except BaseException as error:
        for part in (path, path.with_name(path.name + ".wal")):
            with contextlib.suppress(OSError):
                part.unlink()

        if not isinstance(error, duckdb.Error):
            raise

        cause = str(error).splitlines()[0].rpartition("Original error: ")[2]
        raise SnapshotError(
            f"the snapshot can't be built: {cause}",
            hint="free some space, or delete .orbit/state/cache and run `orbit sync`",
        ) from None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A snapshot file with our tables, and the names of those that have the same rows."""

    path: Path
    same: Collection[str]


def _tables() -> tuple[str, ...]:
    """Return the tables that are filled from rows."""
    return (*CONTENT, *LOCAL, TEXTS, WORDS, *extra_tables())


def write_database(
    path: Path,
    rows: Rows,
    meta: Mapping[str, str | None],
    events: Sequence[str] = (),
    earlier: Earlier | None = None,
) -> None:
    """Write a snapshot file that must not exist yet; `events` are lines of the event log.

    What `earlier` has is copied: tables and macros take as long to make as many rows.
    """
    try:
        with engine() as connection:
            tables = {table: rows.of(table) for table in _tables()}
            database = new_database(connection, path)
            if earlier is not None:
                database = _copied_database(connection, path, earlier)
                tables = {name: of for name, of in tables.items() if name not in earlier.same}

            # Compression takes a tenth of the time to build and saves a third of a file that lasts
            # until the next sync.
            connection.execute("SET force_compression = 'uncompressed'")

            with database:
                fill_all(connection, tables, path.parent)
                if events:
                    fill_events(connection, "events", events)
                _fill_meta(connection, rows, meta)
    except OSError as error:
        refused = write_error(path, error)
        raise SnapshotError(refused.message, hint=refused.hint) from None


def fill_all(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Iterable[str]], folder: Path
) -> None:
    """Add rows to tables by files of JSON lines, which DuckDB reads a hundred times faster than
    single values.
    """
    lines = Path(tempfile.mkdtemp(prefix=".tmp-rows-", dir=folder))
    try:
        for table, rows in tables.items():
            _fill(connection, table, rows, lines / f"{table}.json")
    finally:
        shutil.rmtree(lines, ignore_errors=True)


def _fill(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[str], file: Path
) -> None:
    longest = 0
    with file.open("wb") as lines:
        for row in rows:
            # A file's name may be no Unicode.
            size = lines.write(f"{row}\n".encode("utf-8", "replace"))
            longest = max(longest, size)

    if longest:
        columns = connection.execute(f"DESCRIBE {table}").fetchall()
        types = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind, *_ in columns)
        buffer = max(SMALLEST_BUFFER, longest)
        connection.execute(
            f"INSERT INTO {table} FROM read_json({_file_literal(file)}, "
            f"format = 'newline_delimited', columns = {{{types}}}, maximum_object_size = {buffer})"
        )

    file.unlink()


def _fill_meta(
    connection: duckdb.DuckDBPyConnection, rows: Rows, meta: Mapping[str, str | None]
) -> None:
    """Say what a snapshot of these rows is."""
    entries = sorted({**meta, "digest": rows.digest}.items())
    connection.executemany("INSERT INTO meta VALUES (?, ?)", entries)


def fill_vectors(connection: duckdb.DuckDBPyConnection, vectors: Vectors, within: str = "") -> None:
    """Add a table of vectors and the macro `near`.

    `within` begins their names: `TEMP ` for a connection's own.
    """
    size = max(map(len, vectors.records.values()), default=1)
    table = (
        f"CREATE {within}TABLE vectors AS SELECT r.content_hash, $2 AS model, v.vector "
        f"FROM records AS r JOIN "
        f"(SELECT unnest($1::VARCHAR[]) AS path, unnest($3::FLOAT[{size}][]) AS vector) AS v "
        f"ON v.path = r.path"
    )
    values = list(map(list, vectors.records.values()))

    connection.execute(table, [list(vectors.records), vectors.model, values])
    connection.execute(NEAR.format(within=within))


def quoted(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _file_literal(path: Path) -> str:
    text = str(path)
    if "\\" in text or any("\udc80" <= character <= "\udcff" for character in text):
        message = (
            f"{text!a}: DuckDB opens no file with a backslash in its path, or one that is not UTF-8"
        )
        raise SnapshotError(message, hint="rename the folder, or work in a checkout elsewhere")
    return quoted(text)


# --- copies for others: without local inbox, findings, events and file times

COMPRESSION = "zstd"
"""How copies are compressed: to try each way on each column takes as long as to write it, and is
larger.
"""


def export_snapshot(
    workspace: Workspace,
    file: Path,
    parquet: Path | None = None,
    *,
    reading: Reading | None = None,
    unfiltered: bool = False,
    vectors: VectorSource | None = None,
) -> list[Path]:
    """Write what others may read as a DuckDB file, and as Parquet; return the paths."""
    loaded = None
    if vectors is not None:
        loaded = vectors(())
        if loaded is None:
            raise UsageError(
                "no model is configured that makes vectors",
                hint="set `search.model` in .orbit/config.yaml",
            )

    everything = unfiltered or not workspace.config.publish.is_set
    if loaded is not None and not everything:
        message = "a record's vector contains all its text, also what `site.publish` withholds"
        raise UsageError(message, hint="leave `--vectors` out, or add `--unfiltered`")

    reading = reading or Reading(workspace)
    rows = shared_rows(workspace, reading, unfiltered=everything, is_export=True)
    tables = {table: rows.shared.get(table, ()) for table in CONTENT}
    for table in ("vote_keys", *ROUTES):
        tables[table] = rows.local.get(table, ())
    tables[TEXTS] = rows.shared.get(TEXTS, ())
    tables[WORDS] = rows.local.get(WORDS, ())
    names = [*CONTENT, "meta"]
    paths = [file]

    with contextlib.ExitStack() as files:  # all are written before the first takes its place
        temporary = files.enter_context(replaced(file))
        if file.exists() and not _is_database(file):
            raise RefusedError(
                f"{file} exists and is not a DuckDB file",
                hint="give another name, or remove it first",
            )

        with engine() as connection, new_database(connection, temporary):
            connection.execute(f"SET force_compression = '{COMPRESSION}'")
            fill_all(connection, tables, file.parent)
            _fill_meta(connection, rows, meta_of(workspace, workspace.git.commit("HEAD")))
            if loaded is not None:
                fill_vectors(connection, loaded)
                names.append("vectors")

            if parquet is not None:
                for table in names:
                    target = parquet / f"{table}.parquet"
                    part = files.enter_context(replaced(target))
                    _write_parquet(connection, table, part, target)
                    paths.append(target)

    return paths


def shared_rows(
    workspace: Workspace,
    reading: Reading,
    *,
    unfiltered: bool,
    only_shown: bool = False,
    is_export: bool = False,
) -> Rows:
    """Return the rows of what others may read; with `only_shown` of what the site has pages for.

    Of an `is_export` it weighs the words of these records alone: nothing is seen of those of
    others. It also has what leads the files to them.
    """
    prose = reading.prose
    shared = list(reading.collection.records)
    if workspace.config.inbox == "local":
        inbox = f"{workspace.relative(workspace.inbox)}/"
        shared = [record for record in shared if not record.path.startswith(inbox)]
    if only_shown:
        shared = [record for record in shared if record.status.shown]

    records = free_of_secrets(prose.filled(shared))
    without: Callable[[str], bool] = _is_never
    if not unfiltered:
        from orbit_registry.snapshot.publication import publication_of  # no sync needs it

        publication = publication_of(workspace, reading.collection)
        records = publication.records(records)
        without = publication.leaves_out

    routes: RouteRows = {}
    if is_export:
        routes = route_rows(routes_in(workspace, reading), records, without)

    # The text of a document may hold what is withheld.
    digests = digests_of(records)
    references = references_in(workspace, records, prose if unfiltered else None)
    paths = {record.path for record in records}
    return rows_of(
        records,
        sources_of(reading, prose, paths, with_times=False),
        half_life_days=half_life_days(),
        references=references,
        cache=workspace.cache,
        digests=digests,
        kinds=workspace.kinds.fingerprint,
        routes=routes,
        words=word_rows(index_of(records, workspace.cache)) if is_export else (),
    )


def local_rows(
    workspace: Workspace,
    reading: Reading,
    prose: ProseReading,
    skills: Sequence[Skill],
    routes: Routes,
    report: FreshnessReport | None = None,
    words: Words | None = None,
) -> Rows:
    """Return the rows of this machine's snapshot, free of secrets.

    `report` is the freshness of all records, if it was just evaluated, and `words` are their words,
    if they were just counted.
    """
    collection = reading.collection
    records = reading.clean
    # Its reasons quote the records, so it is evaluated again where one has a secret.
    if report is None or not all(map(is_, records, reading.filled)):
        report = evaluate_freshness(workspace, records)

    paths = {record.path for record in records}
    inbox = ""
    if workspace.config.inbox == "local":
        inbox = workspace.relative(workspace.inbox)

    sources = sources_of(reading, prose, paths, inbox=bool(inbox))
    built = verdicts(workspace, reading)
    problems = [
        replace(problem, message=without_secrets(problem.message))
        for problem in collection.problems
    ]
    derived = partial(
        rows_of,
        half_life_days=half_life_days(),
        cache=workspace.cache,
        digests=reading.digests,
        kinds=workspace.kinds.fingerprint,
    )
    words = words or Words(workspace, reading.filled)
    by_record = words.index.by_record
    counted: dict[str, Sequence[TextWords]] = {}
    for record, filled in zip(records, reading.filled, strict=True):
        if record is filled and record.path in by_record:  # the words of secrets are others
            counted[record.path] = by_record[record.path]

    citations = citations_of(workspace, records, report.tracked)
    return derived(
        records,
        sources,
        problems,
        freshness=report.freshness,
        built=built,
        due=due_reviews(workspace, records),
        inbox=inbox,
        references=references_in(workspace, records, prose),
        citations=citations,
        routes=route_rows(routes, records, _is_never),
        skills=list(map(_without_secrets, skills)),
        words=word_rows(words.index),
        counted=counted,
    )


def _is_never(path: str) -> bool:
    """Say of no file that it is withheld."""
    return False


def _without_secrets(skill: Skill) -> Skill:
    return replace(
        skill,
        name=without_secrets(skill.name),
        description=without_secrets(skill.description),
        text=without_secrets(skill.text),
    )


def _is_database(file: Path) -> bool:
    """Say whether a file is empty or an earlier export; a device or a pipe is neither."""
    if not file.is_file():
        return False

    with file.open("rb") as content:
        head = content.read(12)

    return not head or head[8:] == b"DUCK"


def _write_parquet(
    connection: duckdb.DuckDBPyConnection, table: str, temporary: Path, target: Path
) -> None:
    try:
        connection.execute(f"COPY {table} TO {quoted(str(temporary))} (FORMAT parquet)")
    except duckdb.Error as error:
        raise SnapshotError(
            f"{target} can't be written: {str(error).splitlines()[0]}",
            hint="see that the folder is writable and the disk has room, then try again",
        ) from None
