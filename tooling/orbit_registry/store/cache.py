"""Remembers what files held, so that a file which has not changed is neither read nor parsed; knows no record.

Two files hold it: a manifest (path → stamp, hash, where the value stands; `store.manifest`) and the values, in JSON.
A repository may bring a cache of its own making, so a third file, the seal, names the inode and the change time of
the other two: the kernel sets those, and whoever wrote the repository can't know what they will be here. A cache whose
seal does not fit is as good as none. Nothing here raises for a cache that is missing, torn or foreign, or can't be
written.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from mmap import mmap
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.store.files import RECORD_LIMIT, inside, read_bytes, read_error, read_found
from orbit_registry.store.manifest import Entry, Stamp, compact, pack_manifest, unpack_manifest
from orbit_registry.store.sealed import SECOND_NS, mapped, replace_unsynced, stamp_of
from orbit_registry.text.secrets import has_secret

CACHE_VERSION = 3
NEVER: Stamp = (0, 0, -1, 0)
"""Stands for a stamp that may still be shared by a later write: no file has it."""
MISSING = object()
TICK_NS = 50_000_000
"""Two writes within one tick of a file system's clock leave one stamp; kernels tick every 1 to 16 ms."""
COARSE_NS = 2_000_000_000
"""The tick of file systems that stamp whole seconds."""
_parts_of = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")
_AT_ONCE = 256
"""So many values are read as one text: names of members are then made once for all of them."""


class FileState(NamedTuple):
    """One file as it stands: its hash (hexadecimal, empty where it can't be read), its bytes where they were read."""

    path: str
    sha256: str
    size: int = 0
    mtime_ns: int = 0
    content: bytes | None = None
    error: OrbitError | None = None


_state_of: Callable[[Iterable[object]], FileState] = partial(tuple.__new__, FileState)
"""As `FileState._make`, which is a function of Python's own and takes longer."""


def is_few(changed: int, total: int) -> bool:
    """Say whether so few changed that looking at them again costs less than writing down all there is."""
    return changed * 200 < total


def settled(stamp: Stamp, began_ns: int) -> Stamp | None:
    """Return a stamp that no later write can share; None where one within the clock's tick still could."""
    newest = max(stamp[0], stamp[1])
    tick = COARSE_NS if stamp[0] % SECOND_NS == 0 and stamp[1] % SECOND_NS == 0 else TICK_NS
    return stamp if newest + tick < began_ns else None


