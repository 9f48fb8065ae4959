"""One index of all versions of the records of a history; each commit sees those that were live."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from orbit_measure.history import History, Step
from orbit_registry.errors import SnapshotError
from orbit_registry.hook.context import Context, Selection
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog
from orbit_registry.matching.compile import Origin, breadth_of, order_in, part_of, with_breadth
from orbit_registry.matching.index import Index, index_of_parts
from orbit_registry.matching.pack import Part
from orbit_registry.model import fields
from orbit_registry.model.fields import ORIGIN, Row
from orbit_registry.model.reach import CODE, TOOL
from orbit_registry.model.record import Record
from orbit_registry.repository.guard import free_of_secrets


class Versions:
    """All versions of a history's records, as one index; sets of versions are bit masks."""

    def __init__(self, past: History, files: Sequence[str], half_life_days: float) -> None:
        """`files` decide which globs are wide."""
        self._past = past
        self._index = _version_index(past, files, half_life_days)
        self._of_record: dict[str, int] = {}

        scoped = 0
        for number, version in enumerate(past.versions):
            if (record := version.record) is not None:
                self._of_record[record.uid] = self._of_record.get(record.uid, 0) | 1 << number
                scoped |= bool(record.scope.paths or record.scope.symbols) << number

        self.scoped = scoped & self._index.whole  # can be shown, and the scope names a path

    def of_record(self, uid: str) -> int:
        """Return the versions of a record that can be shown."""
        return self._of_record.get(uid, 0) & self._index.whole

    def uids(self, rows: Iterable[Row]) -> set[str]:
        """Return the records of some rows of the index."""
        versions = (self._past.versions[int(row.values[ORIGIN])] for row in rows)
        return {version.record.uid for version in versions if version.record is not None}

    def edit(self, step: Step, file: str, log: SessionLog) -> Selection:
        """Return what the edit of a file would have shown before a commit."""
        self._index.standing = step.standing
        context = Context(TOOL, step.commit.at, paths=(file,), task_class=CODE)
        return select(self._index, context, log)

    def applying(self, step: Step) -> set[str]:
        """Return the records of which a version before a commit applies to one of its files."""
        self._index.standing = step.standing
        hits = chain.from_iterable(map(self._index.match, step.commit.files))
        return self.uids(self._index.row(hit >> 32) for hit in hits)


class _VersionIndex(Index):
    def __init__(self, index: Index) -> None:
        super().__init__(index.source, "")
        self._rows = list(map(super().row, range(self.records)))
        self._versions = [int(row.values[ORIGIN]) for row in self._rows]
        self.whole = sum(1 << version for version in self._versions)

        self._paths: dict[str, list[int]] = {}
        self.standing = 0  # versions that it answers with

    def match(self, path: str, everything: bool = False) -> list[int]:
        if path not in self._paths:
            self._paths[path] = super().match(path, everything)
        return self._standing_hits(self._paths[path])

    def hits_under(self, axis: str, word: str, everything: bool = False) -> list[int]:
        return self._standing_hits(super().hits_under(axis, word, everything))

    def _standing_hits(self, hits: Iterable[int]) -> list[int]:
        return [hit for hit in hits if self.standing >> self._versions[hit >> 32] & 1]

    def row(self, number: int) -> Row:
        return self._rows[number]

    def difference(self, row: Row) -> str:
        return ""


def _version_index(past: History, files: Sequence[str], half_life_days: float) -> _VersionIndex:
    parts = sorted(
        _parts(past, half_life_days),
        key=lambda part: (order_in(part), int(part.row[fields.ORIGIN])),
    )
    scopes = (part.row[fields.GLOBS].split(fields.LIST) for part in parts)
    index = index_of_parts(with_breadth(parts, breadth_of(scopes, files)))

    if not isinstance(index, Index):
        raise SnapshotError(
            f"the records of then: {index.reason}", hint="this is a bug, please report it"
        )

    return _VersionIndex(index)


def _parts(past: History, half_life_days: float) -> Iterator[Part]:
    for number, record in _without_secrets(past):
        version = past.versions[number]
        origin = Origin(has_body=version.has_body, label=str(number))
        part = part_of(record, origin, half_life_days)
        if part.pushed:
            yield part


def _without_secrets(past: History) -> Iterable[tuple[int, Record]]:
    recorded = [
        (number, version.record)
        for number, version in enumerate(past.versions)
        if version.record is not None
    ]
    live = [(number, record) for number, record in recorded if record.phase == "live"]
    # `free_of_secrets` identifies records by path, and versions of one record share it.
    apart = [replace(record, path=f"{number}/{record.path}") for number, record in live]
    clean = free_of_secrets(apart)

    return [
        (number, replace(cleaned, path=record.path))
        for (number, record), cleaned in zip(live, clean, strict=True)
    ]
