"""One value that a later run may take back while all that it rests on has the same key; what it means, its user knows.

For what is known of files one by one there is `store.cache`; the seal is the one described there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from mmap import mmap
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.store.files import inside, read_bytes
from orbit_registry.store.manifest import compact
from orbit_registry.store.sealed import mapped, replace_unsynced
from orbit_registry.store.workspace import CACHE, Workspace
from orbit_registry.text.secrets import find_secrets


class KeptValue:
    """The value of a name under a key; an empty one where there is none, or another key's, or one not written here."""

    def __init__(self, workspace: Workspace, name: str, key: str) -> None:
        self._root, self._folder = workspace.root, CACHE
        self._name, self._key = name, key
        self.value: Mapping[str, object] = self._load()

    def keep(self, value: Mapping[str, object]) -> None:
        """Replace the value, which JSON has to hold as it is; one with a secret is not written, a full disk let be."""
        self.value = value
        text = compact(value)
        if any(find_secrets(text)):
            return
        with contextlib.suppress(OSError, OrbitError):
            folder = inside(self._root, self._folder)
            folder.mkdir(parents=True, exist_ok=True)
            stamp = replace_unsynced(folder, f"{self._name}.values", text.encode())
            replace_unsynced(folder, f"{self._name}.seal", compact([self._key, stamp]).encode())

    def _load(self) -> Mapping[str, object]:
        try:
            key, stamp = json.loads(read_bytes(self._path("seal"), limit=1000))
            if key != self._key:
                return {}
            content = mapped(self._path("values"), stamp)
            value = json.loads(str(content, "utf-8")) if content is not None else {}
        except (OrbitError, OSError, ValueError, TypeError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def _path(self, part: str) -> Path:
        return inside(self._root, f"{self._folder}/{self._name}.{part}")


class KeptBytes:
    """A block of bytes that is mapped rather than read; who keeps it notes its stamp, and asks for it by that."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        self._root, self._name = workspace.root, name
        self._path = f"{CACHE}/{name}"

    def content(self, stamp: object) -> mmap | None:
        """Return the bytes; None where there are none, or others than those of that stamp."""
        try:
            return mapped(inside(self._root, self._path), stamp)
        except (OrbitError, OSError):
            return None

    def keep(self, content: bytes) -> list[int] | None:
        """Replace the bytes and return their stamp; None where the disk refuses."""
        try:
            folder = inside(self._root, self._path).parent
            folder.mkdir(parents=True, exist_ok=True)
            return replace_unsynced(folder, self._name, content)
        except (OSError, OrbitError):
            return None
