"""Files as the hook reads them, and git's folder of a work tree; no link is followed."""

import posix
from posix import lstat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from posix import stat_result

KIND, FOLDER, FILE, LINK = 0o170000, 0o040000, 0o100000, 0o120000
"""The bits of a mode that say what a file is, and what they say."""
MAX_POINTER = 4096  # bytes of the file that names git's folder in a linked work tree
_READ = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


def status_of(path: str) -> "stat_result | None":
    """Return the state of what is at a path, of a link its own; None if nothing is."""
    try:
        return lstat(path)
    except (OSError, ValueError):
        return None


def stamp(path: str) -> str:
    """Return a file's modification time, size and inode; "-" if it is missing."""
    state = status_of(path)
    if state is None:
        return "-"

    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"


def is_folder(path: str) -> bool:
    """Say whether a path is a folder, not a link to one."""
    state = status_of(path)
    return state is not None and state.st_mode & KIND == FOLDER


def work_tree(folder: str) -> str:
    """Return the top of the work tree that a folder is in; empty outside of one."""
    while folder and status_of(f"{folder}/.git") is None:
        folder = folder.rpartition("/")[0]

    return folder


def git_folder(top: str) -> str:
    """Return git's folder of a work tree; empty if the repository was moved away."""
    git = f"{top}/.git"
    pointer = readable_content(git, MAX_POINTER).decode("utf-8", "surrogateescape").strip()
    if not pointer.startswith("gitdir:"):
        return git  # most are folders

    git = pointer.removeprefix("gitdir:").strip()
    if not git.startswith("/"):
        git = f"{top}/{git}"

    if status_of(f"{git}/HEAD") is not None:
        return git

    return ""


def content_of(path: str, most: int) -> bytes:
    """Return the first bytes of a file; a pipe answers at once."""
    handle = posix.open(path, _READ)
    try:
        return posix.read(handle, most)
    finally:
        posix.close(handle)


def readable_content(path: str, most: int) -> bytes:
    """Return the first bytes of a file; none of a folder, a link, or what can't be read."""
    try:
        return content_of(path, most)
    except (OSError, ValueError):
        return b""
