"""Which globs of a record match no file: what the gate reports as ORB502, told when a glob is written; it changes none.

A glob counts from the root. Whoever stands in a subfolder and names one from there learns it here and not days later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orbit_registry.checks.scope_folders import folders_of, nearest, valid_globs
from orbit_registry.errors import GitError
from orbit_registry.records.record import Record
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.globs import Glob, matches, parse_glob

_FROM_ROOT = "globs are named from the project's root"


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A glob that matches neither a tracked file nor one that git would add, and what may have been meant."""

    glob: str
    hint: str


def unmatched(workspace: Workspace, record: Record, below: str = "") -> list[Unmatched]:
    """Return a record's including globs that match no file; none where git can't tell.

    `below` is the folder that the writer stands in, from the root; a glob that would match from there is named so.
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
