"""Tells which files git tracks and which of them differ from HEAD, and remembers what it said while its index stands.

Git looks at every tracked file each time it is asked, and a reading of the records has just done the same: of a file
that stands as it did git would say what it said. To ask it of the others alone takes a third of the time where most
files are records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.store.git import Git, looks_elsewhere
from orbit_registry.store.kept import KeptValue, digest
from orbit_registry.store.reader import Reading
from orbit_registry.store.sealed import stamp_of
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.workspace import Workspace, git_folder

_MOST = 100
"""So many files are named to git beside the others; with more it looks at all of them."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """The tracked files from the root, sorted, and those among them that were chosen."""

    files: tuple[str, ...]
    chosen: tuple[str, ...]


def tracked_files(
    workspace: Workspace, chosen_by: Sequence[str], choose: Callable[[Sequence[str]], Iterable[str]]
) -> Tracked | None:
    """Return the tracked files, and those of them that `choose` returns; None outside git.

    What `choose` returns depends on the files and on `chosen_by` alone.

    Raises:
        GitError: git is missing, or the repository is not whole.
    """
    index = _index(workspace)
    kept = (
        KeptValue(workspace, "tracked", digest(index, workspace.git.prefix, chosen_by)) if index is not None else None
    )
    files, chosen = (kept.value.get(name) for name in ("files", "chosen")) if kept is not None else (None, None)
    if isinstance(files, list) and isinstance(chosen, list):
        return Tracked(tuple(files), tuple(chosen))
    found = workspace.git.tracked()
    if found is None:
        return None
    wanted = list(choose(found))
    if kept is not None:
        kept.keep({"files": found, "chosen": wanted})
    return Tracked(tuple(found), tuple(wanted))


def edited_files(workspace: Workspace, reading: Reading, tracked: Collection[str], head: str | None) -> set[str]:
    """Return the tracked files, from the root, that differ in the work tree or the index from the commit `head`, HEAD.

    Raises:
        GitError: git can't tell.
    """
    git = workspace.git
    state, still = reading.still
    index = _index(workspace)
    if head is None or index is None or not state:
        return _asked(git, ["."])
    with_records = {entry.kind.name for entry in reading.entries if not entry.pending}
    places = [
        (workspace.relative(workspace.folder_of(kind)), name)
        for kind in workspace.kinds
        if kind.name in with_records
        for name in (f"{kind.name}.yaml", VOTES)
    ]
    moved = [path for path in {*tracked} - still if _is_in(path, places)]
    if len(moved) > _MOST:
        return _asked(git, ["."])
    kept = KeptValue(workspace, "edited", digest(head, index, git.prefix, state, places))
    told, unknown = kept.value.get("edited"), kept.value.get("unknown")
    if not (isinstance(told, list) and isinstance(unknown, list)):
        found = _asked(git, ["."])
        kept.keep({"edited": [path for path in found if _is_in(path, places)], "unknown": moved})
        return found
    found = _asked(git, [".", *(f":(exclude,glob){folder}/*/{name}" for folder, name in places)])
    again = {*moved, *unknown}
    # One that git does not track any more is not among those that moved, and differs from HEAD while the index stands.
    return found | (set(told) - again) | (_asked(git, sorted(again)) if again else set())


def _is_in(path: str, places: Sequence[tuple[str, str]]) -> bool:
    parts = path.rsplit("/", 2)
    return len(parts) == 3 and (parts[0], parts[2]) in places


def _index(workspace: Workspace) -> tuple[int, ...] | None:
    """Return the stamp of the index that git looks at; None where it can't be told."""
    own = git_folder(workspace.root)
    if own is None or looks_elsewhere():
        return None
    try:
        return stamp_of(os.lstat(own / "index"))
    except OSError:
        return None


def _asked(git: Git, paths: Sequence[str]) -> set[str]:
    named = [path if path == "." or path.startswith(":(exclude") else f":(literal){path}" for path in paths]
    rows = git.listed("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--", *named)
    prefix = git.prefix
    return {row[3 + len(prefix) :] for row in rows if row.startswith(prefix, 3)}
