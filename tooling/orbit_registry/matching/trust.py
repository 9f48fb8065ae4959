"""Trust in records: those that differ from the default branch, where only what it holds is pushed.

A branch sent for review may have written records, or turned the setting off: the setting counts where the work tree
or the default branch has it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.model.record import Record
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.workspace.workspace import ORBIT, Workspace, git_folder

_BRANCHES = ("refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")
_NAMING = "refs/remotes/origin/HEAD"


def untrusted(workspace: Workspace, records: Iterable[Record]) -> set[str]:
    """Return the files of the records of which something differs from the default branch, or is not there."""
    commit = _trusted_commit(workspace)
    if commit is None:
        return set()
    tree = workspace.git.files_at(commit) if commit else {}
    names_of = cache(partial(_blob_names, workspace.root))
    return {
        record.path
        for record in records
        if any(tree.get(path) not in names_of(path) for path in _files_of(workspace, record))
    }


def _files_of(workspace: Workspace, record: Record) -> Iterator[str]:
    """Yield what an agent may be led to read for a record, and what says which of its statuses are pushed."""
    yield record.path
    if os.path.lexists(workspace.root / record.body_path):
        yield record.body_path
    if record.kind.has_source and record.source is not None:
        yield record.source.path
    if record.kind.folder.is_relative_to(workspace.root / ORBIT):
        yield f"{workspace.relative(record.kind.folder)}/kind.yaml"


def _blob_names(root: Path, path: str) -> set[str]:
    """Return git's names of a file's content, unchanged and with the line ends that git keeps."""
    try:
        content = read_bytes(inside(root, path), limit=DOCUMENT_LIMIT)
    except OrbitError:
        return set()
    blobs = [b"blob %d\0" % len(form) + form for form in (content, content.replace(b"\r\n", b"\n"))]
    return {make(blob).hexdigest() for blob in blobs for make in (hashlib.sha1, hashlib.sha256)}


def _trusted_commit(workspace: Workspace) -> str | None:
    """Return the default branch's commit, empty where there is no such branch; None where everything is trusted."""
    is_configured = workspace.trusts_only_default_branch
    files = _ref_files(workspace)
    if not files:
        return "" if is_configured else None

    def branch() -> list[object] | None:
        commit = workspace.default_commit()
        if workspace.git.top is None:  # git can't be asked: nothing is known of its branches
            return None
        return [commit, workspace.default_branch_trusts_only_itself(commit)]

    commit, trusts_itself_alone = workspace.cache.memo("trust", "\n".join(map(_stamp, files)), branch) or ["", False]
    return commit if is_configured or trusts_itself_alone else None


def trust_files(workspace: Workspace) -> list[Path]:
    """Return the files that change when the default branch moves, where that matters."""
    try:
        return _ref_files(workspace) if _trusted_commit(workspace) is not None else []
    except GitError:
        return []


def _ref_files(workspace: Workspace) -> list[Path]:
    """Return every file that may say where the default branch is; none outside git."""
    git_dir = git_folder(workspace.root)
    if git_dir is None:
        return []
    common = git_dir
    with contextlib.suppress(OSError):
        common = (git_dir / (git_dir / "commondir").read_text("utf-8", "replace").strip()).resolve()
    names = [_NAMING, *_BRANCHES, "packed-refs", "reftable/tables.list"]
    with contextlib.suppress(OSError):
        reference = (common / _NAMING).read_text("utf-8", "replace").strip()
        if reference.startswith("ref: refs/") and ".." not in reference and "\0" not in reference:
            names.append(reference[5:])
    return [common / name for name in dict.fromkeys(names)]


def _stamp(path: Path) -> str:
    try:
        status = os.lstat(path)
    except OSError:
        return "-"
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"
