"""The globs of a scope and the folders they name; shared by these checks and by what tells of a glob once written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from orbit_registry.text.globs import Glob, parse_glob


def valid_globs(paths: Sequence[str]) -> list[tuple[int, Glob]]:
    """Return the globs of a scope that can be read, with their places in its list."""
    return [(index, glob) for index, text in enumerate(paths) if isinstance(glob := parse_glob(text), Glob)]


def folders_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the folders in each folder, the root's under the empty name."""
    found: dict[str, list[str]] = {"": []}
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in found:
            found[folder] = []
            folder = folder.rpartition("/")[0]
    for folder in found:
        if folder:
            parent, _, name = folder.rpartition("/")
            found[parent].append(name)
    return found


def nearest(prefix: str, folders: Mapping[str, list[str]]) -> tuple[str, str | None] | None:
    """Return which part of the path is gone, in words, and the folder nearest to it; None where the path is there."""
    found = around(prefix, folders)
    if found is None:
        return None
    inside, name, others = found
    near = difflib.get_close_matches(name, others, n=1, cutoff=0.6)
    return f"`{inside}{name}` is not there", f"{inside}{near[0]}" if near else None


def around(prefix: str, folders: Mapping[str, list[str]]) -> tuple[str, str, list[str]] | None:
    """Return the folder in which a part of the path is gone, with `/`, that part, and the names of those there."""
    if not prefix or prefix in folders:
        return None
    parent, _, name = prefix.rpartition("/")
    while parent and parent not in folders:
        parent, _, name = parent.rpartition("/")
    return f"{parent}/" if parent else "", name, folders[parent]
