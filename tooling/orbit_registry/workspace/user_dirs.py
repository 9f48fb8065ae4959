"""Finds a folder of the user's own for derived files where a checkout may not be written; it puts nothing into it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_NAME = "orbit-registry"
_NO_HOME = Path("/nonexistent")


def user_cache() -> Path:
    """Return where the user's programs keep what may be deleted, as the XDG specification has it, for us."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (configured if configured.is_absolute() else user_home() / ".cache") / _NAME


def user_home() -> Path:
    """Return the user's home; a folder that is not there where nobody says one, as of a container's made-up user."""
    try:
        home = Path.home()
    except RuntimeError:
        return _NO_HOME
    return home if home.is_absolute() else _NO_HOME


def is_writable(path: Path) -> bool:
    """Say whether permissions let us put a file at a path, judged by the nearest of its folders that is there."""
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return not path.is_dir() or os.access(path, os.W_OK | os.X_OK)


def checkout_cache(root: Path) -> Path | None:
    """Return a folder for what is derived of the checkout at `root`: in the user's cache, else among temporary files.

    None where neither is to be had. Nobody else may write there, since what stands there is believed.
    """
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    for base in _bases():
        folder = base / "checkouts" / name
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for path in (base, folder.parent, folder):
                path.mkdir(mode=0o700, exist_ok=True)
            if all(_is_private(path) for path in (folder, folder.parent, base)) and is_writable(folder):
                return folder
        except OSError:
            continue
    return None


def _bases() -> Iterator[Path]:
    yield user_cache()
    import tempfile  # few need it, and it brings every kind of archive

    yield Path(tempfile.gettempdir(), f"{_NAME}-{os.getuid()}")


def _is_private(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o002
