"""Which globs are wide, and at how many files a record of wide globs finds no place."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.model.reach import WIDE_PLACES
from orbit_registry.model.scope import USES
from orbit_registry.operations.glob_counts import Count, Scope, count_matches
from orbit_registry.workspace.workspace import ORBIT

SHARE = 0.15
FEW = 20
"""A glob is wide if it covers more than this share of the tracked files, and more than so many."""


@dataclass(frozen=True, slots=True)
class Breadth:
    """Wide globs of some scopes, judged by the tracked files outside `.orbit`."""

    files: int
    """Tracked files outside `.orbit`."""
    wide: Mapping[Scope, Mapping[str, int]]
    """By scope its wide globs, with how many files each covers that the scope does not exclude."""
    crowds: Mapping[frozenset[Scope], int]
    """Scopes that reach a file by wide globs alone, with how many files have just these;
    only where more records compete than there are places.
    """

    @classmethod
    def of(
        cls,
        scopes: Iterable[Scope],
        tracked: Iterable[str],
        importers: Mapping[str, Sequence[str]] = MappingProxyType({}),
        count: Count = count_matches,
    ) -> "Breadth":
        """Judge the scopes of all records that can be shown, one a record.

        `importers` are the files of the packages and modules among the globs, `count` says how many
        files each glob matches.
        """
        files = [file for file in tracked if not file.startswith(f"{ORBIT}/")]
        records = Counter(scopes)
        wide = dict(_wide_globs(records, files, importers, count))

        def are_too_many(competing: Iterable[Scope]) -> bool:
            return sum(records[scope] for scope in competing) > WIDE_PLACES

        # Few projects have so many records of wide globs that the files have to be looked at.
        crowds: Counter[frozenset[Scope]] = Counter()
        if are_too_many(wide):
            reached = _reached_by_wide_globs(wide, files, importers)
            crowds.update(filter(are_too_many, reached))

        return cls(len(files), wide, crowds)

    def withheld(self, ranked: Sequence[Scope]) -> list[int]:
        """Return for each record, given by its scope and the best first,
        at how many files it finds no place.
        """
        positions: dict[Scope, list[int]] = {}
        for position, scope in enumerate(ranked):
            positions.setdefault(scope, []).append(position)

        counts = [0] * len(ranked)
        for crowd, files in self.crowds.items():
            competing: list[int] = []
            for scope in crowd:
                competing += positions.get(scope, ())

            for position in sorted(competing)[WIDE_PLACES:]:
                counts[position] += files

        return counts

    def reason(self, scope: Scope) -> str:
        """Return why files of a scope with a wide glob have no place for its record."""
        wide = self.wide[scope]
        widest = max(wide, key=wide.__getitem__)
        covered = f"`{widest.removeprefix(USES)}` covers {wide[widest]:,} of {self.files:,}"
        return (
            f"only wide globs lead to it there ({covered} tracked files), and {WIDE_PLACES} "
            "records with such globs come first"
        )

    def lines(self) -> list[str]:
        """Return what the judgement on each edit depends on, as texts in a fixed order."""
        wide = (f"{scope} {sorted(globs)}" for scope, globs in self.wide.items())
        crowds = (f"{sorted(crowd)}" for crowd in self.crowds)
        return [*sorted(wide), *sorted(crowds)]


def _wide_globs(
    scopes: Collection[Scope],
    files: Sequence[str],
    importers: Mapping[str, Sequence[str]],
    count: Count,
) -> Iterator[tuple[Scope, Mapping[str, int]]]:
    least = max(FEW, SHARE * len(files))
    covered = dict(count(set().union(*scopes), files))
    covered |= {text: len(paths) for text, paths in importers.items()}

    for scope in scopes:
        globs = {text: covered[text] for text in scope if covered.get(text, 0) > least}
        if globs and any(text.startswith("!") for text in scope):
            excluding = [text for text in scope if text.startswith("!")]
            counts = {
                text: _remaining(text, excluding, importers.get(text, files)) for text in globs
            }
            globs = {text: number for text, number in counts.items() if number > least}

        if globs:
            yield scope, globs


def _remaining(text: str, excluding: Sequence[str], files: Sequence[str]) -> int:
    """Return how many files a glob covers of those that the others do not exclude.

    Of a package, the files are those that import it.
    """
    including = "**" if text.startswith(USES) else text
    index = GlobIndex([(text, readable_globs([including, *excluding]))])
    return sum(bool(index.match(file)) for file in files)


def _reached_by_wide_globs(
    wide: Mapping[Scope, Mapping[str, int]],
    files: Sequence[str],
    importers: Mapping[str, Sequence[str]],
) -> Iterator[frozenset[Scope]]:
    """Yield for each file the scopes of which only wide globs match it."""
    # The index names the first glob that matches: with the wide ones last, it is a wide one
    # only where no other matches.
    narrow_first = (
        (scope, readable_globs(sorted(scope, key=wide[scope].__contains__))) for scope in wide
    )
    index = GlobIndex(narrow_first)
    packages = set().union(*wide).intersection(importers)
    imports: dict[str, set[str]] = {}
    for text in packages:
        for file in importers[text]:
            imports.setdefault(file, set()).add(text)

    for file in files:
        by_globs = {scope: text in wide[scope] for scope, text in index.match(file)}
        by_imports = imports.get(file)
        if by_imports:
            for scope in wide:
                for text in by_imports.intersection(scope):
                    by_globs[scope] = by_globs.get(scope, True) and text in wide[scope]

        yield frozenset(scope for scope, is_wide in by_globs.items() if is_wide)
