"""Writes the new texts of many files so that the disk is waited for once; what a step means is the journal's.

All texts are written under temporary names, then made durable in one pass, then renamed one by one in the order of the
step, and at last each folder is made durable once. A file that waits for its turn is never seen under its name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from orbit_registry.store.files import TEMPORARY, mode_of, sync_file, sync_folder, write_error


class Staging:
    """The files of one step that are written and not yet renamed."""

    def __init__(self) -> None:
        self._ready: dict[Path, tuple[Path, Path]] = {}
        """File → what is renamed, and what that becomes: the file, or the folder that comes with it."""
        self._folders: dict[Path, None] = {}

    def write(self, wanted: Iterable[tuple[Path, bytes]]) -> None:
        """Write texts under temporary names and make them durable; those in a folder that comes later are left out.

        Raises:
            WriteError: the file system refused; `discard` removes what was written.
        """
        written: list[Path] = []
        coming: set[Path] = set()
        for path, content in wanted:
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
            written.append(temporary)
        for temporary in written:
            try:
                sync_file(temporary)
            except OSError as error:
                raise write_error(temporary, error) from None
        for temporary in {one.parent for one in written if one.parent.name.startswith(TEMPORARY)}:
            sync_folder(temporary)

    def rename(self, path: Path) -> bool:
        """Let a file appear under its name; False where it was not staged, or its folder came from elsewhere meanwhile.

        Raises:
            WriteError: the file system refused.
        """
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
        """Make the renames last through a crash, and remove what was staged and not wanted."""
        for folder in self._folders:
            sync_folder(folder)
        self.discard()

    def discard(self) -> None:
        """Remove what was not renamed."""
        for temporary, _ in self._ready.values():
            with contextlib.suppress(OSError):
                if temporary.is_dir():
                    shutil.rmtree(temporary)
                else:
                    temporary.unlink(missing_ok=True)
        self._ready.clear()


def sweep(paths: Iterable[Path]) -> None:
    """Remove what a killed writer of these files may have left under temporary names; no live writer has any now."""
    names: dict[Path, set[str]] = {}
    for path in paths:
        names.setdefault(path.parent, set()).add(path.name)
        names.setdefault(path.parent.parent, set()).add(path.parent.name)
    for folder, expected in names.items():
        try:
            found = [entry.name for entry in os.scandir(folder) if entry.name.startswith(TEMPORARY)]
        except OSError:
            continue
        for name in found:
            if name.removeprefix(TEMPORARY).rsplit("-", 2)[0] not in expected:
                continue
            left = folder / name
            with contextlib.suppress(OSError):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left)
                else:
                    left.unlink(missing_ok=True)


def _temporary(path: Path) -> str:
    return f"{TEMPORARY}{path.name}-{os.getpid()}-{secrets.token_hex(4)}"


def _write(temporary: Path, content: bytes, mode: int | None) -> None:
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content)
