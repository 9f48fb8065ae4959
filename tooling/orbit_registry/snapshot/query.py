"""Read-only SQL queries of the current snapshot, without access to files or network, and their
results as text.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.errors import SnapshotError, UsageError, plural
from orbit_registry.formats.untrusted import cut, inert_json
from orbit_registry.repository.reader import Reading
from orbit_registry.snapshot.export import OFFLINE, duckdb, event_lines, fill_events, fill_vectors
from orbit_registry.snapshot.sync import sync_snapshot
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors
    from orbit_registry.snapshot.export import VectorSource

Result = TypeVar("Result")
FORMATS = ("table", "json", "csv")
SECONDS = 30.0
GRACE = 1.0  # seconds beyond its limit that a question is waited for
MEMORY = "2GB"
WIDEST_CELL = 80
_CLOSED = {
    **OFFLINE,
    "enable_external_access": "false",
    "memory_limit": MEMORY,
    "temp_directory": "",
    "lock_configuration": "true",
}
_EXPLAIN = re.compile(
    r"\s*EXPLAIN\b(?:\s*ANALYZE\b|\s*\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\))?", re.IGNORECASE
)
BROKEN = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
)
TABLES_HINT = (
    "`SHOW TABLES` lists tables, `DESCRIBE records` columns; "
    "docs/reference/snapshot.md in Orbit's documentation has macros"
)


_MEANING_CALL = re.compile(r"\bmeaning\s*\((?:\s*('(?:[^']|'')*')\s*\))?", re.IGNORECASE)
_VECTORS = re.compile(r"\bvectors\b|\b(?:meaning|near)\s*\(", re.IGNORECASE)
_MEANING = """
CREATE TEMP MACRO meaning(said) AS TABLE
SELECT
    r.id, array_cosine_similarity(v.vector, a.vector)::DOUBLE AS cosine,
    r.title, r.kind, r.status, r.path
FROM temp.vectors AS v
JOIN records AS r ON r.content_hash = v.content_hash AND r.phase = 'live' AND r.searched
JOIN temp.asked_vectors AS a ON a.asked = said
ORDER BY cosine DESC, r.id
"""
REBUILD = "`orbit sync --rebuild` makes it again"


class CorruptSnapshotError(SnapshotError):
    """The file is no database that can be opened; it can be built anew."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The columns and rows of an answer, and whether it has more rows than were asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool = False

    def as_data(self) -> list[dict[str, object]]:
        """Return the rows as JSON can hold them; no two columns have one name."""
        names = _distinct(self.columns)
        return [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows]

    def render(self, form: str) -> str:
        """Return the answer as a table, JSON (a list of objects) or CSV, with a line break at its
        end.
        """
        if form == "json":
            text = json.dumps(self.as_data(), ensure_ascii=False, indent=2, allow_nan=False)
            return f"{inert_json(text)}\n"

        if form == "csv":
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self.rows:
                writer.writerow([_cell(value, "") for value in row])
            return out.getvalue()

        if form == "table":
            return _table(self.columns, self.rows)

        raise UsageError(f"there is no format {form!r}", hint=f"formats: {', '.join(FORMATS)}")


def query(
    workspace: Workspace,
    sql: str,
    form: str = "table",
    *,
    vectors: VectorSource | None = None,
    reading: Reading | None = None,
    seconds: float = SECONDS,
) -> str:
    """Return the answer to one question in a format.

    `vectors` are asked where the question is about them.
    """
    # Events are written at every call, so they don't cause a build; a query of them gets the
    # current ones.
    lines = None
    if any(name in sql.casefold() for name in ("events", "outcome_scores")):
        lines = event_lines(workspace.state)

    loaded = _load_vectors(sql, vectors)
    table = _with_current(
        workspace,
        lambda path: run_query(path, sql, seconds=seconds, events=lines, vectors=loaded),
        reading,
    )
    return table.render(form)


def query_reading(workspace: Workspace, sql: str, reading: Reading) -> QueryResult:
    """Return the whole answer to an internal question about a collection that was read already."""
    return _with_current(workspace, lambda path: run_query(path, sql), reading)


