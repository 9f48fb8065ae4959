"""Journal of changes to several files: all are made or none, even if the process is killed.

An entry has each file's text before and after. The next writer finishes a step that was started, or, where one of its
files was edited since, undoes the rest. All texts are first written under temporary names and flushed in one pass,
then renamed in order.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import OrbitError, WriteError
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    TEMPORARY,
    inside,
    mode_of,
    read_bytes,
    sync_file,
    sync_folder,
    write_atomic,
    write_error,
)
from orbit_registry.workspace.workspace import Workspace


class Staging:
    """The files of one step under temporary names."""

    def __init__(self) -> None:
        self._ready: dict[Path, tuple[Path, Path]] = {}
        """File → its temporary path and the target of the rename: the file, or its new folder."""
        self._folders: dict[Path, None] = {}

    def write(self, files: Iterable[tuple[Path, bytes]]) -> None:
        """Write texts under temporary names and flush them; further files of a new folder are left out."""
        temporaries: list[Path] = []
        coming: set[Path] = set()
        for path, content in files:
            if path in self._ready or coming.intersection(path.parents):
                continue
            try:
                if path.parent.is_dir():
                    temporary = path.with_name(_temporary(path))
                    self._ready[path] = (temporary, path)
                else:
                    path.parent.parent.mkdir(parents=True, exist_ok=True)
                    folder = path.parent.with_name(_temporary(path.parent))
                    self._ready[path] = (folder, path.parent)
                    coming.add(path.parent)
                    folder.mkdir()
                    temporary = folder / path.name
                _write(temporary, content, mode_of(path))
            except OSError as error:
                raise write_error(path, error) from None
            temporaries.append(temporary)
        for temporary in temporaries:
            try:
                sync_file(temporary)
            except OSError as error:
                raise write_error(temporary, error) from None
        for temporary in {file.parent for file in temporaries if file.parent.name.startswith(TEMPORARY)}:
            sync_folder(temporary)

    def rename(self, path: Path) -> bool:
        """Rename a staged file to its target; False where it was not staged or its folder exists by now."""
        staged = self._ready.get(path)
        if staged is None:
            return False
        temporary, target = staged
        if target != path and target.exists():
            return False
        try:
            temporary.replace(target)
        except OSError as error:
            raise write_error(path, error) from None
        del self._ready[path]
        self._folders[target.parent] = None
        return True

    def finish(self) -> None:
        """Flush the renames, and remove what was not renamed."""
        for folder in self._folders:
            sync_folder(folder)
        self.discard()

    def discard(self) -> None:
        """Remove what was not renamed."""
        for temporary, _ in self._ready.values():
            with contextlib.suppress(OSError):
                if temporary.is_dir():
                    _remove(temporary)
                else:
                    temporary.unlink(missing_ok=True)
        self._ready.clear()


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove temporary files that a killed writer of these files left; the caller holds the write lock."""
    names: dict[Path, set[str]] = {}
    for path in paths:
        names.setdefault(path.parent, set()).add(path.name)
        names.setdefault(path.parent.parent, set()).add(path.parent.name)
    for folder, expected in names.items():
        try:
            entries = [entry.name for entry in os.scandir(folder) if entry.name.startswith(TEMPORARY)]
        except OSError:
            continue
        for name in entries:
            if name.removeprefix(TEMPORARY).rsplit("-", 2)[0] not in expected:
                continue
            leftover = folder / name
            with contextlib.suppress(OSError):
                if leftover.is_dir() and not leftover.is_symlink():
                    _remove(leftover)
                else:
                    leftover.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    import shutil  # rarely needed and slow to import

    shutil.rmtree(folder)


def _temporary(path: Path) -> str:
    return f"{TEMPORARY}{path.name}-{os.getpid()}-{os.urandom(4).hex()}"


def _write(temporary: Path, content: bytes, mode: int | None) -> None:
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content)


