"""Globs as the checks read them: each parsed once, counted over all files at once, and the folders that they name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from orbit_registry.text.glob_syntax import Glob, parse_glob
from orbit_registry.text.globs import GlobIndex
from orbit_registry.text.position import Problem


@lru_cache(maxsize=65_536)
def parsed(text: str) -> Glob | Problem:
    """Return a glob, or what is wrong with it."""
    return parse_glob(text)


def count_matches(texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
    """Return how many of the files each glob matches; one that matches none, excludes or can't be read is left out."""
    counts: dict[str, int] = {}
    index = _index(texts)
    for file in files:
        for text, _ in index.match(file):
            counts[text] = counts.get(text, 0) + 1
    return counts


def count_covered(scopes: Collection[tuple[str, ...]], files: Sequence[str]) -> Mapping[tuple[str, ...], int]:
    """Return how many of the files each scope matches, what its excluding globs match taken away."""
    texts = {text.removeprefix("!") for scope in scopes for text in scope}
    found: dict[str, set[int]] = {}
    index = _index(texts)
    for place, file in enumerate(files if texts else ()):
        for text, _ in index.match(file):
            found.setdefault(text, set()).add(place)
    counts: dict[tuple[str, ...], int] = {}
    for scope in scopes:
        included: set[int] = set()
        excluded: set[int] = set()
        for text in scope:
            side = excluded if text.startswith("!") else included
            side |= found.get(text.removeprefix("!"), set())
        counts[scope] = len(included - excluded)
    return counts


def _index(texts: Collection[str]) -> GlobIndex[str]:
    globs = (glob for text in sorted(texts) if isinstance(glob := parsed(text), Glob) and not glob.exclude)
    return GlobIndex([(glob.text, (glob,)) for glob in globs])


def valid_globs(paths: Sequence[str]) -> list[tuple[int, Glob]]:
    """Return the globs of a scope that can be read, with their places in its list."""
    return [(index, glob) for index, text in enumerate(paths) if isinstance(glob := parsed(text), Glob)]


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
