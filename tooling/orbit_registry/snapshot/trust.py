"""Says which records are not what the default branch holds, where only what it holds is pushed; it changes no file.

Whoever sends a branch for review may have written records, or turned the setting off: it counts as set where the work
tree or the default branch says so. What the default branch's files hold is asked of git once for each version of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.push import reader
from orbit_registry.push.pack import Part
from orbit_registry.store.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.reader import Entry, Reading
from orbit_registry.store.workspace import ORBIT, Workspace, git_folder

_BRANCHES = ("refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")
_NAMING = "refs/remotes/origin/HEAD"


class Trust:
    """What the default branch holds; `commit` is empty where there is no such branch, and nothing is trusted then."""

    def __init__(self, workspace: Workspace, commit: str) -> None:
        self._workspace, self.commit = workspace, commit

    def lines(self, reading: Reading, entries: Iterable[Entry]) -> list[str]:
        """Return what tells this answer from others: the commit, and stamps of the files beside the records' own."""
        beside = {path for entry in entries for path in self._beside(reading, entry)}
        return [
            f"trust {self.commit}",
            *(f"{path} {_stamp(self._workspace.root / path)}" for path in sorted(beside)),
        ]

    def untrusted(self, reading: Reading, entries: Iterable[Entry]) -> set[str]:
        """Return the files of the records of which something differs from the default branch, or is not there."""
        held = self._tree()
        wanted: dict[str, list[tuple[str, str]]] = {}
        seen: dict[str, str] = {}
        for entry in entries:
            state = reading.states[entry.path]
            files = [(entry.path, state.sha256)]
            for path in self._beside(reading, entry):
                if path not in seen:
                    seen[path] = self._hash(path)
                files.append((path, seen[path]))
            wanted[entry.path] = files
        known = _contents(
            self._workspace, {held[path] for files in wanted.values() for path, _ in files if path in held}
        )
        return {
            record
            for record, files in wanted.items()
            if not all(found and found[:32] in known.get(held.get(path, ""), ()) for path, found in files)
        }

    def _beside(self, reading: Reading, entry: Entry) -> Iterator[str]:
        """Yield what else an agent may be led to read for a record, and what says which of its statuses are pushed."""
        if entry.has_body:
            yield entry.body_path
        document = reading.document_of(entry)
        if document is not None:
            yield document
        folder = entry.kind.folder
        if folder.is_relative_to(self._workspace.root / ORBIT):
            yield f"{self._workspace.relative(folder)}/kind.yaml"

    def _hash(self, path: str) -> str:
        try:
            content = read_bytes(inside(self._workspace.root, path), limit=DOCUMENT_LIMIT)
        except OrbitError:
            return ""
        return hashlib.sha256(content).hexdigest()

    def _tree(self) -> dict[str, str]:
        """Return the default branch's files below the root, each with the name of its content."""
        return self._workspace.git.files_at(self.commit) if self.commit else {}


def trust_of(workspace: Workspace) -> Trust | None:
    """Return what is trusted; None where everything is.

    Raises:
        GitError: git is missing, or takes too long.
    """
    asked = workspace.trusts_default_alone
    files = _ref_files(workspace)
    if not files:
        return Trust(workspace, "") if asked else None
    kept = KeptValue(workspace, "trust", "\n".join(map(_stamp, files)))
    if not kept.value:
        commit = workspace.default_commit()
        if workspace.git.top is None:  # git can't be asked: nothing is known of its branches
            return Trust(workspace, "") if asked else None
        kept.keep({"commit": commit, "asked": workspace.default_trusts_itself_alone(commit)})
    return Trust(workspace, str(kept.value["commit"])) if asked or kept.value["asked"] else None


def trust_files(workspace: Workspace) -> list[Path]:
    """Return the files that change when the default branch moves, where that matters."""
    try:
        return _ref_files(workspace) if trust_of(workspace) is not None else []
    except GitError:
        return []


def with_trust(parts: Sequence[Part], untrusted: Iterable[str]) -> list[Part]:
    """Return the parts with the flag of those whose files are not trusted."""
    wrong = set(untrusted)
    found = []
    for part in parts:
        flags = part.flags & ~reader.UNTRUSTED | (reader.UNTRUSTED if part.row[reader.PATH] in wrong else 0)
        found.append(part if flags == part.flags else part._replace(flags=flags))
    return found


def _ref_files(workspace: Workspace) -> list[Path]:
    """Return every file that may say where the default branch is; none outside git."""
    own = git_folder(workspace.root)
    if own is None:
        return []
    common = own
    with contextlib.suppress(OSError):
        common = (own / (own / "commondir").read_text("utf-8", "replace").strip()).resolve()
    names = [_NAMING, *_BRANCHES, "packed-refs", "reftable/tables.list"]
    with contextlib.suppress(OSError):
        said = (common / _NAMING).read_text("utf-8", "replace").strip()
        if said.startswith("ref: refs/") and ".." not in said and "\0" not in said:
            names.append(said[5:])
    return [common / name for name in dict.fromkeys(names)]


def _contents(workspace: Workspace, names: set[str]) -> dict[str, list[str]]:
    """Return the starts of the hashes of contents by git's names for them, also with the line ends of other systems."""
    kept = KeptValue(workspace, "trust-contents", "1")
    known = {name: list(map(str, held)) for name, held in kept.value.items() if isinstance(held, list)}
    new = sorted(names - known.keys())
    if new:
        for name, content in workspace.git.blobs(new).items():
            forms = dict.fromkeys((content, content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")))
            known[name] = [hashlib.sha256(form).hexdigest()[:32] for form in forms]
        kept.keep({name: known[name] for name in names if name in known})
    return known


def _stamp(path: Path) -> str:
    try:
        found = os.lstat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"