_LIMIT = 20 * DOCUMENT_LIMIT
WRITTEN_ROOTS: set[Path] = set()
"""Roots in which this process wrote records and whose push index is not synced yet."""
_NOTE = ".path"
_PATH_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one file: path from the root, text before and after; None means no file."""

    path: str
    before: str | None
    after: str | None


def unified_diff(changes: Iterable[FileChange]) -> str:
    """Return file changes as one diff."""
    from orbit_registry.formats import diff  # only a preview needs it

    return "".join(diff.unified_diff(change.path, change.before or "", change.after or "") for change in changes)


def apply_step(workspace: Workspace, name: str, changes: Sequence[FileChange]) -> None:
    """Make all changes in order as one step; the caller holds the write lock."""
    effective = [change for change in changes if change.before != change.after]
    for change in effective:
        _refuse_changed(inside(workspace.root, change.path), change)
    if not effective:
        return
    if len(effective) == 1 and effective[0].after is not None:
        with _leave_note(workspace, effective[0].path):
            _apply(workspace.root, effective)
        WRITTEN_ROOTS.add(workspace.root)
        return
    entry = workspace.journal / f"{name}-{os.urandom(6).hex()}.json"
    rows = [{"path": change.path, "before": change.before, "after": change.after} for change in effective]
    write_atomic(entry, json.dumps({"step": name, "changes": rows}))
    try:
        _apply(workspace.root, effective)
    except OrbitError:
        entry.unlink(missing_ok=True)
        raise
    WRITTEN_ROOTS.add(workspace.root)
    entry.unlink(missing_ok=True)


def _apply(root: Path, changes: Sequence[FileChange]) -> None:
    """Make all changes, or put back those already made, unless somebody edited the file meanwhile."""
    staging, applied = Staging(), list[FileChange]()
    try:
        after = ((root / change.path, change.after) for change in changes)
        staging.write((path, _bytes(text)) for path, text in after if text is not None)
        for change in changes:
            _refuse_changed(root / change.path, change)  # somebody may have saved it during the flush
            applied.append(change)
            if change.after is None or not staging.rename(root / change.path):
                _set_text(root, change.path, change.after)
        staging.finish()
    except OrbitError:
        staging.discard()
        for change in applied:
            with contextlib.suppress(OrbitError):
                if _text_of(root / change.path) == change.after:
                    _set_text(root, change.path, change.before)
        raise


def _refuse_changed(path: Path, change: FileChange) -> None:
    if _text_of(path) != change.before:
        message = f"{change.path} was changed by someone else meanwhile; nothing was written"
        raise WriteError(message, hint="try again")


@contextlib.contextmanager
def _leave_note(workspace: Workspace, path: str) -> Iterator[None]:
    """Note the single file being written, so that a temporary file of a killed writer is found."""
    note = workspace.journal / f"{TEMPORARY}{os.urandom(6).hex()}{_NOTE}"
    with contextlib.suppress(OSError):  # the write itself reports an unwritable folder
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(path, "utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink(missing_ok=True)


def unfinished_steps(workspace: Workspace) -> list[Path]:
    """Return the journal entries of unfinished steps, sorted."""
    try:
        return sorted(path for path in workspace.journal.iterdir() if path.suffix == ".json")
    except OSError:
        return []


def has_unfinished_steps(workspace: Workspace) -> bool:
    """Say whether `recover` has anything to do."""
    try:
        return any(path.suffix != ".unreadable" for path in workspace.journal.iterdir())
    except OSError:
        return False


def recover(workspace: Workspace) -> list[str]:
    """Finish or undo unfinished steps and return what was done, in words; the caller holds the write lock."""
    done = []
    for leftover in workspace.journal.glob(f"{TEMPORARY}*"):
        if leftover.suffix == _NOTE:
            with contextlib.suppress(OrbitError, ValueError):
                remove_leftovers([inside(workspace.root, read_bytes(leftover, limit=_PATH_LIMIT).decode())])
        leftover.unlink(missing_ok=True)
    for entry in unfinished_steps(workspace):
        try:
            step = json.loads(read_bytes(entry, limit=_LIMIT))
            changes = [_change_in(row) for row in step["changes"]]
            paths = [inside(workspace.root, change.path) for change in changes]
            remove_leftovers(paths)
            states = [_text_of(path) for path in paths]
        except (OrbitError, ValueError, KeyError, TypeError):
            entry.rename(entry.with_suffix(".unreadable"))
            done.append(f"set aside the unreadable journal {entry.name}")
            continue
        if all(state in (change.before, change.after) for state, change in zip(states, changes, strict=True)):
            for change in changes:
                _set_text(workspace.root, change.path, change.after)
            done.append(f"finished {step['step']}")
        else:
            for state, change in zip(states, changes, strict=True):
                if state == change.after:
                    _set_text(workspace.root, change.path, change.before)
            done.append(f"undid {step['step']}, because one of its files was edited since")
        entry.unlink(missing_ok=True)
    return done


def _change_in(row: Mapping[str, object]) -> FileChange:
    path, before, after = row["path"], row["before"], row["after"]
    if not isinstance(path, str) or not isinstance(before, str | None) or not isinstance(after, str | None):
        raise TypeError("a change is a path and two texts")
    return FileChange(path, before, after)


def _text_of(path: Path) -> str | None:
    if not path.exists():
        return None
    return read_bytes(path, limit=_LIMIT).decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _set_text(root: Path, relative: str, text: str | None) -> None:
    """Give a file a text, or remove it with the folders that become empty."""
    path = inside(root, relative)
    if text is not None:
        if _text_of(path) != text:
            _write_in_new_folder(path, text) if not path.parent.exists() else write_atomic(path, _bytes(text))
        return
    try:
        path.unlink(missing_ok=True)
        parent = path.parent
        # A killed writer may have removed the file and not its folder.
        while parent != root and parent.exists() and _is_empty(parent):
            parent.rmdir()
            parent = parent.parent
    except OSError as error:
        raise write_error(path, error) from None


def _is_empty(folder: Path) -> bool:
    """Say whether a folder is empty, without listing all of it."""
    with os.scandir(folder) as entries:
        return next(entries, None) is None


def _write_in_new_folder(path: Path, text: str) -> None:
    """Write the first file of a folder so that no reader sees the folder empty."""
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    temporary = path.parent.with_name(_temporary(path.parent))
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
