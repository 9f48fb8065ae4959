"""Journal of changes to several files: all are made or none, even if the process is killed.

An entry has each file's text before and after. The next writer finishes a step that was started,
or, where one of its files was edited since, undoes the rest. All texts are first written under
temporary names and flushed in one pass, then renamed in order.
"""

import contextlib
import glob
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import OrbitError, WriteError, listed
from orbit_registry.workspace import files as disk
from orbit_registry.workspace.workspace import Workspace

_LISTED = 5  # files of a step that a message names
_LIMIT = 20 * disk.DOCUMENT_LIMIT
WRITTEN_ROOTS: set[Path] = set()
"""Roots in which this process wrote records and whose push index is not synced yet."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one file: path from the root, text before and after; None means no file."""

    path: str
    before: str | None
    after: str | None


def unified_diff(changes: Iterable[FileChange]) -> str:
    """Return file changes as one diff."""
    from orbit_registry.formats import diff  # only a preview needs it

    return "".join(
        diff.unified_diff(change.path, change.before or "", change.after or "")
        for change in changes
    )


def apply_step(workspace: Workspace, name: str, changes: Sequence[FileChange]) -> None:
    """Make all changes in order as one step; the caller holds the write lock."""
    effective = [change for change in changes if change.before != change.after]
    for change in effective:
        _refuse_changed(disk.inside(workspace.root, change.path), change)

    if not effective:
        return

    entry = workspace.journal / f"{name}-{os.urandom(6).hex()}.json"
    rows = [
        {"path": change.path, "before": change.before, "after": change.after}
        for change in effective
    ]
    text = json.dumps({"step": name, "changes": rows})
    if len(text) > _LIMIT:  # `recover` could not read it back
        message = f"the step {name} has {len(text):,} bytes; at most {_LIMIT:,} are written at once"
        raise WriteError(f"{message}; nothing was changed", hint="change fewer files at once")

    try:
        disk.write_atomic(entry, text)
    except OrbitError:
        # One rename needs no journal, which an agent's sandbox may not let it write.
        if len(effective) > 1:
            raise

    staged: dict[str, Path] = {}
    applied: list[FileChange] = []
    try:
        _apply(workspace.root, effective, staged, applied)
    except BaseException:  # an interrupt too
        if _roll_back(workspace.root, staged, applied):
            _forget(entry)
        raise

    WRITTEN_ROOTS.add(workspace.root)
    _forget(entry)


def _forget(entry: Path) -> None:
    with contextlib.suppress(OSError):  # a read-only folder has none
        entry.unlink(missing_ok=True)


def _apply(
    root: Path, changes: Sequence[FileChange], staged: dict[str, Path], applied: list[FileChange]
) -> None:
    for change in changes:
        if change.after is not None:
            staged[change.path] = disk.stage(root / change.path, _bytes(change.after))

    for name, temporary in staged.items():
        disk.sync_file(temporary, root / name)

    for change in changes:
        path = root / change.path
        _refuse_changed(path, change)  # another process may have saved it during the flush
        applied.append(change)

        if change.after is None:
            _remove(root, path)
        else:
            disk.replace_file(path, staged[change.path])
            del staged[change.path]

    for folder in {(root / change.path).parent for change in changes if change.after is not None}:
        disk.sync_folder(folder)


def _roll_back(root: Path, staged: Mapping[str, Path], applied: Iterable[FileChange]) -> bool:
    """Put back the files that were changed, unless someone edited them meanwhile;
    return whether all are back.
    """
    is_complete = True
    for change in applied:
        try:
            if _text_of(root / change.path) == change.after:
                _set_text(root, change.path, change.before)
        except OrbitError:
            is_complete = False

    for temporary in staged.values():
        with contextlib.suppress(OrbitError):
            _remove(root, temporary)

    return is_complete


def _refuse_changed(path: Path, change: FileChange) -> None:
    if _text_of(path) != change.before:
        message = f"{change.path} was changed by someone else meanwhile; nothing was written"
        raise WriteError(message, hint="try again")


def unfinished_steps(workspace: Workspace) -> list[Path]:
    """Return the journal entries of unfinished steps, sorted."""
    try:
        return sorted(path for path in workspace.journal.iterdir() if path.suffix == ".json")
    except OSError:
        return []


def recover(workspace: Workspace) -> list[str]:
    """Finish or undo unfinished steps and return what was done, in words;
    the caller holds the write lock.
    """
    done = []

    for leftover in workspace.journal.glob(f"{disk.TEMPORARY}*"):
        _forget(leftover)

    for entry in unfinished_steps(workspace):
        try:
            step = json.loads(disk.read_bytes(entry, limit=_LIMIT))
            name = str(step["step"])
            changes = [_change_in(row) for row in step["changes"]]
            paths = [disk.inside(workspace.root, change.path) for change in changes]

            for path in paths:
                with contextlib.suppress(FileNotFoundError):
                    path.lstat()  # fails if a file is where a folder is needed
                for leftover in path.parent.glob(f"{disk.TEMPORARY}{glob.escape(path.name)}-*"):
                    leftover.unlink()

            states = [_text_of(path) for path in paths]
        except (OrbitError, OSError, ValueError, KeyError, TypeError):
            with contextlib.suppress(OSError):
                entry.rename(entry.with_suffix(".unreadable"))
            done.append(f"set aside the unreadable journal {entry.name}")
            continue

        names = listed([change.path for change in changes], _LISTED)
        pairs = list(zip(states, changes, strict=True))
        if all(state in (change.before, change.after) for state, change in pairs):
            for change in changes:
                _set_text(workspace.root, change.path, change.after)
            done.append(f"finished {name} ({names})")
        elif all(state != change.before for state, change in pairs):
            # It was ended before its entry was removed, and edited since.
            done.append(f"found {name} finished")
        else:
            for state, change in pairs:
                if state in (change.before, change.after):
                    _set_text(workspace.root, change.path, change.before)
            done.append(f"undid {name}, because a file was edited since ({names})")

        _forget(entry)

    return done


def _change_in(row: Mapping[str, object]) -> FileChange:
    path = row["path"]
    before = row["before"]
    after = row["after"]
    if (
        not isinstance(path, str)
        or not isinstance(before, str | None)
        or not isinstance(after, str | None)
    ):
        raise TypeError("a change is a path and two texts")
    return FileChange(path, before, after)


def _text_of(path: Path) -> str | None:
    if not path.exists():
        return None
    return disk.read_bytes(path, limit=_LIMIT).decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _set_text(root: Path, relative: str, text: str | None) -> None:
    path = disk.inside(root, relative)
    if text is None:
        _remove(root, path)
    elif _text_of(path) != text:
        disk.write_atomic(path, _bytes(text))


def _remove(root: Path, path: Path) -> None:
    """Remove a file and the folders that become empty;
    a killed writer may have left such a folder.
    """
    try:
        path.unlink(missing_ok=True)
        parent = path.parent
        while parent != root and parent.exists() and not any(parent.iterdir()):
            parent.rmdir()
            parent = parent.parent
    except OSError as error:
        raise disk.write_error(path, error) from None
