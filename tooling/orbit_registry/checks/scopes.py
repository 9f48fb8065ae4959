"""Dead globs of a scope: they match no file, with the folders that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.errors import GitError
from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.model.record import Record
from orbit_registry.workspace.workspace import Workspace


def valid_globs(paths: Sequence[str]) -> list[tuple[int, Glob]]:
    """Return the globs of a scope that can be read, with their places in its list."""
    return [(index, glob) for index, text in enumerate(paths) if isinstance(glob := parse_glob(text), Glob)]


def folders_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the folders in each folder, the root's under the empty name."""
    names_by_folder: dict[str, list[str]] = {"": []}
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in names_by_folder:
            names_by_folder[folder] = []
            folder = folder.rpartition("/")[0]
    for folder in names_by_folder:
        if folder:
            parent, _, name = folder.rpartition("/")
            names_by_folder[parent].append(name)
    return names_by_folder


def nearest(prefix: str, folders: Mapping[str, list[str]]) -> tuple[str, str | None] | None:
    """Return which part of the path is gone, in words, and the folder nearest to it; None where the path is there."""
    if not prefix or prefix in folders:
        return None
    parent, _, name = prefix.rpartition("/")
    while parent and parent not in folders:
        parent, _, name = parent.rpartition("/")
    inside = f"{parent}/" if parent else ""
    near = difflib.get_close_matches(name, folders[parent], n=1, cutoff=0.6)
    return f"`{inside}{name}` is not there", f"{inside}{near[0]}" if near else None


_FROM_ROOT = "globs are named from the project's root"


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A glob that matches neither a tracked file nor one that git would add, and what may have been meant."""

    glob: str
    hint: str


def unmatched(workspace: Workspace, record: Record, below: str = "") -> list[Unmatched]:
    """Return a record's including globs that match no file; none where git can't tell.

    `below` is the current folder, from the root; a glob that would match from there gets that as its hint.
    """
    globs = [glob for _, glob in valid_globs(record.scope.paths) if not glob.exclude]
    files = _files(workspace) if globs else []
    dead = [glob for glob in globs if files and not _matches_any(glob, files)]
    if not dead:
        return []
    folders = folders_of(files)
    return [Unmatched(glob.text, _meant(glob, files, below) or _gone(glob, folders)) for glob in dead]


def _files(workspace: Workspace) -> list[str]:
    try:
        tracked = workspace.git.tracked()
        if tracked is None:
            return []
        return [*tracked, *workspace.git.untracked()]
    except GitError:
        return []


def _matches_any(glob: Glob, files: Sequence[str]) -> bool:
    prefix = glob.literal_prefix
    return any(matches(glob, file) for file in files if file.startswith(prefix))


def _meant(glob: Glob, files: Sequence[str], below: str) -> str | None:
    other = parse_glob(f"{below}/{glob.text}") if below else None
    return (
        f"{_FROM_ROOT}; did you mean `{other.text}`?"
        if isinstance(other, Glob) and _matches_any(other, files)
        else None
    )


def _gone(glob: Glob, folders: dict[str, list[str]]) -> str:
    near = nearest(glob.literal_prefix, folders)
    return (
        f"{near[0]}; did you mean `{near[1]}`?"
        if near and near[1]
        else f"{near[0]}; {_FROM_ROOT}"
        if near
        else _FROM_ROOT
    )
