"""Asks the one chooser, commit by commit, what would have been shown for the files a commit touched; it counts nothing.

Each file is one call of an editing tool, in the order of their names, and a few commits in a row are one session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from orbit_registry.analytics.past import Past, Step
from orbit_registry.errors import SnapshotError
from orbit_registry.push import reader
from orbit_registry.push.breadth import Breadth
from orbit_registry.push.caps import tokens
from orbit_registry.push.compile import Origin, entry_of, order_in, part_of, with_breadth
from orbit_registry.push.context import CODE, TOOL, Context
from orbit_registry.push.ledger import Ledger
from orbit_registry.push.pack import Part, pack
from orbit_registry.push.reader import DIGEST, LIST, Index, Row, read_index
from orbit_registry.push.render import render
from orbit_registry.push.select import select
from orbit_registry.records.record import Record
from orbit_registry.snapshot.redaction import free_of_secrets


@dataclass(frozen=True, slots=True)
class Shown:
    """What one commit would have been shown: places of versions, in order, and what its calls came to."""

    step: Step
    versions: tuple[int, ...]
    tokens: int
    calls: int
    speaking: int
    """Calls in which something was shown."""
    drops: dict[str, int]
    """Why records that applied were not shown in the whole commit, and how many for each reason."""


class Replay:
    """A history made ready to be walked: one index of all versions, of which each commit sees those that stood."""

    def __init__(self, past: Past, files: Sequence[str], half_life_days: float) -> None:
        """`files` are those by which a scope is called broad."""
        self.past = past
        self._then = _then(past, files, half_life_days)

    def walk(self, session: int = 1) -> Iterator[Shown]:
        """Yield what each commit would have been shown, so many commits being one session; those without files too."""
        ledger = _Session()
        for place, step in enumerate(self.past.steps):
            if place % session == 0:
                ledger = _Session()
            self._then.see(step.standing)
            yield self._asked(step, ledger)

    def applying(self, step: Step) -> set[int]:
        """Return the versions that stood before a commit and whose scope has one of its files."""
        self._then.see(step.standing)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def reaching(self, step: Step) -> set[int]:
        """Return the versions, standing or not, whose scope has one of a commit's files."""
        self._then.see(self._then.whole)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def can_be_shown(self) -> int:
        """Return the versions that can be shown at all: a bit for each."""
        return self._then.whole

    def broad(self) -> int:
        """Return the versions that no tool call shows because they apply to too much: a bit for each."""
        return self._then.broad

    def _asked(self, step: Step, ledger: Ledger) -> Shown:
        versions: list[int] = []
        drops: dict[tuple[int, str], None] = {}
        used = speaking = 0
        for file in step.touch.files:
            found = select(self._then, Context(TOOL, step.touch.at, paths=(file,), task_class=CODE), ledger)
            drops.update(((int(row.values[DIGEST]), reason), None) for row, reason in found.drops)
            if found.matches:
                speaking += 1
                used += tokens(render(found))
                versions += [int(one.row.values[DIGEST]) for one in found.matches]
        counts: dict[str, int] = {}
        for place, reason in drops:
            if place not in versions:
                counts[reason] = counts.get(reason, 0) + 1
        return Shown(step, tuple(versions), used, len(step.touch.files), speaking, counts)


class _Session(Ledger):
    """What a session was shown, in memory."""

    def __init__(self) -> None:
        super().__init__("", "replay")
        self._ids: list[str] = []

    def begin(self) -> list[str]:
        return list(self._ids)

    def add(self, ids: list[str]) -> None:
        self._ids += ids

    def end(self) -> None:
        return


class _Then(Index):
    """An index of every version, which answers with those alone that stand at the time that is looked at."""

    def __init__(self, content: bytes, words: list[int]) -> None:
        super().__init__(content, words, "", [])
        rows = [super(_Then, self).row(number) for number in range(self.records)]
        self._rows = {row.number: row for row in rows if row is not None}
        self._versions = [int(row.values[DIGEST]) for row in self._rows.values()]
        self.whole = sum(1 << place for place in self._versions)
        self.broad = sum(1 << place for place, row in zip(self._versions, self._rows.values(), strict=True)
                         if row.flags & reader.BROAD)  # fmt: skip
        self._paths: dict[str, list[int]] = {}
        self._standing = b""
        self._seen = -1

    def see(self, standing: int) -> None:
        """Look at the time when these versions stood."""
        if standing != self._seen:
            self._seen = standing
            self._standing = standing.to_bytes((self.whole | standing).bit_length() // 8 + 1, "little")

    def match(self, path: str, limit: int | None = None, everything: bool = False) -> list[int]:
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = super().match(path, None, everything)
        found = [hit for hit in known if self._stands(self._versions[hit >> 32])]
        return found if limit is None else found[:limit]

    def under(self, axis: str, word: str, limit: int | None = None, everything: bool = False) -> list[int]:
        found = [hit for hit in super().under(axis, word, None, everything) if self._stands(self._versions[hit >> 32])]
        return found if limit is None else found[:limit]

    def row(self, number: int) -> Row | None:
        return self._rows.get(number)

    def difference(self, row: Row) -> str:
        return ""

    def version_of(self, number: int) -> int:
        """Return the version that a row is."""
        return self._versions[number]

    def _stands(self, place: int) -> bool:
        return bool(self._standing[place >> 3] >> (place & 7) & 1)


def _then(past: Past, files: Sequence[str], half_life_days: float) -> _Then:
    parts = sorted(_parts(past, half_life_days), key=lambda part: (order_in(part), int(part.row[reader.DIGEST])))
    globs = {glob for part in parts for glob in part.row[reader.GLOBS].split(LIST) if glob}
    entries = {glob: entry_of(glob) or "" for glob in globs}
    content = pack(with_breadth(parts, Breadth(files, entries)), entries)
    index = read_index(content, "", [])
    if not isinstance(index, Index):
        raise SnapshotError(f"the records of then: {index.reason}", hint="this is a bug, please report it")
    return _Then(content, memoryview(content)[: reader.HEADER_WORDS * 8].cast("Q").tolist())


def _parts(past: Past, half_life_days: float) -> Iterator[Part]:
    """Yield each version that could be shown, compiled as for the index; its place stands where a hash does there."""
    for place, record in _cleaned(past):
        version = past.versions[place]
        origin = Origin(record.path, str(place), 0, 0, has_body=version.has_body)
        part = part_of(record, origin, half_life_days)
        if part.pushed:
            yield part


def _cleaned(past: Past) -> Iterable[tuple[int, Record]]:
    """Return the versions with their places, free of secrets."""
    held = [(place, one.record) for place, one in enumerate(past.versions) if one.record is not None]
    live = [(place, record) for place, record in held if record.phase == "live"]
    # Records are told apart by their paths there, and versions of one record share theirs.
    apart = [replace(record, path=f"{place}/{record.path}") for place, record in live]
    clean = free_of_secrets(apart)
    return [(place, replace(one, path=record.path)) for (place, record), one in zip(live, clean, strict=True)]
