"""Stamps (time, size, inode) of a build's inputs and outputs:
while all are equal there is nothing to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from orbit_registry.errors import GitError
from orbit_registry.workspace.workspace import Workspace

SKEW_NS = 60 * 10**9  # by how much the clock of a network disk may be ahead
TICK_NS = 20 * 10**6  # by how much the time of a file that is written now may be behind ours


def stamp_of(path: str) -> str:
    """Return a text that changes when a file, or the list of names in a folder, does."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return "-"
    return f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}"


def stamps_of(
    inputs: Iterable[str], outputs: Iterable[str], started_ns: int
) -> dict[str, str] | None:
    """Return stamps by path; None where an input changed after the build started,
    and may have been read before.
    """
    stamps = {path: stamp_of(path) for path in inputs}
    times = (int(stamp.partition("-")[0]) for stamp in stamps.values() if stamp != "-")
    # A time to come was set by hand: no edit of now has it, and one that follows has another.
    if any(started_ns - TICK_NS <= moment <= time.time_ns() + SKEW_NS for moment in times):
        return None

    return stamps | {path: stamp_of(path) for path in outputs}


def untracked_files(workspace: Workspace, out: Path) -> list[str]:
    """Return the files that git would add now, without those of the site."""
    if out.is_relative_to(workspace.root) and out != workspace.root:
        site = [workspace.relative(out)]
    else:
        site = []

    try:
        return without_records(workspace, workspace.git.untracked(without=site))
    except GitError:
        return []


def without_records(workspace: Workspace, paths: Iterable[str]) -> list[str]:
    """Return the paths outside the folders of records, which have stamps."""
    folders = tuple(f"{workspace.relative(workspace.folder_of(kind))}/" for kind in workspace.kinds)
    return [path for path in paths if not path.startswith(folders)]
