"""Reads a whole collection of records, parsing only what changed; a bad file becomes diagnostics and hides no other."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.kinds.table import Kind, KindTable
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.freshness import inputs_of, taken_from
from orbit_registry.records.ids import is_safe_id
from orbit_registry.records.record import BODY, Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.records.vote import Vote
from orbit_registry.store.cache import MISSING, FileCache, FileState
from orbit_registry.store.codec import MISPLACED, decode_record, record_of
from orbit_registry.store.files import DOCUMENT_LIMIT, RECORD_LIMIT, decode
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.old_layout import old_layout_problem, old_names
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.votes import AHEAD, BROKEN, parse_votes
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.workspace import CACHE, Workspace

UNREADABLE = "ORB101"
NAMING = frozenset({"source", "freshness", "evidence"})
"""Fields by which a record names what stands outside the collection."""
PROOFS = frozenset({"commit", "file", "task"})
"""Kinds of evidence that can be looked for."""
_UNLISTED = ["?"]
"""The names in a folder that may not be listed: none that a record has."""
_UNUSUAL = re.compile(r"\\[ubf]")
"""How JSON in ASCII writes what no English keyboard types."""


class Entry(NamedTuple):
    """One record folder as it stands on disk, unread."""

    kind: Kind
    path: str
    has_votes: bool
    pending: bool
    has_body: bool = False

    @property
    def folder(self) -> str:
        """The record's folder, from the root."""
        return self.path.rpartition("/")[0]

    @property
    def body_path(self) -> str:
        """Where its prose stands if no document holds it, from the root."""
        return f"{self.folder}/{BODY}"


@dataclass(frozen=True, slots=True)
class Collection:
    """What was read: the valid records, and what is wrong with the other files."""

    records: RecordSet
    problems: tuple[Diagnostic, ...]


def read_collection(workspace: Workspace, *, now: datetime | None = None, explain: bool = True) -> Collection:
    """Return every record of a workspace, those in the inbox among them, and every file that holds none.

    Without `explain` files with wrong fields are left out in silence, for callers that ask for the records alone.
    """
    return Reading(workspace, now=now, explain=explain).collection


class Named(NamedTuple):
    """What a record names outside the collection, known without building it."""

    document: str | None
    """The document that holds its prose."""
    status: str
    is_dated: bool
    """Whether it states something about its freshness."""
    inputs: Sequence[str]
    """Its fingerprint."""
    evidence: Sequence[Sequence[str]]
    """Its commits, files and tasks, each a kind and a reference."""
    taken: Sequence[str] = ()
    """The file that its text was taken from and the hash that had, where there is one."""


