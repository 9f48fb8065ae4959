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
    if not texts:
        return counts

    index = _index(texts)
    for file in files:
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
    matches: dict[str, dict[str, tuple[int, list[str]]]] = {}
    if not scopes:
        return matches

    index = GlobIndex((key, readable_globs(texts)) for key, texts in scopes.items())
    for file in files:
        for key, text in index.match(file):
            of_scope = matches.setdefault(key, {})
            count, first = of_scope.get(text, (0, []))
            if count < most:
                first.append(file)

            of_scope[text] = count + 1, first

    return matches


def _index(texts: Collection[str]) -> GlobIndex[str]:
    globs = readable_globs(sorted(texts))
    return GlobIndex([(glob.text, (glob,)) for glob in globs if not glob.exclude])
