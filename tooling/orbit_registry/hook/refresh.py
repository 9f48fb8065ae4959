"""Detached processes of the hook: `orbit sync`, once for each change, and `orbit capture`."""

import posix
import sys
from time import time

from orbit_registry.hook.context import CAPTURES
from orbit_registry.hook.index import Index, open_index
from orbit_registry.hook.project import UPDATE, private_folder

NAME = "sync.asked"
EVERY_SECONDS = 60  # seconds after which a sync is started again for the same changes
LARGEST = 100_000


def refresh(root: str, behind: list[str]) -> bool:
    """Start a sync, if none was started for the same changes in the last minute; say whether."""
    handle = posix.open(f"{private_folder(root, 'cache')}/{NAME}", UPDATE, 0o600)
    try:
        posix.lockf(handle, posix.F_TLOCK, 0)
        is_recent = 0 <= time() - posix.fstat(handle).st_mtime < EVERY_SECONDS
        earlier = posix.pread(handle, LARGEST, 0).split(b"\n") if is_recent else []
        lines = [f"{root}\t{line}".encode("utf-8", "surrogateescape") for line in behind]
        if all(line in earlier for line in lines):
            return False

        posix.ftruncate(handle, 0)
        posix.pwrite(handle, b"\n".join([*lines, *earlier])[:LARGEST], 0)
    except (BlockingIOError, PermissionError):  # another process holds the lock
        return False
    finally:
        posix.close(handle)

    _start(root, "sync", "--index")
    return True


def capture(root: str, agent: str, transcript: str) -> bool:
    """Start a capture of an ended session if the configuration asks; say whether it was started."""
    index = open_index(root)
    if not (isinstance(index, Index) and index.settings & CAPTURES):
        return False

    _start(root, "capture", "--at-session-end", "--from", agent, "--", transcript)
    return True


def _start(root: str, *words: str) -> None:
    # -P: the project's own folder is no place to import from.
    command = [sys.executable, "-P", "-m", "orbit_registry.doors.cli.main", "-C", root, *words]
    nowhere = [
        (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
    ]
    posix.posix_spawn(sys.executable, command, posix.environ, file_actions=nowhere, setsid=True)