class Reading:
    """One pass over the files of all records: hashes at once, records when they are asked for."""

    def __init__(self, workspace: Workspace, *, now: datetime | None = None, explain: bool = True) -> None:
        self._workspace = workspace
        self._explain = explain
        self._now = now or datetime.now(UTC)
        self.misplaced: list[Diagnostic] = []
        """What stands where the folder of a record should."""
        self._cache = cache_of(workspace, "records")
        self._fresh: dict[str, tuple[Record | None, list[Diagnostic]]] = {}
        self.entries = list(entries(workspace, self.misplaced, self._cache))
        self.states: dict[str, FileState] = {}
        """Record and vote files by path."""
        self.unkept: set[str] = set()
        """The paths of records of which a file was parsed and not kept; in the files of the others no secret stands."""
        self.usual: set[str] = set()
        """The paths of records whose files were parsed now and hold nothing but what an English keyboard types."""
        known = self._cache.unchanged((entry.path for entry in self.entries), valued=True)
        for entry in self.entries:
            state = known.get(entry.path)
            if state is None or entry.has_votes:
                self._look_at(entry, state or self._cache.state(entry.path))
            else:
                self.states[entry.path] = state

    def _look_at(self, entry: Entry, state: FileState) -> None:
        if not self._cache.has_value(state):
            self._parse(entry, state)
        self.states[entry.path] = state._replace(content=None) if state.content else state
        if entry.has_votes:
            path = f"{entry.folder}/{VOTES}"
            self.states[path] = self._cache.state(path, DOCUMENT_LIMIT)

    def _parse(self, entry: Entry, state: FileState) -> tuple[Record | None, list[Diagnostic]]:
        found = self._fresh[entry.path] = _decoded(self._workspace, self._cache, entry, state, explain=self._explain)
        record, problems = found
        # What `text.yaml.load` returns is what JSON can say.
        said = None
        if record and not problems:
            said = self._cache.keep(state, record.data, _named(record), mark=_document(record), plain=True)
        if said is None:
            self.unkept.add(entry.path)
        elif _UNUSUAL.search(said) is None:
            self.usual.add(entry.path)
        return found

    def named(self, entry: Entry) -> Named | None:
        """Return what a record names, without building the record; None where it names nothing."""
        found = self._names.get(entry.path)
        if found is None and entry.path in self._fresh:
            record, _ = self._fresh[entry.path]
            return _named(record) if record is not None else None
        return found

    @cached_property
    def _names(self) -> Mapping[str, Named]:
        notes = self._cache.notes.items()
        return {
            path: one if isinstance(one, Named) else Named(*one) for path, one in notes if isinstance(one, Sequence)
        }

    def document_of(self, entry: Entry) -> str | None:
        """Return the document that a record names, without building the record."""
        document = self._cache.mark(entry.path)
        if not document and (record := self._fresh.get(entry.path, (None, ()))[0]) is not None:
            document = _document(record)
        return document or None

    @property
    def is_steady(self) -> bool:
        """Whether all that was read so far had the hashes of `states`; else nothing is to be kept under these."""
        return self._cache.is_steady

    @property
    def listed(self) -> Mapping[str, Sequence[str]]:
        """The folders of kinds and of records, each with the names in it."""
        return self._cache.listed

    @property
    def still(self) -> tuple[str, set[str]]:
        """What tells the kept state of the records' files from another, and which of them stand as it says."""
        return self._cache.still

    @property
    def documents(self) -> set[str]:
        """The documents that records name."""
        return {path for entry in self.entries if (path := self.document_of(entry)) is not None}

    @cached_property
    def collection(self) -> Collection:
        """The records, without the prose that stands in documents, and every file that holds none."""
        records: list[Record] = []
        problems = list(self.misplaced)
        held = self._cache.values(self.states[one.path] for one in self.entries if one.path not in self._fresh)
        for entry in self.entries:
            record, found = self._read(entry, held.pop(entry.path, MISSING))
            problems += found
            if record is not None:
                records.append(record)
        self.save()
        return Collection(RecordSet(records, problems), tuple(problems))

    @cached_property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong with files, asked only of those in which nothing is remembered to be right."""
        problems = list(self.misplaced)
        for entry in self.entries:
            votes = self.states[f"{entry.folder}/{VOTES}"] if entry.has_votes else None
            if entry.path in self._fresh or (votes is not None and not self._cache.has_value(votes)):
                problems += self._read(entry)[1]
        return tuple(problems)

    def is_broken(self, entry: Entry) -> bool:
        """Say whether a record's file holds none."""
        return entry.path in self._fresh and self._fresh[entry.path][0] is None

    def hashed(self, purpose: str, lines: Callable[[], Iterable[str]]) -> str:
        """Return a hash of what `lines` says of all records' files; it is not asked where none changed since."""
        whole = self._cache.whole
        kept = KeptValue(self._workspace, f"{purpose}-files", whole) if whole is not None else None
        found = kept.value.get("hash") if kept is not None else None
        if not isinstance(found, str):
            found = hashlib.sha256("\n".join(lines()).encode("utf-8", "surrogateescape")).hexdigest()
            if kept is not None:
                kept.keep({"hash": found})
        return found

    def save(self) -> None:
        """Keep what was read for the next run."""
        self._cache.save()

    def record(self, entry: Entry) -> Record | None:
        """Return one record without reading the others; None where its file holds none."""
        return self._read(entry)[0]

    def _read(self, entry: Entry, data: object = MISSING) -> tuple[Record | None, list[Diagnostic]]:
        """Return a record and what is wrong with it; `data` is what is kept of its file, where that was asked."""
        found = self._fresh.get(entry.path)
        if found is None:
            state = self.states[entry.path]
            data = self._cache.value(state) if data is MISSING else data
            found = (
                (record_of(data, entry.kind, entry.path), []) if isinstance(data, dict) else self._parse(entry, state)
            )
        record, problems = found
        if record is None or not entry.has_votes:
            return found
        votes, wrong = self._votes(record, self.states[f"{entry.folder}/{VOTES}"])
        return replace(record, votes=tuple(votes)), [*problems, *wrong]

    def _votes(self, record: Record, state: FileState) -> tuple[list[Vote], list[Diagnostic]]:
        held = self._cache.value(state)
        if isinstance(held, list):
            votes = [Vote(record.id, model, datetime.fromisoformat(at), task) for model, at, task in held]
            if all(vote.voted_at - self._now <= AHEAD for vote in votes):
                return votes, []
        text, wrong = _text(self._workspace, self._cache, state, BROKEN, record.id)
        if text is None:
            return [], wrong
        votes, wrong = parse_votes(text, state.path, record.id, self._now)
        rows = [[vote.voter_model, vote.voted_at.isoformat(), vote.task_id] for vote in votes]
        if wrong or self._cache.keep(state, rows) is None:
            self.unkept.add(record.path)
        return votes, wrong


def _document(record: Record) -> str:
    """Return the document that holds a record's prose; "" where none does."""
    return record.source.path if record.kind.has_source and record.source is not None else ""


