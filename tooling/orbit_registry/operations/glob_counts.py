"""Number of files that each glob matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from orbit_registry.formats.globs import GlobIndex, readable_globs

Scope = tuple[str, ...]


def count_matches(texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
    """Return how many of the files each glob matches;
    one that matches none, excludes or can't be read is left out.
    """
    counts: dict[str, int] = {}
    index = _index(texts)
    for file in files if texts else ():
        for text, _ in index.match(file):
            counts[text] = counts.get(text, 0) + 1

    return counts


FilesByGlob = Mapping[str, tuple[int, list[str]]]
"""By glob: how many files a scope matches by it, and the first of them."""


def files_of_scopes(
    scopes: Mapping[str, Scope], files: Sequence[str], most: int
) -> Mapping[str, FilesByGlob]:
    """Return the files of each scope, by its key and its first glob that matches,
    `most` of each glob by name.
    """
    index = GlobIndex((key, readable_globs(texts)) for key, texts in scopes.items())
    matches: dict[str, dict[str, tuple[int, list[str]]]] = {}
    for file in files if scopes else ():
        for key, text in index.match(file):
            count, first = matches.setdefault(key, {}).get(text, (0, []))
            matches[key][text] = count + 1, [*first, file] if count < most else first

    return matches


def _index(texts: Collection[str]) -> GlobIndex[str]:
    return GlobIndex(
        [(glob.text, (glob,)) for glob in readable_globs(sorted(texts)) if not glob.exclude]
    )
