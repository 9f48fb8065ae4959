"""Files of the cache that are known to be the very ones written here; what they hold, their owners know.

A repository may bring a cache of its own making. So whoever writes a file keeps its inode and its times elsewhere: the
kernel sets those, and whoever wrote the repository can't know what they will be here.
"""

from __future__ import annotations

import contextlib
import os
import stat
from mmap import ACCESS_READ, mmap
from pathlib import Path

from orbit_registry.store.files import TEMPORARY
from orbit_registry.store.manifest import Stamp

SECOND_NS = 1_000_000_000


def stamp_of(found: os.stat_result) -> Stamp:
    """Return what tells a file from its earlier and later selves."""
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino & 0x7FFF_FFFF_FFFF_FFFF)


def is_sealed(path: Path, sealed: object) -> bool:
    """Say whether a file is the very one that was sealed here: same inode, size and times.

    A change time in whole seconds could be guessed, so that nothing is trusted on a file system which knows no finer
    ones.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_ctime_ns % SECOND_NS != 0 and list(stamp_of(found)) == sealed


def mapped(path: Path, sealed: object) -> mmap | None:
    """Return the bytes of the file that was sealed, mapped rather than read; None where it is gone, empty or another.

    They stay what they are: such a file is replaced, and never written to. A copy of each page would cost as much as
    what is done with most of them.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            content = mmap(handle, 0, access=ACCESS_READ)
            return content if list(stamp_of(os.fstat(handle))) == sealed and is_sealed(path, sealed) else None
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None


def replace_unsynced(folder: Path, name: str, content: bytes) -> list[int]:
    """Replace a file of the cache and return its stamp; it is not synced to disk, because it can be made again."""
    temporary = folder / f"{TEMPORARY}{name}-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            temporary.replace(folder / name)
            return list(stamp_of(os.fstat(file.fileno())))
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
