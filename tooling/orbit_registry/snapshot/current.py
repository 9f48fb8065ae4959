"""The snapshot of a workspace as others use it: brought up to date, then asked or copied; it holds no SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.errors import SnapshotError, UsageError
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.freshness import Freshness
from orbit_registry.snapshot.sync import SyncResult, last_built, next_rows, sync_snapshot
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import BROKEN as BROKEN_VOTE
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Vectors
    from orbit_registry.snapshot.query import Answer

    Meant = Callable[[Sequence[str]], Vectors | None]
Result = TypeVar("Result")
Diagnostics = Callable[[], Iterable[Diagnostic]]
GRACE = 1.0
"""Seconds beyond its limit that a question is waited for."""


def query(
    workspace: Workspace,
    sql: str,
    form: str = "table",
    *,
    vectors: Meant | None = None,
    diagnostics: Diagnostics = tuple,
) -> str:
    """Return the answer to one question, as a table, JSON or CSV; the snapshot is brought up to date first.

    `vectors` are asked where the question is about vectors.

    Raises:
        ConfigError: vectors are asked for, and the configured model can't be used.
        SnapshotError: the text is not one question, or the database refuses it; the hint lists the tables.
        UsageError: there is no such format.
    """
    from orbit_registry.snapshot.events import event_lines
    from orbit_registry.snapshot.query import ask

    # What is written at every call is no reason to build anew; whoever asks for it gets what there is now.
    asks = any(name in sql.casefold() for name in ("events", "outcome_scores"))
    lines = event_lines(workspace.state) if asks else None
    meant = _meant(sql, vectors)
    return _with_current(workspace, lambda path: ask(path, sql, events=lines, vectors=meant), diagnostics).render(form)


def _meant(sql: str, vectors: Meant | None) -> Vectors | None:
    """Return the vectors that a question may be about; None where it names none, or no model is configured."""
    from orbit_registry.snapshot.query import names_vectors, texts_meant

    return vectors(texts_meant(sql)) if vectors is not None and names_vectors(sql) else None


def answer_all(workspace: Workspace, sql: str, reading: Reading) -> Answer:
    """Return the whole answer to a question of our own, for which the files were read already."""
    from orbit_registry.snapshot.query import ask

    return _with_current(workspace, lambda path: ask(path, sql), reading=reading)


def answer(workspace: Workspace, sql: str, *, seconds: float, rows: int, vectors: Meant | None = None) -> Answer:
    """Return the answer to one question that may take so many seconds and have so many rows; the rest as in `query`.

    Raises:
        SnapshotError: as `query`, or it took longer.
    """
    from concurrent.futures import ThreadPoolExecutor

    from orbit_registry.snapshot.query import ask

    meant = _meant(sql, vectors)

    def asked(path: Path) -> Answer:
        # The database looks up between steps alone, and one step may take as long as it likes; nobody waits for that.
        thread = ThreadPoolExecutor(1)
        try:
            done = thread.submit(ask, path, sql, seconds=seconds, rows=rows, vectors=meant)
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
    freshness: Mapping[str, Freshness] | None = None,
    unfiltered: bool = False,
    earlier: tuple[Path, Sequence[str]] | None = None,
    is_first: bool = False,
    vectors: Meant | None = None,
) -> list[Path]:
    """Write a copy of the snapshot without local state, and where asked a Parquet file a table; returns the paths.

    It holds what `site.publish` admits, or all that is shared where `unfiltered` is given. `reading` and `freshness`
    are what the caller has read and derived of all records already. `earlier` is such a copy that the same code and
    settings made, with the paths of the records that are all that says something else since. `is_first` says that there
    never was one: then no snapshot is made to go on from either. `vectors` makes those that the copy is to hold.

    Raises:
        UsageError: vectors are wanted, and there is no model, or a filter that they would tell past.
        SnapshotError: the database refused.
        WriteError: the disk refused; what was there stands.
    """
    from orbit_registry.snapshot.export import export, export_again, export_first, export_published

    meant = vectors(()) if vectors is not None else None
    if vectors is not None and meant is None:
        raise UsageError("no model is configured that makes vectors", hint="set `search.model` in .orbit/config.yaml")
    if workspace.config.publish.stated and not unfiltered:
        if meant is not None:
            said = "a record's vector tells of all its text, also of what `site.publish` withholds"
            raise UsageError(said, hint="leave `--vectors` out, or add `--unfiltered`")
        return export_published(workspace, reading or Reading(workspace), file, parquet, freshness)
    read = reading or Reading(workspace)
    # A vote dated ahead counts from a day on, whatever says something else since.
    if earlier is not None and parquet is None and not any(one.code == BROKEN_VOTE for one in read.collection.problems):
        with contextlib.suppress(SnapshotError):
            return export_again(workspace, read, *earlier, file)
    if is_first and last_built(workspace) is None:
        return export_first(workspace, read, file, freshness)
    planned = next_rows(workspace, read, freshness)
    if planned is not None and planned.base is not None:
        # To bring the one at hand up to date first would write everything twice; where it is damaged, that is done.
        with contextlib.suppress(SnapshotError):
            return export(planned.base.file, file, parquet, lambda _: planned, vectors=meant)
    return _with_current(
        workspace, lambda path: export(path, file, parquet, vectors=meant), reading=read, freshness=freshness
    )


def _with_current(
    workspace: Workspace,
    use: Callable[[Path], Result],
    diagnostics: Diagnostics = tuple,
    *,
    reading: Reading | None = None,
    freshness: Mapping[str, Freshness] | None = None,
) -> Result:
    """Use the snapshot; where the file turns out to be damaged, or to be gone, it is built anew, once."""
    from orbit_registry.snapshot.query import CorruptSnapshotError

    read = reading or Reading(workspace)

    def synced(*, rebuild: bool) -> SyncResult:
        return sync_snapshot(workspace, read, diagnostics=diagnostics, rebuild=rebuild, freshness=freshness)

    try:
        return use(synced(rebuild=False).path)
    except CorruptSnapshotError:
        return use(synced(rebuild=True).path)