def limited_query(
    workspace: Workspace,
    sql: str,
    *,
    seconds: float,
    rows: int,
    vectors: VectorSource | None = None,
) -> QueryResult:
    """Return the answer to one question that may take so many seconds and have so many rows, as
    `query` does otherwise.
    """
    loaded = _load_vectors(sql, vectors)
    return _with_current(
        workspace, lambda path: run_query(path, sql, seconds=seconds, rows=rows, vectors=loaded)
    )


def _with_current(
    workspace: Workspace, use: Callable[[Path], Result], reading: Reading | None = None
) -> Result:
    """Use the snapshot; where the file is damaged or missing, it is built anew, once."""
    read = reading or Reading(workspace)
    try:
        return use(sync_snapshot(workspace, read).path)
    except CorruptSnapshotError:
        return use(sync_snapshot(workspace, read, rebuild=True).path)


def _load_vectors(sql: str, vectors: VectorSource | None) -> Vectors | None:
    """Return the vectors that a question may be about, None where it names none or no model is
    configured.
    """
    if vectors is None or not _VECTORS.search(sql):
        return None

    texts = _MEANING_CALL.findall(sql)
    if not all(texts):  # an argument of `meaning` is not written out as a text
        return vectors([])

    return vectors([text[1:-1].replace("''", "'") for text in dict.fromkeys(texts)])


def run_query(
    path: Path,
    sql: str,
    *,
    seconds: float = SECONDS,
    rows: int | None = None,
    events: Sequence[str] | None = None,
    vectors: Vectors | None = None,
) -> QueryResult:
    """Return the answer to one question.

    `events` are lines of the current log, `vectors` become a table.
    """

    def answer() -> QueryResult:
        with open_snapshot(path) as connection:
            try:
                if events is not None:
                    connection.execute("CREATE TEMP TABLE events AS FROM events LIMIT 0")
                    fill_events(connection, "temp.events", events)
                if vectors is not None:
                    _add_vectors(connection, vectors)
                return ask(connection, sql, seconds=seconds, rows=rows)
            except BROKEN as error:
                raise CorruptSnapshotError(
                    f"{path} is damaged: {str(error).splitlines()[0]}", hint=REBUILD
                ) from None
            except duckdb.Error as error:
                raise SnapshotError(_reason(error), hint=TABLES_HINT) from None

    return _within(seconds, answer)


def _within(seconds: float, answer: Callable[[], QueryResult]) -> QueryResult:
    """Return an answer, or raise where it takes too long.

    The database looks at its limit between steps alone, and one step can take any time: that thread
    is abandoned.
    """
    future: Future[QueryResult] = Future()

    def run() -> None:
        try:
            future.set_result(answer())
        except BaseException as error:  # noqa: BLE001 -- who waits raises it
            future.set_exception(error)

    # At its end Python waits for the threads of a pool, and for no daemon.
    threading.Thread(target=run, daemon=True).start()
    try:
        return future.result(seconds + GRACE)
    except TimeoutError:
        raise _overdue(seconds) from None


def _overdue(seconds: float) -> SnapshotError:
    return SnapshotError(
        f"the question took more than {seconds:g} s",
        hint="narrow it, add a LIMIT, or raise `--seconds`",
    )


def ask(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    *,
    seconds: float = SECONDS,
    rows: int | None = None,
    hint: str = TABLES_HINT,
) -> QueryResult:
    """Return the answer of an open database to one question.

    DuckDB's own errors of a damaged file pass.

    Raises:
        UsageError: the text has no question.
        SnapshotError: the text is not one question, DuckDB refuses it, or it takes too long.
    """
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True

    try:
        statements = connection.extract_statements(sql)
        if not statements:
            hint = "ask in SQL: `SELECT id, title FROM records`; a shell variable may be unset"
            raise UsageError("the question is empty", hint=hint)

        problem = ""
        if len(statements) != 1:
            problem = f"this is {len(statements)} statements"
        elif not _is_question(connection, statements[0]):
            problem = "this is not a question"

        if problem:
            hint = "ask one SELECT (or FROM …, DESCRIBE, SHOW TABLES); a question changes nothing"
            raise SnapshotError(problem, hint=hint)

        timer.start()
        connection.execute(statements[0])
        columns = tuple(column[0] for column in connection.description or ())
        if rows is None:
            return QueryResult(columns, tuple(connection.fetchall()))

        fetched = connection.fetchmany(rows + 1)  # one more, to see whether there are more
        return QueryResult(columns, tuple(fetched[:rows]), is_cut=len(fetched) > rows)
    except BROKEN:
        raise
    except duckdb.InterruptException:
        raise _overdue(seconds) from None
    except duckdb.Error as error:
        raise SnapshotError(_reason(error), hint=hint) from None
    finally:
        timer.cancel()


