"""Number of files that each glob matches, and the share of recent edits that each scope has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from orbit_registry.errors import GitError, GitStoppedError
from orbit_registry.formats.globs import GlobIndex, match_any, readable_globs
from orbit_registry.workspace.git import edited_files
from orbit_registry.workspace.workspace import Workspace

SHARE = 0.15  # share of edits above which a scope is broad
COMMITS, FEWEST_COMMITS, FEWEST_FILES = 300, 30, 20
"""Commits that are looked at, and the fewest commits, else files,
in which a share says something.
"""
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


def _index(texts: Iterable[str]) -> GlobIndex[str]:
    globs = readable_globs(sorted(texts))
    return GlobIndex([(glob.text, (glob,)) for glob in globs if not glob.exclude])


@dataclass(frozen=True, slots=True)
class Edits:
    """Files that were edited together, newest first:
    those of a commit, or in a short history each tracked file.
    """

    groups: Sequence[Sequence[str]]
    unit: str

    @classmethod
    def of(cls, commits: Sequence[Sequence[str]], tracked: Iterable[str]) -> Edits:
        """Return the last `COMMITS` commits, given newest first;
        of fewer than `FEWEST_COMMITS` the tracked files.
        """
        if len(commits) >= FEWEST_COMMITS:
            return cls(commits[:COMMITS], "of the last {:,} commits edit files in it")

        return cls(
            [(file,) for file in tracked],
            "of {:,} tracked files are in it, and the history has few commits",
        )

    def described(self, count: int) -> str:
        """Return how many of the edits a scope has, in words."""
        return f"{count:,} {self.unit.format(len(self.groups))}"

    def broad_scopes(self, scopes: Iterable[Scope]) -> Mapping[Scope, int]:
        """Return the scopes that have more than `SHARE` of the edits, with how many they have."""
        if len(self.groups) < FEWEST_FILES:
            return {}

        requested = dict.fromkeys(scopes)
        edits = _edits_of_files(self.groups)
        of_glob: dict[str, int] = {}
        index = _index(set().union(*requested))

        for file, bits in edits.items():
            for text, _ in index.match(file):
                of_glob[text] = of_glob.get(text, 0) | bits

        most = SHARE * len(self.groups)
        counts: dict[Scope, int] = {}
        for scope in requested:
            count = _union(of_glob.get(text, 0) for text in scope).bit_count()
            if count > most and any(text.startswith("!") for text in scope):
                globs = readable_globs(scope)
                matched = (bits for file, bits in edits.items() if match_any(globs, file))
                count = _union(matched).bit_count()

            if count > most:
                counts[scope] = count

        return counts


def _edits_of_files(groups: Sequence[Sequence[str]]) -> Mapping[str, int]:
    edits: dict[str, int] = {}
    for position, files in enumerate(groups):
        for file in files:
            edits[file] = edits.get(file, 0) | 1 << position
    return edits


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def recent_edits(workspace: Workspace, tracked: Iterable[str]) -> Edits:
    """Return the edits of the newest commits without merges, but for those of records alone;
    read once a commit.
    """
    git = workspace.git
    commits: Sequence[Sequence[str]] = []
    try:
        head = git.head()
        if head:
            commits = workspace.cache.memo("edits", head, lambda: edited_files(git, COMMITS))
    except GitStoppedError:
        raise
    except GitError:
        pass

    return Edits.of(commits, tracked)
