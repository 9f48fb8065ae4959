"""Turns a path given on the command line into one from the workspace's root; it looks into no file."""

from __future__ import annotations

import os
from pathlib import Path

from orbit_registry.errors import UsageError
from orbit_registry.registry import Registry


def from_root(registry: Registry, path: str) -> str:
    """Return a path given from where the command runs as one from the workspace's root.

    Raises:
        UsageError: it is outside.
    """
    root = registry.workspace.root.resolve()
    normal = Path(os.path.normpath(Path.cwd().resolve() / path))
    if not normal.is_relative_to(root):
        raise UsageError(f"{path!r} is outside the workspace {root}", hint="name a file or folder inside it")
    return normal.relative_to(root).as_posix()
