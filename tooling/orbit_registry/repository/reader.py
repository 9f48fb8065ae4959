"""Reader of all records of a workspace through the cache;
a bad file becomes a diagnostic and hides no other.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.judgements.in_force import read_together
from orbit_registry.judgements.status_evidence import with_evidence
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity, from_error
from orbit_registry.model.ids import is_safe_id
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import BODY, Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import Vote
from orbit_registry.repository.codec import MISPLACED, decode_record, record_of
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.repository.inherited import is_inheritable, namespaced, with_overrides
from orbit_registry.repository.votes import BROKEN, parse_votes
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.cache import FileValue, digest
from orbit_registry.workspace.files import DOCUMENT_LIMIT, decode
from orbit_registry.workspace.workspace import INHERITED, Workspace

LEGACY_LAYOUT = "ORB110"
PLURAL = "learnings"
MIGRATE = "run `orbit learning migrate-layout`; with --dry-run it says what it would do"
_OLD = re.compile(r"L-?\d+(?:-\d+)?\.yaml|L\d{8}-\d+|superseded")


def _legacy_names(plural: str, names: Iterable[str]) -> list[str]:
    """Return the names in a kind's folder that belong to an older layout: `L-0001.yaml`,
    `L20260517-3/`.
    """
    if plural != PLURAL:
        return []

    return [name for name in names if _OLD.fullmatch(name)]


def refuse_legacy_layout(workspace: Workspace, kind: Kind) -> None:
    """Raise where a kind's records are in an older layout."""
    if kind.plural != PLURAL:
        return

    try:
        names = sorted(entry.name for entry in os.scandir(workspace.folder_of(kind)))
    except OSError:
        return

    old = _legacy_names(kind.plural, names)
    if old:
        raise RefusedError(f".orbit/{kind.plural}: {_message(old)}", hint=MIGRATE)


