"""Adds globs to the scopes of records as one step; which globs, its caller knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from orbit_registry.records.record import Record
from orbit_registry.store.authority import write_step
from orbit_registry.store.journal import Change
from orbit_registry.store.workspace import Workspace
from orbit_registry.store.writer import edited, writing


def planned(workspace: Workspace, wanted: Sequence[tuple[Record, Sequence[str]]]) -> list[Change]:
    """Return the changes that `add_globs` would write."""
    changes = (edited(workspace, record, partial(_with, tuple(globs)))[0] for record, globs in wanted if globs)
    return [change for change in changes if change.before != change.after]


def add_globs(workspace: Workspace, wanted: Sequence[tuple[Record, Sequence[str]]]) -> list[Change]:
    """Add globs to the records' scopes, all or none, and return what was written.

    Raises:
        RefusedError: an agent would change a record that holds; nothing was written.
        InvalidRecordError: a record would be invalid; nothing was written.
    """
    with writing(workspace):
        changes = planned(workspace, wanted)
        write_step(workspace, "scope-suggest", changes)
        return changes


def _with(globs: tuple[str, ...], data: dict[str, object]) -> Mapping[str, object]:
    scope = data.get("scope")
    held = scope if isinstance(scope, Mapping) else {}
    paths = held.get("paths")
    return {**data, "scope": {**held, "paths": [*dict.fromkeys((*(paths if isinstance(paths, list) else ()), *globs))]}}
