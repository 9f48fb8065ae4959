"""Number of files that each glob or scope matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from orbit_registry.formats.globs import Glob, GlobIndex, parse_glob


def count_matches(texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
    """Return how many of the files each glob matches; one that matches none, excludes or can't be read is left out."""
    counts: dict[str, int] = {}
    index = _index(texts)
    for file in files if texts else ():
        for text, _ in index.match(file):
            counts[text] = counts.get(text, 0) + 1
    return counts


def count_covered(scopes: Collection[tuple[str, ...]], files: Sequence[str]) -> Mapping[tuple[str, ...], int]:
    """Return how many of the files each scope matches, what its excluding globs match taken away."""
    texts = {text.removeprefix("!") for scope in scopes for text in scope}
    matches: dict[str, set[int]] = {}
    index = _index(texts)
    for number, file in enumerate(files if texts else ()):
        for text, _ in index.match(file):
            matches.setdefault(text, set()).add(number)
    counts: dict[tuple[str, ...], int] = {}
    for scope in scopes:
        included: set[int] = set()
        excluded: set[int] = set()
        for text in scope:
            side = excluded if text.startswith("!") else included
            side |= matches.get(text.removeprefix("!"), set())
        counts[scope] = len(included - excluded)
    return counts


def _index(texts: Collection[str]) -> GlobIndex[str]:
    globs = (glob for text in sorted(texts) if isinstance(glob := parse_glob(text), Glob) and not glob.exclude)
    return GlobIndex([(glob.text, (glob,)) for glob in globs])