def _named(record: Record) -> Named | None:
    if NAMING.isdisjoint(record.data) and not record.kind.in_file:
        return None
    source, inputs = record.source, tuple(one.input for one in inputs_of(record))
    evidence = tuple(one for one in record.evidence if one[0] in PROOFS)
    dated = "freshness" in record.data
    return Named(source.path if source else None, record.status.name, dated, inputs, evidence, taken_from(record) or ())


def cache_of(workspace: Workspace, name: str) -> FileCache:
    """Return what is remembered of files for one purpose; another version of a kind or of our own code voids it."""
    return FileCache(workspace.root, CACHE, name, f"{code_version()} {fingerprint(workspace.kinds)}")


def fingerprint(kinds: KindTable) -> str:
    """Return a hash of what reading depends on beside the files: the kinds, with their schemas and statuses."""
    said = [
        [kind.name, kind.plural, kind.prefix, kind.prose, kind.schema.document, list(kind.statuses)] for kind in kinds
    ]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def entries(workspace: Workspace, problems: list[Diagnostic], cache: FileCache) -> Iterator[Entry]:
    """Yield every record folder, by kind and name; what stands where a record should goes to `problems`."""
    for kind in workspace.kinds:
        for pending in (False, True):
            folder = workspace.relative(workspace.folder_of(kind, pending=pending))
            yield from _entries_in(workspace, kind, folder, pending, problems, cache)


def _entries_in(
    workspace: Workspace, kind: Kind, folder: str, pending: bool, problems: list[Diagnostic], cache: FileCache
) -> Iterator[Entry]:
    try:
        names = cache.names(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        problems.append(_unlisted(folder, (error.strerror or "").lower()))
        return
    record_file = f"{kind.name}.yaml"
    old = old_names(kind.plural, names)
    if old:
        problems.append(old_layout_problem(folder, old))
    skipped = frozenset(old)
    paths = {f"{folder}/{name}": name for name in names if name not in skipped and not name.startswith(".")}
    known = cache.unchanged_folders(paths)
    for path, name in paths.items():
        files = known.get(path) or (_files(workspace, path, cache) if is_safe_id(name) else None)
        if files is None:
            problems.append(_misplaced(path, f"`{name}` is not the folder of a record", kind))
        elif not files:
            continue  # git keeps no empty folder, and a killed move may leave one
        elif files == _UNLISTED:
            problems.append(_unlisted(path, "see its owner and permissions"))
        elif record_file not in files:
            problems.append(_misplaced(path, f"the folder holds no {record_file}", kind, name))
        else:
            yield Entry(kind, f"{path}/{record_file}", VOTES in files, pending, BODY in files)


def _unlisted(folder: str, why: str) -> Diagnostic:
    hint = "make it a folder that can be read, and no symbolic link"
    return Diagnostic(UNREADABLE, Severity.ERROR, f"can't be listed: {why}", Location(folder), hint)


def _files(workspace: Workspace, path: str, cache: FileCache) -> list[str] | None:
    """Return the names in a record's folder; None where there is no folder, `_UNLISTED` where it can't be listed."""
    try:
        return cache.names(path)
    except NotADirectoryError:
        return None
    except OSError:
        found = os.lstat(workspace.root / path) if os.path.lexists(workspace.root / path) else None
        return _UNLISTED if found is not None and stat.S_ISDIR(found.st_mode) else None


def _decoded(
    workspace: Workspace, cache: FileCache, entry: Entry, state: FileState, *, explain: bool
) -> tuple[Record | None, list[Diagnostic]]:
    text, problems = _text(workspace, cache, state, UNREADABLE)
    return (None, problems) if text is None else decode_record(text, entry.kind, entry.path, explain=explain)


def _text(
    workspace: Workspace, cache: FileCache, state: FileState, code: str, record: str | None = None
) -> tuple[str | None, list[Diagnostic]]:
    """Return a file's text, or why there is none."""
    limit = RECORD_LIMIT if code == UNREADABLE else DOCUMENT_LIMIT
    try:
        return decode(cache.content(state, limit), f"{workspace.root}/{state.path}"), []
    except OrbitError as error:
        said = error.message.replace(f"{workspace.root}{os.sep}", "")
        return None, [Diagnostic(code, Severity.ERROR, said, Location(state.path), error.hint, record)]


def _misplaced(path: str, message: str, kind: Kind, folder: str = "") -> Diagnostic:
    where = f"records stand at .orbit/{kind.file_of('<ID>')}"
    if folder and not folder.startswith(kind.prefix):
        hint = f"{where}; if another program keeps this folder, leave it, and let `orbit baseline update` take it in"
        return Diagnostic(MISPLACED, Severity.WARNING, message, Location(path), hint)
    return Diagnostic(MISPLACED, Severity.ERROR, message, Location(path), f"{where}; move the file there, or delete it")
