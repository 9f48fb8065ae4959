"""The numbered files of snapshots in their folder: what they are called, which is next, which go; it reads none."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.store.files import TEMPORARY, read_bytes

STATE = "snapshot.json"
"""Names the file that readers take."""
NAME = re.compile(r"snapshot-([0-9]{6,12})\.duckdb\Z")


def last_number(folder: Path) -> int:
    """Return the highest number in use, that of a lost file among them.

    A process that has a file open gets the old content when it opens the same name again, so names are not reused.
    """
    names = os.listdir(folder)
    with contextlib.suppress(OrbitError, ValueError, TypeError, KeyError, RecursionError):
        names.append(str(json.loads(read_bytes(folder / STATE, limit=10_000))["file"]))
    return max((int(found[1]) for name in names if (found := NAME.match(name))), default=0)


def tidy(folder: Path) -> None:
    """Remove what killed processes left.

    What a build leaves goes at once, since no other one runs; another process may be at any other temporary file.
    """
    hour_ago = time.time() - 3600
    for entry in list(os.scandir(folder)):
        left = entry.name.startswith((f"{TEMPORARY}snapshot", f"{TEMPORARY}rows-"))
        with contextlib.suppress(OSError):
            left |= entry.name.startswith(TEMPORARY) and entry.stat(follow_symlinks=False).st_mtime < hour_ago
        with contextlib.suppress(OSError):
            if left and entry.is_dir(follow_symlinks=False):
                for file in os.scandir(entry.path):
                    Path(file.path).unlink()
                Path(entry.path).rmdir()
            elif left:
                Path(entry.path).unlink()


def forget(folder: Path, kept: set[str]) -> None:
    """Remove all snapshots but those to keep; a reader that holds one open keeps it."""
    for name in os.listdir(folder):
        if name.startswith("snapshot-") and name.endswith((".duckdb", ".wal")) and name not in kept:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
