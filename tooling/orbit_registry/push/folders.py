"""Finds the project around a folder and the private folders in its state; it reads no record and follows no link."""

from posix import lstat, mkdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from posix import stat_result

_KIND, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000


def _found(path: str) -> "stat_result | None":
    try:
        return lstat(path)
    except (OSError, ValueError):
        return None


def is_folder(path: str) -> bool:
    """Say whether a folder stands there, and no link to one."""
    found = _found(path)
    return found is not None and found.st_mode & _KIND == _FOLDER


def project_root(start: str) -> str | None:
    """Return the nearest folder at or above an absolute path that holds a workspace; the repository's top ends it."""
    folder = start.rstrip("/")
    while folder:
        if is_folder(f"{folder}/.orbit"):
            config = _found(f"{folder}/.orbit/config.yaml")
            return folder if config is not None and config.st_mode & _KIND == _FILE else None
        if _found(f"{folder}/.git") is not None:
            return None
        folder = folder.rpartition("/")[0]
    return None


def private_folder(root: str, *names: str) -> str:
    """Return a folder below the state, made where it is missing, for its owner alone.

    Raises:
        OSError: it can't be made, or something else stands in its place.
    """
    folder = f"{root}/.orbit"
    for name in ("state", *names):
        folder = f"{folder}/{name}"
        if not is_folder(folder):
            try:
                mkdir(folder, 0o700)
            except FileExistsError:
                if not is_folder(folder):  # another process may have made it
                    raise
    return folder
