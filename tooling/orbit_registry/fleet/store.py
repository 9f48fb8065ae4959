"""Folder or object store of a lake: files are written once, listed, read and removed;
fsspec reaches them.
"""

import contextlib
import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orbit_registry.errors import LakeError, OrbitError, UsageError
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.files import TEMPORARY, sync_folder

_USER = re.compile(r"(?:(?<=//)|^)([^/\s]*:[^/\s]*)(?=@)")
"""User and password in an address: `s3://KEY:SECRET@bucket`, `ada:secret@host:path`."""
_BARE_USER = re.compile(r"^[^/\s@]*:[^/\s@]*@")
EXTRA = "pip install 'orbit-registry[fleet]'"


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

        with self._reported():
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

        if self.is_local and Path(self.root).is_file():
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
        return full if self.is_local else str(self.files.unstrip_protocol(full))

    def times(self, folder: str) -> dict[str, datetime]:
        """Return when each file below a folder was written, by name."""
        with self._reported():
            self.files.invalidate_cache(posixpath.join(self.root, folder))

            try:
                entries = self.files.find(posixpath.join(self.root, folder), detail=True)
            except FileNotFoundError:
                return {}

            names = {
                path.removeprefix(f"{self.root}/"): _time_of(info) for path, info in entries.items()
            }
            return {name: names[name] for name in sorted(names) if f"/{TEMPORARY}" not in name}

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of files; those that are gone are left out."""
        paths = {posixpath.join(self.root, name): name for name in names}
        if not paths:
            return {}

        with self._reported():
            # `cat` would take a `[` in a name for a pattern.
            contents = self.files.cat_ranges(list(paths), None, None, on_error="return")
            result = {
                name: c
                for name, c in zip(paths.values(), contents, strict=True)
                if isinstance(c, bytes)
            }

            for content in contents:
                if isinstance(content, Exception):
                    content.__traceback__ = (
                        None  # it has this frame, which would keep the lake open
                    )
                    if not isinstance(content, FileNotFoundError):
                        raise content

            return result

    def put(self, file: Path, name: str) -> None:
        """Copy a file into the lake under a name that no other file has."""
        target = posixpath.join(self.root, name)
        with self._reported():
            if not self.is_local:
                self.files.put_file(str(file), target)
                return

            Path(target).parent.mkdir(parents=True, exist_ok=True)

            with file.open("rb") as content, Path(target).open("xb") as copy:
                shutil.copyfileobj(content, copy, 1 << 20)
                copy.flush()
                os.fsync(copy.fileno())

            sync_folder(Path(target).parent)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file whole, unless there is one of that name; say whether it was written."""
        target = posixpath.join(self.root, name)
        with self._reported():
            if self.is_local:
                return _create(Path(target), content)

            try:
                self.files.pipe_file(target, content, mode="create")
            except FileExistsError:
                return False

            return True

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are no error."""
        with self._reported():
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    self.files.rm_file(posixpath.join(self.root, name))

    def foreign_file(self) -> str | None:
        """Return the name of the first file or folder in a folder that is no lake yet."""
        with self._reported():
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
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OrbitError:
            raise
        except Exception as error:  # noqa: BLE001 - each object store raises its own errors
            reason = self._without_user(error) or type(error).__name__
            hint = "see that the address is right, and that you may read and write there"
            raise LakeError(f"{self.address}: {reason}", hint=hint) from None


def _create(target: Path, content: bytes) -> bool:
    """Write a temporary file and link it to its name:
    no reader sees a part, and the first writer wins.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{TEMPORARY}{target.name[:100]}-{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, target)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)

    sync_folder(target.parent)
    return True


def _time_of(info: Mapping[str, Any]) -> datetime:
    value = info.get("LastModified") or info.get("mtime") or info.get("created") or 0
    return (
        value.astimezone(UTC)
        if isinstance(value, datetime)
        else datetime.fromtimestamp(float(value), UTC)
    )
