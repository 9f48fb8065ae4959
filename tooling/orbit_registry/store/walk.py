"""Lists a project's files by walking its folders, those that tools and package managers fill left out; asks no git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

FOREIGN = frozenset(
    {".git", ".hg", ".svn", ".nox", ".tox", ".venv", "venv", "node_modules", "__pycache__"}
)  # fmt: skip
"""Names of folders that hold nothing of the project's own."""


def walk(
    root: Path, below: str | Path = "", *, without: frozenset[str] = frozenset(), hidden: bool = True
) -> Iterator[str]:
    """Yield the files below a folder of the root, as paths from the root; links to folders are not followed.

    `without` names more folders to leave out; `hidden` says whether folders whose names begin with a dot count.
    """
    left_out = FOREIGN | without
    for parent, folders, names in os.walk(root / below):
        folders[:] = sorted(name for name in folders if name not in left_out and (hidden or name[0] != "."))
        prefix = os.path.relpath(parent, root).replace(os.sep, "/")
        yield from (name if prefix == "." else f"{prefix}/{name}" for name in sorted(names))
