"""Number of files that each glob matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.workspace.cache import Cache, digest

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


Count = Callable[[Collection[str], Sequence[str]], Mapping[str, int]]
"""`count_matches`, or what answers as it does."""


FEW_FILES = 0.1
"""Share of the files that may come or go before all are counted again."""


def counter_in(cache: Cache, name: str) -> Count:
    """Return `count_matches`, whose last answer the cache has under a name.

    In a repository of 100,000 files it took .5 s at each call, and few calls follow a new glob or
    file. What is new is counted alone: a glob, and files, of which each new record is one.
    """
    counts_of, files_of = f"counts of globs {name}", f"files of globs {name}"

    def count(texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        key = digest(files)
        counts: dict[str, int] | None = cache.recall(counts_of, key)
        is_known = counts is not None
        if counts is None:
            earlier_key, earlier_files = cache.recall(files_of, "") or ["", []]
            counts = _after(cache.recall(counts_of, earlier_key), earlier_files, files)
            # Names of files are no texts of records: they are not searched for secrets.
            cache.remember(files_of, "", [key, list(files)], is_clean=True)

        new = [text for text in texts if text not in counts]
        counts |= {**dict.fromkeys(new, 0), **count_matches(new, files)}
        if new or not is_known:
            cache.remember(counts_of, key, counts)

        return {text: counts[text] for text in texts if counts[text]}

    return count


def _after(
    counts: dict[str, int] | None, earlier: Sequence[str], files: Sequence[str]
) -> dict[str, int]:
    """Return the counts of globs after some files came and went; none where that is many."""
    came = list((Counter(files) - Counter(earlier)).elements())
    went = list((Counter(earlier) - Counter(files)).elements())
    if counts is None or len(came) + len(went) > FEW_FILES * len(files):
        return {}

    for text, number in count_matches(counts, came).items():
        counts[text] += number
    for text, number in count_matches(counts, went).items():
        counts[text] -= number

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
