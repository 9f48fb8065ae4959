"""Collects the new texts of many files before any is written, so that they become one step; it decides no content."""

from __future__ import annotations

from orbit_registry.errors import OrbitError, UnreadableFileError
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace


class ChangeSet:
    """The files of a workspace as they will be; bytes that are not UTF-8 pass through unharmed."""

    def __init__(self, workspace: Workspace) -> None:
        self._root = workspace.root
        self._before: dict[str, str | None] = {}
        self._after: dict[str, str | None] = {}
        self.came_from: dict[str, str] = {}
        """New path → the path that its text moved from, for reports."""

    def text(self, path: str) -> str | None:
        """Return a file's text as drafted, else as it stands on disk; None where there is none.

        Raises:
            UnsafePathError: the path leaves the root.
            UnreadableFileError: it is no regular file, or too large.
        """
        if path in self._after:
            return self._after[path]
        return self.on_disk(path)

    def on_disk(self, path: str) -> str | None:
        """Return a file's text as it stands on disk."""
        if path not in self._before:
            file = inside(self._root, path)
            exists = file.exists()
            text = read_bytes(file, limit=DOCUMENT_LIMIT).decode("utf-8", "surrogateescape") if exists else None
            self._before[path] = text
        return self._before[path]

    def readable(self, path: str) -> str | None:
        """Return a file's text, or None where there is none that can be read."""
        try:
            return self.text(path)
        except OrbitError:
            return None

    def put(self, path: str, text: str | None) -> None:
        """Draft a file's text; None removes it.

        Raises:
            UnreadableFileError: what stands there is no file that may be replaced.
        """
        self.on_disk(path)
        self._after[path] = text

    def move(self, old: str, new: str) -> None:
        """Draft a file's move.

        Raises:
            UnreadableFileError: another file stands at the new path.
        """
        text = self.text(old)
        if text is None or old == new:
            return
        if self.text(new) not in (None, text):
            raise UnreadableFileError(f"{new} is there already", hint="move it away, then try again")
        self.put(new, text)
        self.put(old, None)
        self.came_from[new] = old

    @property
    def changes(self) -> list[FileChange]:
        """The files whose text will differ, in an order in which a reader in between misses nothing: new documents,
        changed files, new records, then records and documents that go.
        """
        changes = [FileChange(path, self._before[path], after) for path, after in self._after.items()]
        return sorted((change for change in changes if change.before != change.after), key=_order)


def _order(change: FileChange) -> int:
    record = change.path.startswith(f"{ORBIT}/")
    if change.after is None:
        return 3 if record else 4
    return 1 if change.before is not None else 2 if record else 0
