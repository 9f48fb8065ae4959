"""Globs as the checks read them: each parsed once, and how many files each matches, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from orbit_registry.text.glob_syntax import Glob, parse_glob
from orbit_registry.text.globs import GlobIndex
from orbit_registry.text.position import Problem


@lru_cache(maxsize=65_536)
def parsed(text: str) -> Glob | Problem:
    """Return a glob, or what is wrong with it."""
    return parse_glob(text)


def count_matches(texts: Iterable[str], files: Iterable[str]) -> Mapping[str, int]:
    """Return how many of the files each glob matches; excluding and unreadable globs are left out."""
    globs = (glob for text in sorted(texts) if isinstance(glob := parsed(text), Glob) and not glob.exclude)
    counts: dict[str, int] = {}
    index: GlobIndex[str] = GlobIndex([(glob.text, (glob,)) for glob in globs])
    for file in files:
        for text, _ in index.match(file):
            counts[text] = counts.get(text, 0) + 1
    return counts