def _message(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is in an older layout, which is not read"

    listed = ", ".join(names[:3])
    more = " …" if names[3:] else ""
    return f"{listed}{more} are in an older layout, which is not read"


UNREADABLE = "ORB101"


class RecordFolder(NamedTuple):
    """One record folder, unread."""

    kind: Kind
    path: str
    has_votes: bool
    pending: bool
    has_body: bool = False
    source: str = ""  # the name of the source that the record is inherited from

    @property
    def folder(self) -> str:
        """The record's folder, from the root."""
        return self.path.rpartition("/")[0]

    @property
    def record_id(self) -> str:
        """The id of its record."""
        name = self.folder.rpartition("/")[2]
        if self.source:
            return f"{self.source}:{name}"

        return name

    @property
    def body_path(self) -> str:
        """Path of its body file, from the root."""
        return f"{self.folder}/{BODY}"

    @property
    def votes_path(self) -> str:
        """Path of its votes, from the root."""
        return f"{self.folder}/{VOTES}"


@dataclass(frozen=True, slots=True)
class Collection:
    """All valid records, and the problems of other files."""

    records: RecordSet
    problems: tuple[Diagnostic, ...]


def digests_of(records: Iterable[Record]) -> dict[str, str]:
    """Return a hash of each record as it was read, by path; what kinds there are is none of it."""
    names = [field.name for field in fields(Record) if field.name != "kind"]
    digests = {}
    for record in records:
        values = [getattr(record, name) for name in names]
        digests[record.path] = digest(record.kind.name, values)

    return digests


def read_collection(workspace: Workspace, *, now: datetime | None = None) -> Collection:
    """Return all records of a workspace, pending ones included, and the problems of other files."""
    return Reading(workspace, now=now).collection


def record_paths(workspace: Workspace, kind: Kind) -> set[str]:
    """Return the paths of the record files of a kind; none is opened."""
    return {entry.path for entry in _entries(workspace, []) if entry.kind is kind}


class Reading:
    """State of all record files, and the records in them."""

    def __init__(self, workspace: Workspace, *, now: datetime | None = None) -> None:
        self._workspace, self._root = workspace, workspace.root
        self._inherits = bool(workspace.config.extends)
        self._now = now or datetime.now(UTC)
        self._problems: dict[str, list[Diagnostic]] = {}
        self._faulty_votes: dict[str, list[Vote]] = {}
        self._records: dict[str, Record | None] = {}

        self.misplaced: list[Diagnostic] = []  # problems of files and folders that are no record's
        self.entries = list(_entries(workspace, self.misplaced))
        self._by_path = {entry.path: entry for entry in self.entries}
        self._by_votes = {entry.votes_path: entry for entry in self.entries if entry.has_votes}

        # A file may vanish meanwhile.
        states = {path: FileValue(path) for path in (*self._by_path, *self._by_votes)}
        files = workspace.cache.files
        states |= files("records", self._root, self._by_path, self._data_in)
        states |= files("votes", self._root, self._by_votes, self._votes_in, limit=DOCUMENT_LIMIT)
        self.states: Mapping[str, FileValue] = states
        """States of record and vote files by path."""

        for path, state in states.items():
            if state.error is not None:
                self._problems[path] = [self._unreadable(path, state.error)]

    def _data_in(self, path: str, content: bytes) -> Mapping[str, object] | None:
        try:
            text = decode(content, path)
        except OrbitError as error:
            self._problems[path] = [self._unreadable(path, error)]
            return None

        record, self._problems[path] = decode_record(text, self._by_path[path].kind, path)
        if record is None:
            return None

        return record.data

    def _votes_in(self, path: str, content: bytes) -> list[list[str]] | None:
        votes: list[Vote] = []
        try:
            text = decode(content, path)
            votes, problems = parse_votes(text, path, self._by_votes[path].record_id, self._now)
        except OrbitError as error:
            problems = [self._unreadable(path, error)]

        if problems:  # not cached: a future vote becomes valid with time
            self._problems[path] = problems
            self._faulty_votes[path] = votes
            return None

        return [[vote.voter_model, vote.voted_at.isoformat(), vote.task_id] for vote in votes]

    def _unreadable(self, path: str, error: OrbitError) -> Diagnostic:
        root = str(self._root)
        entry = self._by_votes.get(path)
        if entry is None:
            return from_error(UNREADABLE, path, error, root)

        return from_error(BROKEN, path, error, root, entry.record_id)

    @cached_property
    def chosen(self) -> Sequence[RecordFolder]:
        """The record folders; of an id in both this machine's inbox and git, the one in git."""
        shared = {entry.record_id for entry in self.entries if not entry.pending}
        return [
            entry for entry in self.entries if not entry.pending or entry.record_id not in shared
        ]

    @cached_property
    def chosen_records(self) -> Sequence[Record]:
        """The records in the chosen folders."""
        paths = {entry.path for entry in self.chosen}
        return [record for record in self.collection.records if record.path in paths]

    def document_of(self, entry: RecordFolder) -> str | None:
        """Return the document that a record names."""
        record = self.record(entry)
        if record is None or not entry.kind.has_source:
            return None

        source = record.source
        if source is None:
            return None

        return source.path

    @property
    def documents(self) -> set[str]:
        """The documents that records name."""
        return set(filter(None, map(self.document_of, self.entries)))

    @cached_property
    def prose(self) -> ProseReading:
        """The prose of the records."""
        bodies = (entry.body_path for entry in self.entries if entry.has_body)
        return ProseReading(self._workspace, bodies, self.documents)

    @cached_property
    def collection(self) -> Collection:
        """The records without prose from documents, and the problems of other files."""
        records: list[Record] = []
        problems = list(self.misplaced)
        for entry in self.entries:
            record = self.record(entry)
            problems += self._problems.get(entry.path, ())
            if record is not None:
                records.append(record)
                problems += self._problems.get(entry.votes_path, ())

        if self._inherits:
            records = with_overrides(records)

        return Collection(
            RecordSet(with_evidence(read_together(records)), problems), tuple(problems)
        )

    @cached_property
    def filled(self) -> RecordSet:
        """The records with their prose."""
        return self.prose.filled(self.collection.records)

    @cached_property
    def clean(self) -> Sequence[Record]:
        """The records with their prose, those with a secret redacted."""
        return free_of_secrets(self.filled, self.without_secrets)

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """A hash of each of these records, by path."""
        return digests_of(self.clean)

    @cached_property
    def without_secrets(self) -> frozenset[str]:
        """The records, by path, of which no text holds a secret, as the cache knows.

        It stores no value with a secret. Other records may have one.
        """
        return frozenset(record.path for record in self.filled if self._is_clean(record.path))

    def _is_clean(self, path: str) -> bool:
        entry = self._by_path[path]
        has_more = entry.has_body or entry.source or entry.kind.has_source
        if has_more and path not in self.prose.clean:
            return False
        if entry.has_votes and not self.states[entry.votes_path].is_clean:
            return False

        return self.states[path].is_clean

    def record(self, entry: RecordFolder) -> Record | None:
        """Return one record; None where its file has none."""
        if entry.path not in self._records:
            self._records[entry.path] = self._record(entry)

        return self._records[entry.path]

    def _record(self, entry: RecordFolder) -> Record | None:
        data = self.states[entry.path].value
        if data is None:
            return None

        if entry.source:
            data = namespaced(data, entry.source)

        record = record_of(data, entry.kind, entry.path)
        if entry.has_votes:
            record = replace(record, votes=self._votes(entry))

        return record

    def _votes(self, entry: RecordFolder) -> tuple[Vote, ...]:
        path = entry.votes_path
        if path in self._faulty_votes:
            return tuple(self._faulty_votes[path])

        votes: list[Vote] = []
        for model, at, task in self.states[path].value or ():
            votes.append(Vote(entry.record_id, model, datetime.fromisoformat(at), task))

        return tuple(votes)


def _entries(workspace: Workspace, problems: list[Diagnostic]) -> Iterator[RecordFolder]:
    for kind in workspace.kinds:
        for pending in (False, True):
            folder = workspace.relative(workspace.folder_of(kind, pending=pending))
            yield from _entries_in(workspace, kind, folder, pending, problems)

    for source in workspace.config.extends:
        for kind in filter(is_inheritable, workspace.kinds):
            folder = f"{INHERITED}/{source.name}/{kind.plural}"
            for entry in _entries_in(workspace, kind, folder, False, problems):
                yield entry._replace(has_votes=False, source=source.name)


def _entries_in(
    workspace: Workspace,
    kind: Kind,
    folder: str,
    pending: bool,
    problems: list[Diagnostic],
) -> Iterator[RecordFolder]:
    try:
        names = _list_folder(f"{workspace.root}/{folder}")
    except FileNotFoundError:
        return
    except OSError as error:
        problems.append(_unlistable(folder, (error.strerror or "").lower()))
        return

    old = frozenset(_legacy_names(kind.plural, names))
    if old:
        message, where = _message(sorted(old)), Location(folder)
        problems.append(Diagnostic(LEGACY_LAYOUT, Severity.ERROR, message, where, MIGRATE))

    record_file = f"{kind.name}.yaml"
    for name in names:
        if name in old or name.startswith("."):
            continue

        path = f"{folder}/{name}"
        try:
            files = _list_folder(f"{workspace.root}/{path}") if is_safe_id(name) else None
        except NotADirectoryError:
            files = None
        except OSError:
            problems.append(_unlistable(path, "see its owner and permissions"))
            continue

        if files is None:
            problems.append(_misplaced(path, f"`{name}` is not the folder of a record", kind))
        elif record_file in files:
            record_path = f"{path}/{record_file}"
            yield RecordFolder(kind, record_path, VOTES in files, pending, BODY in files)
        elif any(file[0] != "." for file in files):
            # A folder may be empty while its record is written or moved.
            problems.append(_misplaced(path, f"the folder holds no {record_file}", kind, name))


def _list_folder(folder: str) -> list[str]:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
    return sorted(os.listdir(folder))


def _unlistable(folder: str, reason: str) -> Diagnostic:
    hint = "make it a folder that can be read, and no symbolic link"
    return Diagnostic(
        UNREADABLE,
        Severity.ERROR,
        f"can't be listed: {reason}",
        Location(folder),
        hint,
    )


def _misplaced(path: str, message: str, kind: Kind, folder: str = "") -> Diagnostic:
    severity = Severity.ERROR
    remedy = "move the file there, or delete it"
    if folder and not folder.startswith(kind.prefix):
        severity = Severity.WARNING
        remedy = (
            "if another program keeps this folder, leave it, and let `orbit baseline update` "
            "take it in"
        )

    hint = f"records are at .orbit/{kind.file_of('<ID>')}; {remedy}"
    return Diagnostic(MISPLACED, severity, message, Location(path), hint)
