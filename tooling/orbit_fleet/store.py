"""Folder or object store of a lake: files are written whole, listed, read and removed;
fsspec reaches them.
"""

import contextlib
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any

from orbit_registry.errors import LakeError, OrbitError, UsageError
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.files import TEMPORARY, write_atomic

_USER = re.compile(r"(?:(?<=//)|^)([^/\s]*:[^/\s]*)(?=@)")
"""User and password in an address: `s3://KEY:SECRET@bucket`, `ada:secret@host:path`."""
_BARE_USER = re.compile(r"^[^/\s@]*:[^/\s@]*@")
EXTRA = "pip install 'orbit-registry[fleet]'"


def mode_of(path: Path) -> int:
    """Return the mode of what is at a path; 0 if nothing is, or if no file can have that name."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


class Store:
    """The files of one lake, by their path from its root."""

    def __init__(self, address: str) -> None:
        try:
            import fsspec  # part of the extra
            from fsspec.implementations.local import LocalFileSystem
        except ImportError:
            raise UsageError(
                "`orbit fleet` needs fsspec, which is not installed", hint=EXTRA
            ) from None

        self.address = _BARE_USER.sub("", without_user(address))
        """The address as messages show it: without user and password."""
        self._user = [part for part in _USER.findall(address) if part]

        if not address.strip():
            raise UsageError(
                "the address of the lake is empty", hint="a shell variable may be unset"
            )

        with self.reported():
            try:
                filesystem, root = fsspec.url_to_fs(address, skip_instance_cache=True)
            except (ImportError, ValueError) as error:
                hint = (
                    "install the package that it names, or give a folder or an address such as "
                    "s3://bucket/lake"
                )
                reason = self._without_user(error)
                message = f"{self.address} can't be opened: {reason}"
                raise UsageError(message, hint=hint) from None

        self.files: Any = filesystem
        self.is_local = isinstance(filesystem, LocalFileSystem)
        self.root = os.path.realpath(root) if self.is_local else str(root).rstrip("/")

        if character := next((each for each in "*?[]{}" if each in self.root), None):
            hint = "choose another folder: DuckDB and Spark take this character for a pattern"
            raise UsageError(
                f"the address of a lake can't have {character!r}: {self.address}", hint=hint
            )

        if self.is_local and S_ISREG(mode_of(Path(self.root))):
            raise UsageError(f"{self.address} is a file", hint="give the folder of a lake")

    def _without_user(self, error: Exception) -> str:
        """Return what a library says in one line, without the user and password that it quotes."""
        text = without_user(" ".join(str(error).split()))
        for user in self._user:
            for part in (user, user.partition(":")[2]):
                text = text.replace(part, "…") if part else text

        return text

    def path(self, name: str) -> str:
        """Return what DuckDB and Spark call a file of the lake."""
        full = posixpath.join(self.root, name)
        if self.is_local:
            return full

        return str(self.files.unstrip_protocol(full))

    def names(self, folder: str) -> list[str]:
        """Return the files below a folder by name, without those that are being written."""
        with self.reported():
            self.files.invalidate_cache(posixpath.join(self.root, folder))

            try:
                paths = self.files.find(posixpath.join(self.root, folder))
            except FileNotFoundError:
                return []

            names = (path.removeprefix(f"{self.root}/") for path in paths)
            return sorted(name for name in names if f"/{TEMPORARY}" not in name)

    def has(self, name: str) -> bool:
        """Say whether there is a file of that name."""
        with self.reported():
            self.files.invalidate_cache(posixpath.join(self.root, posixpath.dirname(name)))
            return bool(self.files.isfile(posixpath.join(self.root, name)))

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None without one."""
        with self.reported():
            try:
                return bytes(self.files.cat_file(posixpath.join(self.root, name)))
            except FileNotFoundError as error:
                error.__traceback__ = None  # it has this frame, which would keep the lake open
                return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the lake; readers see the old one or the new one, whole."""
        target = posixpath.join(self.root, name)
        with self.reported():
            if self.is_local:
                write_atomic(Path(target), content)
            else:
                self.files.pipe_file(target, content)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are no error."""
        with self.reported():
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    self.files.rm_file(posixpath.join(self.root, name))

                if self.is_local:
                    with contextlib.suppress(OSError):  # the folder has other files
                        Path(self.root, name).parent.rmdir()

    def foreign_file(self) -> str | None:
        """Return the name of the first file or folder in a folder that is no lake yet."""
        with self.reported():
            self.files.invalidate_cache(self.root)

            try:
                paths = self.files.ls(self.root, detail=False)
            except FileNotFoundError as error:
                error.__traceback__ = (
                    None  # fsspec keeps the error, and with this the frames that use the lake
                )
                return None

            names = sorted(
                posixpath.basename(path.rstrip("/"))
                for path in paths
                if path.rstrip("/") != self.root
            )
            return next((name for name in names if not name.startswith(TEMPORARY)), None)

    @contextlib.contextmanager
    def reported(self) -> Iterator[None]:
        """Turn what a store, or the database that writes to it, fails with into one error."""
        try:
            yield
        except OrbitError:
            raise
        except Exception as error:  # noqa: BLE001 - each object store raises its own errors
            reason = self._without_user(error) or type(error).__name__
            hint = "is the address right, may you write there, and is there space?"
            raise LakeError(f"{self.address}: {reason}", hint=hint) from None
