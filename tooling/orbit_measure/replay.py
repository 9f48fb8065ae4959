"""Replay of a history: what each commit would have been shown, and what that predicts.

Each file of a commit is one call of an editing tool; a few commits in a row are one session.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orbit_measure.history import History, Step
from orbit_registry.errors import SnapshotError
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.hook.context import Context
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.compile import Origin, breadth_of, order_in, part_of, with_breadth
from orbit_registry.matching.index import Index, index_of_parts
from orbit_registry.matching.pack import Part
from orbit_registry.model import fields
from orbit_registry.model.fields import ORIGIN, Row
from orbit_registry.model.reach import CODE, TOOL
from orbit_registry.model.record import Record
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.workspace.workspace import ORBIT


@dataclass(frozen=True, slots=True)
class ReplayedCommit:
    """Versions that one commit would have been shown, and the cost of its calls."""

    step: Step
    versions: tuple[int, ...]
    tokens: int
    calls: int
    speaking: int  # calls that showed something
    drops: dict[str, int]  # number of records that applied and were not shown, by reason
    broad: tuple[int, ...] = ()  # of these, the versions that only wide globs lead to


class Replay:
    """History with one index of all versions, of which each commit sees those that were live."""

    def __init__(self, past: History, files: Sequence[str], half_life_days: float) -> None:
        """`files` decide which globs are wide; sets of versions are bit masks."""
        self.past = past
        self.files = [file for file in files if not file.startswith(f"{ORBIT}/")]
        self._index = _version_index(past, self.files, half_life_days)
        self.can_be_shown = self._index.whole

        self.scoped = 0  # those that can be shown and whose scope names a path
        self._of_record: dict[str, int] = {}

        for number, version in enumerate(past.versions):
            if (record := version.record) is not None:
                self._of_record[record.uid] = self.versions_of(record.uid) | 1 << number
                self.scoped |= (
                    bool(record.scope.paths or record.scope.symbols) << number & self.can_be_shown
                )

    def versions_of(self, uid: str) -> int:
        """Return the versions of a record."""
        return self._of_record.get(uid, 0)

    def uids(self, numbers: Iterable[int]) -> set[str]:
        """Return the records of some versions."""
        records = (self.past.versions[number].record for number in numbers)
        return {record.uid for record in records if record is not None}

    def walk(self, session: int = 1) -> Iterator[ReplayedCommit]:
        """Yield what each commit would have been shown, with `session` commits in a session."""
        ledger = MemorySession()
        for position, step in enumerate(self.past.steps):
            if position % session == 0:
                ledger = MemorySession()

            self._index.standing = step.standing
            versions: list[int] = []
            drops: set[tuple[int, str]] = set()
            used = speaking = 0

            for file in step.commit.files:
                selection = select(
                    self._index,
                    Context(TOOL, step.commit.at, paths=(file,), task_class=CODE),
                    ledger,
                )
                drops |= {(int(row.values[ORIGIN]), reason) for row, reason in selection.drops}

                if selection.matches or selection.named:
                    speaking += 1
                    used += tokens(render(selection))
                    versions += [int(match.row.values[ORIGIN]) for match in selection.matches]

            unseen = [(version, reason) for version, reason in drops if version not in versions]
            counts = Counter(reason for _, reason in unseen)
            broad = tuple(version for version, reason in unseen if reason == "broad")
            calls = len(step.commit.files)
            yield ReplayedCommit(step, tuple(versions), used, calls, speaking, counts, broad)

    def applying(self, files: Iterable[str], versions: int) -> set[str]:
        """Return the records of which one of some versions applies to a file."""
        self._index.standing = versions
        hits = chain.from_iterable(map(self._index.match, files))
        return self.uids(self._index.version_of(hit >> 32) for hit in hits)


class MemorySession(SessionLog):
    """Log of a made-up session, which no file keeps."""

    def __init__(self) -> None:
        super().__init__("", "replay")
        self._ids: list[str] = []

    def begin(self) -> list[str]:
        """Return the ids that the session was shown."""
        return list(self._ids)

    def add(self, ids: list[str], titled: Sequence[str] = ()) -> None:
        """Note ids as shown, and others as named by title."""
        self._ids += ids
        self.named.update(titled)

    def end(self) -> None:
        """Do nothing: no file is open."""


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

    def version_of(self, number: int) -> int:
        """Return the version of a row."""
        return self._versions[number]


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


BY_ID, BY_TASK = "id", "task"
_WORD = re.compile(r"[^\s\[\](){},;:'\"`<>|=]+")
_AROUND = ".!?*_/"
_SHORTEST = 3


class NameResolver:
    """Records by id, earlier id, last part of an earlier id, and task."""

    def __init__(self, records: Iterable[Record], forms: IdForms) -> None:
        self._forms = forms
        legacy: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        self._ids: dict[str, set[str]] = {}
        self._tasks: dict[str, set[str]] = {}

        for record in records:
            self._ids.setdefault(_plain(record.id), set()).add(record.uid)
            for name in record.legacy_ids:
                legacy.setdefault(_plain(name), set()).add(record.uid)
                tails.setdefault(_plain(name.rpartition("/")[2]), set()).add(record.uid)
            for name in tasks_of(record):
                self._tasks.setdefault(name, set()).add(record.uid)

        for earlier in (legacy, tails):
            self._ids = {**earlier, **self._ids}

    def cited(self, message: str) -> Mapping[str, str]:
        """Return the uids of the records that a message cites, and how: `BY_ID` or `BY_TASK`."""
        matches: dict[str, str] = {}
        words = {token.strip(_AROUND) for token in _WORD.findall(message)}
        words |= set(chain.from_iterable(word.split("/") for word in words))
        for word in words:
            for uid in self._tasks.get(word, ()):
                matches[uid] = BY_TASK

        ids = {_plain(word) for word in words} | {
            _plain(citation.id) for citation in find_citations(message, self._forms)
        }
        for name in ids:
            for uid in self._ids.get(name, ()):
                matches[uid] = BY_ID

        return matches


def tasks_of(record: Record) -> list[str]:
    """Return the ids of tasks that a record names, without words that could be anything."""
    evidence = [reference for kind, reference in record.evidence if kind == "task"]
    task_ids = dict.fromkeys([*record.words("tasks"), *record.scope.tasks, *evidence])
    return [
        name
        for name in task_ids
        if len(name) >= _SHORTEST and any(map(str.isdigit, name)) and not name.isdigit()
    ]


def _plain(name: str) -> str:
    """Return an id without leading zeros: `ADR 12` means ADR-0012."""
    word, dash, number = name.rpartition("-")
    return (
        f"{word}{dash}{int(number)}" if dash and number.isdecimal() and number.isascii() else name
    )
