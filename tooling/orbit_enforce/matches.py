"""What checks find in a tree of files, and what of that a change brings in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orbit_enforce.allowances import Allow, allowances, allows_in
from orbit_enforce.kind import Finder, Match, Survey, Tree
from orbit_enforce.spec import DecisionCheck
from orbit_registry.formats.code_tree import NotRunError
from orbit_registry.formats.globs import GlobIndex

WHOLE_FILE = Match(1, 1, 1 << 30, "", "")
"""What a file without a match that it must have has: an allowance on any of its lines is for it."""


@dataclass(frozen=True, slots=True)
class FileMatches:
    """What the checks find in one file."""

    matches: Mapping[str, Sequence[Match]]
    """By the name of the check."""
    allows: Sequence[Allow] = ()
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Why a check could not be run, by its name."""

    def as_json(self) -> list[object]:
        """Return what the cache stores."""
        return [self.matches, self.allows, self.not_run]

    @classmethod
    def from_json(cls, value: Any) -> FileMatches:
        """Return what the cache stored."""
        matches, allows, not_run = value
        by_name: dict[str, list[Match]] = {}
        for name, rows in matches.items():
            by_name[name] = [Match(*row) for row in rows]

        return cls(by_name, [Allow(*row) for row in allows], not_run)


class Break(NamedTuple):
    """What breaks a check."""

    path: str
    """Empty: the tree."""
    key: tuple[str, str]
    """By which one is known that was there before a change."""
    what: str
    match: Match | None = None
    allow: Allow | None = None
    """The comment that allows it."""


Readers = dict[str, list[str]]
"""The checks that read each file, by their names."""


class Scopes(NamedTuple):
    """Which files each check is about, and which checks read each file."""

    files: dict[str, list[str]]
    readers: Readers


def read_file(checks: Iterable[DecisionCheck], path: str, text: str) -> FileMatches:
    """Return what checks find in a file."""
    matches: dict[str, Sequence[Match]] = {}
    not_run: dict[str, str] = {}
    for check in checks:
        try:
            if isinstance(check.finder, Finder) and (rows := [*check.finder.find(path, text)]):
                matches[check.name] = rows
        except NotRunError as error:
            not_run[check.name] = str(error)

    return FileMatches(matches, [*allows_in(path, text)], not_run)


def scopes_of(checks: Mapping[str, DecisionCheck], paths: Iterable[str]) -> Scopes:
    """Return the scopes of checks, which have their names, in some files."""
    index = GlobIndex([(name, check.globs) for name, check in checks.items()])
    files: dict[str, list[str]] = {name: [] for name in checks}
    readers: Readers = {}
    for path in paths:
        for name, _ in index.match(path):
            files[name].append(path)
            finder = checks[name].finder
            if isinstance(finder, Finder) and finder.reads(path):
                readers.setdefault(path, []).append(name)

    return Scopes(files, readers)


@dataclass
class Side:
    """The files before or after a change, and what the checks find in those that it touches
    (without one: in all).
    """

    tree: Tree
    readers: Readers
    values: Mapping[str, FileMatches]
    scope: Callable[[DecisionCheck], Sequence[str]]
    """Returns the files that a check is about."""
    earlier: Mapping[str, str] = field(default_factory=dict)
    """The names of the touched files before the change."""

    def breaks(self, check: DecisionCheck) -> Iterator[Break]:
        """Yield what breaks a check; raises NotRunError."""
        if isinstance(check.finder, Survey):
            for path, what in check.finder.find(self.tree, self.scope(check)):
                yield Break(path, (path, what), what)
        elif check.demands_one:
            if not self._has_match(check, check.finder):
                yield Break("", ("", ""), "a missing entry")
        else:
            for path, value in self.values.items():
                matches = value.matches.get(check.name, ())
                if check.must == "have":
                    is_lacking = (
                        check.name in self.readers[path]
                        and not matches
                        and check.name not in value.not_run
                    )
                    matches = [WHOLE_FILE] if is_lacking else ()

                for match, allow in (
                    allowances(check.name, matches, value.allows) if matches else ()
                ):
                    if match == WHOLE_FILE:
                        key = (self.earlier.get(path, path), "")
                    else:
                        key = ("", match.lines)

                    yield Break(path, key, f"`{match.text or path}`", match, allow)

    def _has_match(self, check: DecisionCheck, finder: Finder) -> bool:
        """Say whether a file has what a check demands once, or can't be read."""
        if any(
            check.name in value.matches or check.name in value.not_run
            for value in self.values.values()
        ):
            return True

        for path in self.scope(check):
            if path in self.values or not finder.reads(path):
                continue

            try:
                if any(True for _ in finder.find(path, self.tree.text(path) or "")):
                    return True
            except NotRunError:
                return True

        return False


def new_breaks(
    rows: list[Break], before: Iterable[Break], is_added: Callable[[Break], bool]
) -> list[Break]:
    """Return the rows that were not there before.

    Equal ones count as moved as often as they were there before; of the others the added ones are
    new. What a comment allowed before excuses no other place, and not its own without the comment.
    """
    counts = Counter(row.key for row in rows)
    rest = Counter(counts)
    rest.subtract(row.key for row in before if row.allow is None)
    rows.sort(key=lambda row: 0 < rest[row.key] < counts[row.key] and not is_added(row))
    new = []

    for row in rows:
        if rest[row.key] > 0:
            rest[row.key] -= 1
            new.append(row)

    return new