def _is_question(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> bool:
    """Return whether a statement is a SELECT, or explains one, and writes no file."""
    text = statement.query
    if statement.type == duckdb.StatementType.EXPLAIN:  # `EXPLAIN ANALYZE COPY …` writes
        text = _EXPLAIN.sub("", text, count=1)
        explained = connection.extract_statements(text)
        if not explained:
            return False
        statement = explained[0]

    if statement.type != duckdb.StatementType.SELECT:
        return False

    if "copy" in text.casefold():
        # `WITH x AS (COPY …) SELECT …` writes, and DuckDB refuses it in a subquery.
        connection.execute(f"EXPLAIN FROM (\n{text.rstrip().rstrip(';')}\n)")

    return True


def _reason(error: duckdb.Error) -> str:
    paragraphs = str(error).strip().split("\n\n")
    return " ".join(paragraphs[0].split())


def _add_vectors(connection: duckdb.DuckDBPyConnection, vectors: Vectors) -> None:
    fill_vectors(connection, vectors, "TEMP ")
    if not vectors.texts:
        return
    size = max(map(len, vectors.texts.values()))
    connection.execute(f"CREATE TEMP TABLE asked_vectors (asked VARCHAR, vector FLOAT[{size}])")
    for text, vector in vectors.texts.items():
        connection.execute("INSERT INTO asked_vectors VALUES (?, ?)", [text, list(vector)])
    connection.execute(_MEANING)


@contextlib.contextmanager
def open_snapshot(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a read-only connection that reaches neither other files nor the network, and can't be
    made to.
    """
    try:
        connection = duckdb.connect(str(path), read_only=True, config=_CLOSED)
    except duckdb.Error as error:
        raise CorruptSnapshotError(
            f"{path} can't be opened: {str(error).splitlines()[0]}", hint=REBUILD
        ) from None

    try:
        yield connection
    finally:
        connection.close()


def _distinct(names: Sequence[str]) -> list[str]:
    used: list[str] = []
    for name in names:
        candidate, number = name, 2
        while candidate in used:
            candidate, number = f"{name}_{number}", number + 1
        used.append(candidate)
    return used


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value

        return None
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}

    return _cell(value, "")


def _cell(value: object, nothing: str) -> str:
    if value is None:
        return nothing
    if isinstance(value, bool):
        if value:
            return "true"

        return "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple | dict):
        return json.dumps(_plain(value), ensure_ascii=False)

    return str(value)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows for people: long cells cut, control characters shown, so that a record can't
    steer a terminal.
    """
    lines = [list(map(_printable, columns))]
    for row in rows:
        lines.append([_printable(_cell(value, "NULL")) for value in row])

    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    numeric = [all(map(_is_number, column)) for column in zip(*rows, strict=True)]
    numeric = numeric or [False] * len(columns)  # there are no rows
    head, *body = ["  ".join(map(_padded, line, widths, numeric)).rstrip() for line in lines]

    rule = "  ".join("-" * width for width in widths)
    count = f"({plural(len(rows), 'row')})"
    return "\n".join([head, rule, *body, count]) + "\n"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _printable(text: str) -> str:
    return "".join(_visible(character) for character in cut(text, WIDEST_CELL))


def _visible(character: str) -> str:
    if character == "\n":
        return "⏎"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"\\u{ord(character):04x}"

    return character


def _width(text: str) -> int:
    visible = [character for character in text if not unicodedata.combining(character)]
    wide = [character for character in visible if unicodedata.east_asian_width(character) in "WF"]
    return len(visible) + len(wide)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    if right:
        return space + text

    return text + space