class FileCache:
    """The files of one purpose, `name`, under a root.

    `fingerprint` says what else the values depend on; `began_ns` is when the run began, by default now.
    """

    def __init__(self, root: Path, folder: str, name: str, fingerprint: str, *, began_ns: int | None = None) -> None:
        self._root, self._folder, self._name = root, folder, name
        self._base = f"{root}/"
        self._fingerprint = f"{CACHE_VERSION} {fingerprint}"
        self._began = time.time_ns() if began_ns is None else began_ns
        self._values: dict[str, str] = {}
        self._notes: dict[str, object] = {}
        self._kept_notes: memoryview | list[Any] = []
        self._entries: dict[str, Entry] = {}
        self._folders: dict[str, tuple[Stamp, list[str]]] = {}
        self._blob: str | None = None
        self._seen_entries: dict[str, Entry] = {}
        self._seen_folders: dict[str, tuple[Stamp, list[str]]] = {}
        self._touched: set[str] = set()
        """Files and folders of which something else may be known now than was loaded."""
        self.is_steady = True
        """Whether each file that was read after it was looked at still had that content."""
        self._seal: list[list[int]] = []
        self._digest = ""
        self._load()

    # ------------------------------------------------------------------------------------------------- questions

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted, listing it only if it changed.

        Raises:
            OSError: it is missing, no folder (a symbolic link is none) or not permitted.
        """
        full = self._base + path
        found = os.lstat(full)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), full)
        stamp = stamp_of(found)
        held = self._folders.get(path)
        if held is None or held[0] != stamp:
            names = sorted(os.listdir(full))  # twice as fast as asking for each entry
            held = (settled(stamp, self._began) or NEVER, names)
            self._touched.add(path)
        self._seen_folders[path] = held
        return held[1]

    def unchanged_folders(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Return the names in those folders that have not changed, as `names` would, in half the time for many."""
        held = {path: one for path in paths if (one := self._folders.get(path)) is not None}
        pairs = zip(held.items(), self._stamps(held), strict=True)
        found = {path: one for (path, one), stamp in pairs if one[0] == stamp}
        self._seen_folders |= found
        return {path: names for path, (_, names) in found.items()}

    @property
    def stamps(self) -> dict[str, Stamp]:
        """The stamps of the files that were asked about in this run; NEVER where a later write may share it."""
        return {path: entry.stamp for path, entry in self._seen_entries.items()}

    @property
    def listed(self) -> Mapping[str, Sequence[str]]:
        """The folders whose names were asked for in this run, with those names."""
        return {path: names for path, (_, names) in self._seen_folders.items()}

    @property
    def whole(self) -> str | None:
        """What tells all that was asked about in this run from another state of it; None where that is not as kept."""
        seen, held = (self._seen_entries, self._seen_folders), (self._entries, self._folders)
        is_kept = not self._touched and [len(one) for one in seen] == [len(one) for one in held]
        return self._digest or None if is_kept else None

    @property
    def still(self) -> tuple[str, set[str]]:
        """What tells the kept state of all files from another, empty where none is, and the files of this run that
        stand as it says."""
        return self._digest, self._seen_entries.keys() - self._touched

    def unchanged(self, paths: Iterable[str], *, valued: bool = False) -> dict[str, FileState]:
        """Return the states of those files that have not changed, as `state` would, in half the time for many.

        With `valued` those alone for which a value was kept.
        """
        least = 0 if valued else -1
        entries = ((path, self._entries.get(path)) for path in paths)
        held = {path: one for path, one in entries if one is not None and one[1] and one[2] >= least}
        pairs = zip(held.items(), self._stamps(held), strict=True)
        found = {path: one for (path, one), stamp in pairs if one[0] == stamp}
        self._seen_entries |= found
        rows = ((path, one[1], one[0][2], one[0][0], None, None) for path, one in found.items())
        return dict(zip(found, map(_state_of, rows), strict=True))

    def _stamps(self, paths: Collection[str]) -> Sequence[Stamp | None]:
        """Return what `_stamp` does for each path; in one sweep, as long as all of them are there."""
        try:
            return [*map(_parts_of, map(os.lstat, map(self._base.__add__, paths)))]
        except OSError:
            return [*map(self._stamp, paths)]

    def _stamp(self, path: str) -> Stamp | None:
        try:
            found: Stamp = _parts_of(os.lstat(self._base + path))  # an inode that `stamp_of` would cut fits none
        except OSError:
            return None
        return found

    def state(self, path: str, limit: int = RECORD_LIMIT) -> FileState:
        """Return a file's state, reading it only if its stamp is new or may still be shared by a later write."""
        full = self._base + path
        held = self._entries.get(path)
        if held is not None and held.sha256 and held.stamp == self._stamp(path):
            self._seen_entries[path] = held
            return FileState(path, held.sha256, held.stamp[2], held.stamp[0])
        try:
            content, found = read_found(full, limit=limit)
        except OrbitError as error:
            try:
                found = os.lstat(full)
            except OSError as missing:
                return FileState(path, "", error=read_error(path, missing))
            return FileState(path, "", found.st_size, found.st_mtime_ns, error=error)
        digest = hashlib.sha256(content).hexdigest()
        stamp = settled(stamp_of(found), self._began) or NEVER
        known = held._replace(stamp=stamp) if held is not None and held.sha256 == digest else Entry(stamp, digest)
        self._seen_entries[path] = known
        self._touched.add(path)
        return FileState(path, digest, found.st_size, found.st_mtime_ns, content)

    def content(self, state: FileState, limit: int = RECORD_LIMIT) -> bytes:
        """Return a file's bytes; one that changed since it was looked at has no value to be kept any more.

        Raises:
            UnreadableFileError: see `store.files.read_bytes`.
        """
        if state.error is not None:
            raise state.error
        if state.content is not None:
            return state.content
        try:
            content = read_bytes(self._base + state.path, limit=limit)
        except OrbitError:
            self.is_steady = False
            raise
        if hashlib.sha256(content).hexdigest() != state.sha256:
            self.is_steady = False
            self._seen_entries.pop(state.path, None)
            self._touched.add(state.path)
        return content

    def value(self, state: FileState) -> object:
        """Return what was kept for a file with this very content; MISSING where nothing was."""
        if state.path in self._values:
            return json.loads(self._values[state.path])
        value = self.values([state]).get(state.path, MISSING)
        entry = self._seen_entries.get(state.path)
        if value is MISSING and entry is not None and entry.offset >= 0 and entry.sha256 == state.sha256:
            self._seen_entries[state.path] = entry._replace(offset=-1)
            self._touched.add(state.path)
        return value

    def values(self, states: Iterable[FileState]) -> dict[str, object]:
        """Return what an earlier run kept for files with this very content, by path: many at once in less time than
        `value` takes, which is to be asked of those that are left out.
        """
        entries = ((state, self._seen_entries.get(state.path)) for state in states if state.path not in self._values)
        held = [(state.path, one) for state, one in entries if one and one.offset >= 0 and one.sha256 == state.sha256]
        found: dict[str, object] = {}
        text = self._text() if held else ""
        for start in range(0, len(held), _AT_ONCE):
            part = held[start : start + _AT_ONCE]
            cut = [text[one.offset : one.offset + one.length] for _, one in part]
            with contextlib.suppress(ValueError):
                values = json.loads(f"[{','.join(cut)}]")
                if len(values) == len(part):
                    found.update(zip((path for path, _ in part), values, strict=True))
        return found

    def has_value(self, state: FileState) -> bool:
        """Say whether something was kept for a file with this very content, without loading it."""
        entry = self._seen_entries.get(state.path)
        return state.path in self._values or (entry is not None and entry.offset >= 0)

    @property
    def notes(self) -> dict[str, object]:
        """The notes kept with the values of the files that were asked about in this run."""
        kept = self._kept_notes
        rows = self._kept_notes = json.loads(str(kept, "utf-8")) if isinstance(kept, memoryview) else kept
        kept_notes = {path: rows[entry.row] if entry.row >= 0 else None for path, entry in self._seen_entries.items()}
        return {**kept_notes, **self._notes}

    def mark(self, path: str) -> str:
        """Return the mark kept with the value of a file that was asked about in this run; "" where there is none."""
        entry = self._seen_entries.get(path)
        return entry.mark if entry is not None else ""

    def keep(
        self, state: FileState, value: object, note: object = None, *, mark: str = "", plain: bool = False
    ) -> str | None:
        """Remember a value for a file's content; one that JSON would change, or that holds a secret, is not kept.

        Returns it as JSON in ASCII; None where it is not kept.

        `note` is a little of it, to be had without loading it, and `mark` a word that costs nothing then. `plain` says
        that JSON is known to hold the value as it is, which is then not tried.
        """
        entry = self._seen_entries.get(state.path)
        if entry is None:
            return None
        try:
            text = compact(value)
            if not plain and json.loads(text) != value:
                return None
        except (TypeError, ValueError, RecursionError):
            return None
        if has_secret(value, text):
            return None
        self._values[state.path], self._notes[state.path] = text, note
        self._seen_entries[state.path] = entry._replace(mark=mark)
        self._touched.add(state.path)
        return text

    # ---------------------------------------------------------------------------------------------- keeping it

    def save(self) -> None:
        """Write what was asked about in this run, if it differs enough from what was loaded; a full disk is let be."""
        files = _differing(self._entries, self._seen_entries, self._touched)
        folders = _differing(self._folders, self._seen_folders, self._touched)
        changed = len(files.union(self._values)) + len(folders)
        if not changed or is_few(changed, len(self._seen_entries)):
            return
        with contextlib.suppress(OSError, OrbitError, OverflowError):
            folder = inside(self._root, self._folder)
            folder.mkdir(parents=True, exist_ok=True)
            is_as_was = self._seal and not self._moved()
            values = self._seal[0] if is_as_was else replace_unsynced(folder, self._file("values"), self._join())
            seen = self._seen_entries
            manifest = pack_manifest(self._fingerprint, seen, self._seen_folders, self.notes.values())
            seal = [values, replace_unsynced(folder, self._file("manifest"), manifest)]
            self._digest = hashlib.sha256(manifest).hexdigest()
            replace_unsynced(folder, self._file("seal"), compact([self._digest, *seal]).encode())
            self._entries, self._folders, self._seal = dict(seen), dict(self._seen_folders), seal
            self._touched.clear()

    def _moved(self) -> bool:
        """Say whether a value is new or gone."""
        held = sum(1 for entry in self._entries.values() if entry.offset >= 0)
        kept = sum(1 for entry in self._seen_entries.values() if entry.offset >= 0)
        return bool(self._values) or held != kept

    def _join(self) -> bytes:
        old, parts, offset, moved = self._text(), [], 0, {}
        for path, entry in self._seen_entries.items():
            text = self._values.get(path)
            if text is None and entry.offset < 0:
                continue
            part = text if text is not None else old[entry.offset : entry.offset + entry.length]
            parts.append(part)
            moved[path] = entry._replace(offset=offset, length=len(part))
            offset += len(part)
        self._seen_entries |= moved
        self._blob, self._values = "".join(parts), {}
        return self._blob.encode("latin-1")

    def _text(self) -> str:
        """Return the values, JSON in ASCII, so that a place in the text is one in the file."""
        if self._blob is None:
            content = self._read("values", self._seal[0]) if self._seal else None
            self._blob = str(content, "latin-1") if content else ""
        return self._blob

    def _file(self, part: str) -> str:
        return f"{self._name}.{part}"

    def _load(self) -> None:
        try:
            seal = json.loads(read_bytes(inside(self._root, f"{self._folder}/{self._file('seal')}"), limit=1000))
            digest, values, manifest = seal
            content = self._read("manifest", manifest)
            if content is None or hashlib.sha256(content).hexdigest() != digest:
                return
            held = unpack_manifest(content, self._fingerprint)
            if held is not None:
                self._entries, self._folders, self._kept_notes = held
                self._seal, self._digest = [values], digest
        except (OrbitError, OSError, ValueError, LookupError, TypeError, RecursionError):
            self._entries, self._folders, self._seal, self._kept_notes = {}, {}, [], []

    def _read(self, part: str, sealed: object) -> mmap | None:
        """Return a file of the cache, if it is the one the seal names."""
        try:
            return mapped(inside(self._root, f"{self._folder}/{self._file(part)}"), sealed)
        except (OrbitError, OSError):
            return None


def _differing(before: Mapping[str, object], now: Mapping[str, object], touched: Iterable[str]) -> set[str]:
    """Return the keys of what is new, gone or not the same; what was not touched is gone or the same."""
    found = {key for key in touched if key in now and now[key] != before.get(key)}
    new = sum(1 for key in found if key not in before)
    return found if len(now) - new == len(before) else found | (before.keys() - now.keys())
