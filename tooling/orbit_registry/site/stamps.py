"""Knows whether anything a build rested on has changed since: times and sizes of files, never their content, and which
files git would add.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError
from orbit_registry.site.output import replace_file
from orbit_registry.store.workspace import Workspace

ABSENT = "-"
SKEW_NS = 60 * 10**9
"""By how much the clock of a disk elsewhere may be ahead of ours."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """Paths and what their times and sizes were."""

    held: dict[str, str]

    @property
    def hold(self) -> bool:
        """Say whether everything is as it was."""
        return self.now() == self.held

    def now(self) -> dict[str, str]:
        """Return what the stamps of the same paths are now."""
        return {path: stamp_of(path) for path in self.held}


def stamp_of(path: str) -> str:
    """Return a text that changes when a file, or the list of names in a folder, does."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}"


def stamps_of(paths: Iterable[str], started_ns: int, seen: Mapping[str, str]) -> Stamps | None:
    """Return the stamps of paths; None where one changed after the build started and may have been read before.

    `seen` are stamps that were taken as the build started.
    """
    held = {path: seen.get(path) or stamp_of(path) for path in paths}
    times = (int(stamp.partition("-")[0]) for stamp in held.values() if stamp != ABSENT)
    # A time to come was set by hand: no edit of now has it, and one that follows has another.
    ended_ns = time.time_ns() + SKEW_NS
    return Stamps(held) if not any(started_ns <= at <= ended_ns for at in times) else None


def strays_of(workspace: Workspace, out: Path) -> str:
    """Return a digest of the files that git would add now, without those of the site; see `digest_of_strays`."""
    own = [workspace.relative(out)] if out.is_relative_to(workspace.root) and out != workspace.root else []
    try:
        found = workspace.git.untracked(without=[*_kept(workspace), *own])
    except GitError:
        found = []
    return digest_of_strays(workspace, found)


def digest_of_strays(workspace: Workspace, found: Iterable[str]) -> str:
    """Return what tells files that git would add from others; the folders of records have stamps instead."""
    folders = tuple(f"{folder}/" for folder in _kept(workspace))
    text = "\0".join(path for path in found if not path.startswith(folders))
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _kept(workspace: Workspace) -> list[str]:
    return [workspace.relative(workspace.folder_of(kind)) for kind in workspace.kinds]


def save(file: Path, stamps: Stamps | None, data: object) -> None:
    """Keep stamps with what the build said, for the next one; without stamps forget what was kept."""
    if stamps is None:
        file.unlink(missing_ok=True)
        return
    replace_file(file, json.dumps({"stamps": stamps.held, "data": data}, separators=(",", ":")).encode())


def load(file: Path) -> tuple[Stamps, object] | None:
    """Return what the last build kept; None where there is nothing usable."""
    try:
        held = json.loads(file.read_text("utf-8"))
        return Stamps({str(path): str(stamp) for path, stamp in held["stamps"].items()}), held["data"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
