"""The snapshot of a workspace as others use it: brought up to date, then asked or copied; it holds no SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.snapshot.policy import NO_SECRETS, Policy
from orbit_registry.snapshot.sync import sync
from orbit_registry.store.workspace import Workspace

Result = TypeVar("Result")
Diagnostics = Callable[[], Iterable[Diagnostic]]


def query(
    workspace: Workspace,
    sql: str,
    form: str = "table",
    *,
    diagnostics: Diagnostics = tuple,
    policy: Policy = NO_SECRETS,
) -> str:
    """Return the answer to one question, as a table, JSON or CSV; the snapshot is brought up to date first.

    Raises:
        SnapshotError: the text is not one question, or the database refuses it; the hint lists the tables.
        UsageError: there is no such format.
    """
    from orbit_registry.snapshot.query import ask

    return _with_current(workspace, lambda path: ask(path, sql), diagnostics, policy).render(form)


def export_snapshot(
    workspace: Workspace,
    file: Path,
    parquet: Path | None = None,
    *,
    diagnostics: Diagnostics = tuple,
    policy: Policy = NO_SECRETS,
) -> list[Path]:
    """Write a copy of the snapshot without local state, and where asked a Parquet file a table; returns the paths.

    Raises:
        SnapshotError: the database refused.
        WriteError: the disk refused; what was there stands.
    """
    from orbit_registry.snapshot.export import export

    return _with_current(workspace, lambda path: export(path, file, parquet), diagnostics, policy)


def _with_current(
    workspace: Workspace, use: Callable[[Path], Result], diagnostics: Diagnostics, policy: Policy
) -> Result:
    """Use the snapshot; where the file turns out to be damaged, or to be gone, it is built anew, once."""
    from orbit_registry.snapshot.query import CorruptSnapshotError

    path = sync(workspace, diagnostics=diagnostics, policy=policy).path
    try:
        return use(path)
    except CorruptSnapshotError:
        return use(sync(workspace, diagnostics=diagnostics, policy=policy, rebuild=True).path)
