"""Queries and copies of the snapshot, brought up to date first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.errors import SnapshotError, UsageError
from orbit_registry.repository.reader import Reading
from orbit_registry.snapshot.sync import sync_snapshot
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors
    from orbit_registry.snapshot.query import QueryResult

    VectorSource = Callable[[Sequence[str]], Vectors | None]
Result = TypeVar("Result")
GRACE = 1.0
"""Seconds beyond its limit that a question is waited for."""


def query(
    workspace: Workspace,
    sql: str,
    form: str = "table",
    *,
    vectors: VectorSource | None = None,
) -> str:
    """Return the answer to one question, as a table, JSON or CSV; the snapshot is brought up to date first.

    `vectors` are asked where the question is about vectors.

    Raises:
        ConfigError: vectors are asked for, and the configured model can't be used.
        UsageError: there is no such format.
    """
    from orbit_registry.snapshot.build import event_lines
    from orbit_registry.snapshot.query import run_query

    # Events are written at every call, so they don't cause a build; a query of them gets the current ones.
    asks = any(name in sql.casefold() for name in ("events", "outcome_scores"))
    lines = event_lines(workspace.state) if asks else None
    loaded = _load_vectors(sql, vectors)
    return _with_current(workspace, lambda path: run_query(path, sql, events=lines, vectors=loaded)).render(form)


def _load_vectors(sql: str, vectors: VectorSource | None) -> Vectors | None:
    """Return the vectors that a question may be about; None where it names none, or no model is configured."""
    from orbit_registry.snapshot.query import meaning_texts, names_vectors

    return vectors(meaning_texts(sql)) if vectors is not None and names_vectors(sql) else None


def query_reading(workspace: Workspace, sql: str, reading: Reading) -> QueryResult:
    """Return the whole answer to an internal question about a collection that was read already."""
    from orbit_registry.snapshot.query import run_query

    return _with_current(workspace, lambda path: run_query(path, sql), reading)


def limited_query(
    workspace: Workspace, sql: str, *, seconds: float, rows: int, vectors: VectorSource | None = None
) -> QueryResult:
    """Return the answer to one question that may take so many seconds and have so many rows; the rest as in `query`."""
    from concurrent.futures import ThreadPoolExecutor

    from orbit_registry.snapshot.query import run_query

    loaded = _load_vectors(sql, vectors)

    def asked(path: Path) -> QueryResult:
        # The database looks up between steps alone, and one step can take any time; the caller does not wait for it.
        thread = ThreadPoolExecutor(1)
        try:
            done = thread.submit(run_query, path, sql, seconds=seconds, rows=rows, vectors=loaded)
            return done.result(seconds + GRACE)
        except TimeoutError:
            raise SnapshotError(f"the question took more than {seconds:g} s", hint="narrow it") from None
        finally:
            thread.shutdown(wait=False)

    return _with_current(workspace, asked)


def export_snapshot(
    workspace: Workspace,
    file: Path,
    parquet: Path | None = None,
    *,
    reading: Reading | None = None,
    unfiltered: bool = False,
    vectors: VectorSource | None = None,
) -> list[Path]:
    """Write a copy of the snapshot without local state, and where asked a Parquet file a table; returns the paths.

    It holds what `site.publish` admits, or all that is shared where `unfiltered` is given. `reading` is what the caller
    has read already. `vectors` makes those that the copy is to hold.

    Raises:
        UsageError: vectors are wanted, and there is no model, or a filter that they would tell past.
    """
    from orbit_registry.snapshot.export import export, shared_rows

    loaded = vectors(()) if vectors is not None else None
    if vectors is not None and loaded is None:
        raise UsageError("no model is configured that makes vectors", hint="set `search.model` in .orbit/config.yaml")
    everything = unfiltered or not workspace.config.publish.is_set
    if loaded is not None and not everything:
        message = "a record's vector tells of all its text, also of what `site.publish` withholds"
        raise UsageError(message, hint="leave `--vectors` out, or add `--unfiltered`")
    rows = shared_rows(workspace, reading or Reading(workspace), unfiltered=everything)
    return export(workspace, rows, file, parquet, loaded)


def _with_current(workspace: Workspace, use: Callable[[Path], Result], reading: Reading | None = None) -> Result:
    """Use the snapshot; where the file turns out to be damaged, or to be gone, it is built anew, once."""
    from orbit_registry.snapshot.query import CorruptSnapshotError

    read = reading or Reading(workspace)
    try:
        return use(sync_snapshot(workspace, read).path)
    except CorruptSnapshotError:
        return use(sync_snapshot(workspace, read, rebuild=True).path)
