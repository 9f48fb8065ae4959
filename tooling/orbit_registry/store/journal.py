"""Owns changes of several files as one step: all of them or none, also when the process is killed in between.

The journal holds each file's text before and after. Whoever holds the write lock next finishes a step that was begun,
or, where somebody edited one of its files since, undoes what nobody edited.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import OrbitError, WriteError
from orbit_registry.store.files import (
    DOCUMENT_LIMIT,
    TEMPORARY,
    inside,
    read_bytes,
    sync_folder,
    write_atomic,
    write_error,
)
from orbit_registry.store.staging import Staging, sweep
from orbit_registry.store.workspace import Workspace

_LIMIT = 20 * DOCUMENT_LIMIT


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a step: its path from the root, its text before and after; None means it is not there."""

    path: str
    before: str | None
    after: str | None


def apply_step(workspace: Workspace, name: str, changes: Sequence[Change]) -> None:
    """Make all changes, in order, as one step; the caller holds the write lock.

    Raises:
        UnsafePathError: a path leaves the root; nothing was changed.
        WriteError: the disk refused; what was changed is put back.
    """
    wanted = [change for change in changes if change.before != change.after]
    for change in wanted:
        path = inside(workspace.root, change.path)
        if _current(path) != change.before:
            raise WriteError(
                f"{change.path} was changed by someone else meanwhile; nothing was written", hint="try again"
            )
    if not wanted:
        return
    if len(wanted) == 1 and wanted[0].after is not None:
        _put(workspace.root, wanted[0].path, wanted[0].after)
        return
    entry = workspace.journal / f"{name}-{secrets.token_hex(6)}.json"
    rows = [{"path": change.path, "before": change.before, "after": change.after} for change in wanted]
    write_atomic(entry, json.dumps({"step": name, "changes": rows}))
    staging = Staging()
    try:
        after = ((workspace.root / change.path, change.after) for change in wanted)
        staging.write((path, _bytes(text)) for path, text in after if text is not None)
        for change in wanted:
            if change.after is None or not staging.rename(workspace.root / change.path):
                _put(workspace.root, change.path, change.after)
        staging.finish()
    except OrbitError:
        staging.discard()
        for change in wanted:
            with contextlib.suppress(OrbitError):
                _put(workspace.root, change.path, change.before)
        entry.unlink(missing_ok=True)
        raise
    entry.unlink(missing_ok=True)


def pending(workspace: Workspace) -> list[Path]:
    """Return the steps that were begun and not ended, oldest name first."""
    try:
        return sorted(path for path in workspace.journal.iterdir() if path.suffix == ".json")
    except OSError:
        return []


def begun(workspace: Workspace) -> bool:
    """Say whether there is anything for `recover` to do."""
    try:
        return any(path.suffix != ".unreadable" for path in workspace.journal.iterdir())
    except OSError:
        return False


def recover(workspace: Workspace) -> list[str]:
    """Finish or undo every step that was begun; the caller holds the write lock. Returns what was done, in words."""
    done = []
    for left in workspace.journal.glob(f"{TEMPORARY}*"):
        left.unlink(missing_ok=True)
    for entry in pending(workspace):
        try:
            step = json.loads(read_bytes(entry, limit=_LIMIT))
            changes = [_change_in(row) for row in step["changes"]]
            paths = [inside(workspace.root, change.path) for change in changes]
            sweep(paths)
            states = [_current(path) for path in paths]
        except (OrbitError, ValueError, KeyError, TypeError):
            entry.rename(entry.with_suffix(".unreadable"))
            done.append(f"set aside the unreadable journal {entry.name}")
            continue
        if all(state in (change.before, change.after) for state, change in zip(states, changes, strict=True)):
            for change in changes:
                _put(workspace.root, change.path, change.after)
            done.append(f"finished {step['step']}")
        else:
            for state, change in zip(states, changes, strict=True):
                if state == change.after:
                    _put(workspace.root, change.path, change.before)
            done.append(f"undid {step['step']}, because one of its files was edited since")
        entry.unlink(missing_ok=True)
    return done


def _change_in(row: Mapping[str, object]) -> Change:
    path, before, after = row["path"], row["before"], row["after"]
    if not isinstance(path, str) or not isinstance(before, str | None) or not isinstance(after, str | None):
        raise TypeError("a change is a path and two texts")
    return Change(path, before, after)


def _current(path: Path) -> str | None:
    if not path.exists():
        return None
    return read_bytes(path, limit=_LIMIT).decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _put(root: Path, relative: str, text: str | None) -> None:
    """Make a file hold a text, or be gone with the folders it leaves empty; nothing happens where it is so already."""
    path = inside(root, relative)
    if text is not None:
        if _current(path) != text:
            _write_in_new_folder(path, text) if not path.parent.exists() else write_atomic(path, _bytes(text))
        return
    try:
        path.unlink(missing_ok=True)
        parent = path.parent
        # The file may be gone and its folder not: its writer was killed between the two.
        while parent != root and parent.exists() and _is_empty(parent):
            parent.rmdir()
            parent = parent.parent
    except OSError as error:
        raise write_error(path, error) from None


def _is_empty(folder: Path) -> bool:
    """Say whether a folder holds nothing; a large one is not read to its end for that."""
    with os.scandir(folder) as found:
        return next(found, None) is None


def _write_in_new_folder(path: Path, text: str) -> None:
    """Write the first file of a folder so that the folder appears with the file in it: no reader sees it empty."""
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    temporary = path.parent.with_name(f".tmp-{path.parent.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        write_atomic(temporary / path.name, _bytes(text))
        temporary.rename(path.parent)
        sync_folder(path.parent.parent)
    except (OSError, OrbitError) as error:
        with contextlib.suppress(OSError):
            (temporary / path.name).unlink(missing_ok=True)
            temporary.rmdir()
        if isinstance(error, OrbitError):
            raise
        raise write_error(path, error) from None
