"""Starts what outlives its caller: `orbit sync`, once a minute at most, and `orbit capture`; it waits for nothing."""

import posix
import sys
from time import time

from orbit_registry.push.folders import content_of, private_folder

NAME = "sync.asked"
EVERY_SECONDS = 60
LARGEST_CONFIG = 1_000_000
_FLAGS = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


def refresh(root: str) -> bool:
    """Start a sync of a project and say whether this call did.

    Raises:
        OSError: the state can't be written, or there is no interpreter to start.
    """
    handle = posix.open(f"{private_folder(root, 'cache')}/{NAME}", _FLAGS, 0o600)
    try:
        posix.lockf(handle, posix.F_TLOCK, 0)
        found = posix.fstat(handle)
        if found.st_size and 0 <= time() - found.st_mtime < EVERY_SECONDS:
            return False
        posix.ftruncate(handle, 0)
        posix.pwrite(handle, b"asked\n", 0)
    except BlockingIOError:
        return False
    except PermissionError:  # some systems say so where another process holds the lock
        return False
    finally:
        posix.close(handle)
    _start(root, "sync")
    return True


def capture(root: str, agent: str, transcript: str) -> bool:
    """Start a capture of a session that has ended where the configuration may want one; say whether this call did.

    Whether it does, and whether the file is a transcript, the command finds out: YAML is not read here.

    Raises:
        OSError: the configuration can't be read, or there is no interpreter to start.
    """
    lines = content_of(f"{root}/.orbit/config.yaml", LARGEST_CONFIG).split(b"\n")
    if not any(b"at_session_end" in line and not line.lstrip().startswith(b"#") for line in lines):
        return False
    _start(root, "capture", "--at-session-end", "--from", agent, "--", transcript)
    return True


def _start(root: str, *words: str) -> None:
    # -P: the project's own folder is no place to import from.
    command = [sys.executable, "-P", "-m", "orbit_registry.cli.main", "-C", root, *words]
    nowhere = [
        (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
    ]
    posix.posix_spawn(sys.executable, command, posix.environ, file_actions=nowhere, setsid=True)
