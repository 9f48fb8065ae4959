"""Builds what a run looks at, piece by piece and each piece once: records, documents, what they cite and how they read.

What no finding is to be made about is not built: where one record of ten thousand changed, that is nearly everything.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.inputs import Inputs
from orbit_registry.checks.members import Member, asks_of, joins_of, joins_of_text
from orbit_registry.checks.memories import Counts, Near
from orbit_registry.checks.pieces import Pieces
from orbit_registry.checks.scope_folders import around, folders_of, valid_globs
from orbit_registry.checks.wording import copies
from orbit_registry.errors import OrbitError
from orbit_registry.push.breadth import SHARE
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.search.similarity import hash_of
from orbit_registry.store.baseline import read_baseline
from orbit_registry.store.decisions.documents import Document, Documents, document_of, read_one
from orbit_registry.store.files import DOCUMENT_LIMIT, RECORD_LIMIT, Folders, decode, inside, read_bytes
from orbit_registry.store.kept import digest
from orbit_registry.store.votes import BROKEN as BAD_VOTE
from orbit_registry.text.citations import Citation, IdForms

Cited = Sequence[tuple[str, int, int]]
Pairs = Mapping[str, Sequence[Sequence[object]]]
"""By a record's path the records that say nearly the same, as a member holds them."""


class Material(Pieces):
    """What the inputs name, read when it is asked for."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._workspace = inputs.workspace
        self._entries = {entry.path: entry for entry in inputs.reading.entries}
        self._folders = {entry.folder: entry.path for entry in inputs.reading.entries}
        self._texts: dict[str, str | None] = {}
        self._documents: dict[str, Document | Diagnostic | None] = {}
        self._records: dict[str, Record | None] = {}
        self._words: dict[str, str] = {}
        self._cited: dict[str, Cited] = {}
        self._cited_by: dict[str, Sequence[Citation]] = {}
        self._counts = Counts(self._workspace)
        self._inside = Folders(self._workspace.root)
        self._is_steady = True
        threshold = self._workspace.config.duplicates["warning"]
        self._near = Near(self._workspace, self._text_of, threshold, lambda: self.is_steady)

    @property
    def is_steady(self) -> bool:
        """Whether all files that were read were those that the inputs saw."""
        return self._is_steady and self._inputs.reading.is_steady

    # --- pieces

    def text(self, path: str) -> str | None:
        """Return the text of a file, named from the root; None where it has none."""
        if path not in self._texts:
            held = self._held(path)
            self._texts[path] = held if held is not None else self._read(path)
        return self._texts[path]

    def _held(self, path: str) -> str | None:
        """Return a text that was read as the inputs were taken; None where it was not, or is none."""
        seen = self._inputs.texts.get(path)
        if seen is None or seen.content is None or not self._inside.hold(path):
            return None
        try:
            return decode(seen.content, path)
        except OrbitError:
            return None

    def _read(self, path: str) -> str | None:
        seen = self._inputs.texts.get(path) or self._inputs.reading.states.get(path)
        try:  # what is listed as a record's file has no symbolic link on its way
            is_listed = path in self._inputs.reading.states
            file = self._workspace.root / path if is_listed else inside(self._workspace.root, path)
            content = read_bytes(file, limit=RECORD_LIMIT if is_listed else DOCUMENT_LIMIT)
        except OrbitError:
            self._is_steady &= seen is None or not seen.sha256
            return None
        self._is_steady &= seen is None or hashlib.sha256(content).hexdigest() == seen.sha256
        try:
            return decode(content, path)
        except OrbitError:
            return None

    def document(self, path: str) -> Document | None:
        """Return a document that holds decisions; None where there is none, or it can't be read."""
        if path not in self._documents:
            text = self.text(path)
            self._documents[path] = read_one(self._workspace, path) if text is None else document_of(path, text)
        held = self._documents[path]
        return held if isinstance(held, Document) else None

    def record(self, path: str) -> Record | None:
        """Return the record in a file with its prose; None where it holds none."""
        if path not in self._records:
            record = self._inputs.reading.record(self._entries[path])
            if record is not None and record.kind.in_document:
                source = record.source
                home = self.document(source.path) if source is not None else None
                prose = Documents({home.path: home} if home is not None else {}).prose_of(record)
                if prose is None and self._entries[path].has_body:
                    prose = self.text(record.body_path)
                record = replace(record, prose=prose) if prose is not None else record
            elif record is not None and record.kind.in_file and record.source is not None:
                record = replace(record, prose=self.text(record.source.path) or "")
            self._records[path] = record
        return self._records[path]

    def wording(self, record: Record) -> str:
        """Return what a record is compared by for duplicates."""
        if record.path not in self._words:
            self._words[record.path] = super().wording(record)
        return self._words[record.path]

    def counts(self, globs: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        """Return how many of the files each glob matches, as `memories.Counts` knows it."""
        return self._counts(globs, files)

    def cited(self, path: str, forms: IdForms) -> Cited:
        """Return the ids that a file cites, each file looked at once."""
        if path not in self._cited:
            self._cited[path] = super().cited(path, forms)
        return self._cited[path]

    def cited_by(self, record: Record, forms: IdForms) -> Sequence[Citation]:
        """Return what the text of a record's own file cites, each record looked at once."""
        if record.path not in self._cited_by:
            self._cited_by[record.path] = super().cited_by(record, forms)
        return self._cited_by[record.path]

    # --- members

    def member(self, path: str, token: str) -> Member:
        """Return a record or text as it is now, nothing found in it yet and compared with none."""
        forms = self._workspace.kinds.id_forms
        if path not in self._entries:
            document = self.document(path) if path in self._inputs.documents else None
            is_citing = path in self._inputs.citing
            asks = {cited for cited, _, _ in self.cited(path, forms)} if is_citing else ()
            return Member(token, joins_of_text(path, document), sorted(asks))
        record = self.record(path)
        if record is None:  # whoever names its id is told that it is there
            return Member(token, [self._entries[path].folder.rpartition("/")[2]])
        is_closed = record.phase == "closed"
        said = self.wording(record) if not is_closed and not record.kind.in_file else None
        cited = (one.id for one in self.cited_by(record, forms))
        hashed = hash_of(said) if said is not None else None
        globs = () if is_closed else record.globs
        return Member(token, joins_of(record, said), asks_of(record, cited), hashed, globs=globs)

    def seen(self, members: Mapping[str, Member], paths: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield members and what their globs see of the project's files, as far as findings rest on it."""
        facts = self._inputs.facts
        tracked, files = facts.tracked or (), (*(facts.tracked or ()), *facts.untracked)
        counts = self._counts({glob for path in paths for glob in members[path].globs}, files)
        folders: Mapping[str, list[str]] | None = None
        listed = digest(tracked)
        for path in paths:
            globs, said = members[path].globs, []
            if sum(counts.get(glob, 0) for glob in globs) > SHARE * len(tracked):
                said.append(listed)
            if not all(glob in counts for glob in globs):
                folders = folders_of(files) if folders is None else folders
                dead = (glob for _, glob in valid_globs(globs) if not glob.exclude and glob.text not in counts)
                said += [f"{glob.text} {around(glob.literal_prefix, folders)}" for glob in dead]
            yield path, digest(said) if said and facts.tracked is not None else ""

    def owner(self, path: str) -> str | None:
        """Return the member whose file stands at a path; None where it is nobody's."""
        if path in self._entries or path in self._members:
            return path
        return self._folders.get(path.rpartition("/")[0]) or self._whole.get(path)

    @cached_property
    def _whole(self) -> Mapping[str, str]:
        """The records' files by the files that are their prose as a whole."""
        entries = (entry for entry in self._entries.values() if entry.kind.in_file)
        named = ((self._inputs.reading.document_of(entry), entry.path) for entry in entries)
        return {text: path for text, path in named if text is not None}

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(self._inputs.members)

    @property
    def count(self) -> int:
        """How many records there are, unreadable files among them."""
        reading = self._inputs.reading
        broken = {one.location.path for one in reading.problems if one.code != BAD_VOTE}
        invalid = {entry.path for entry in reading.entries if reading.is_broken(entry)}
        return len(self._entries.keys() - invalid) + len(broken - (self._entries.keys() - invalid))

    @cached_property
    def _problems(self) -> tuple[Diagnostic, ...]:
        return (*self._inputs.reading.problems, *read_baseline(self._workspace)[1])

    # --- what all of them say together

    def _sizes(self, members: Mapping[str, Member]) -> Mapping[str, int]:
        """Return how many records of each kind are compared."""
        found: dict[str, int] = defaultdict(int)
        for path, member in members.items():
            if member.said is not None:
                found[self._entries[path].kind.name] += 1
        return found

    def pairs(self, members: Mapping[str, Member], fewest: int) -> Pairs:
        """Return which records say nearly the same, copies but the first left out; `fewest` are enough to tell."""
        sizes = self._sizes(members)
        found: dict[str, list[list[object]]] = defaultdict(list)
        compared = self._compared(members)
        for kind, texts in compared.items():
            for a, b, score in self._near(kind, texts):
                is_enough = sizes[kind] >= fewest
                found[a].append([b, score, is_enough])
                found[b].append([a, score, is_enough])
        return found

    def _compared(self, members: Mapping[str, Member]) -> Mapping[str, Mapping[str, str]]:
        """Return by kind the records that are compared, copies left out, each with a hash of what it says."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        copied = self._copied(members)
        for path, member in members.items():
            if member.said is not None and path not in copied:
                found[self._entries[path].kind.name][path] = member.said
        return found

    def _copied(self, members: Mapping[str, Member]) -> set[str]:
        """Return the records that say what an earlier one of their kind says, but for form."""
        found: set[str] = set()
        for paths in _alike(members):
            held = [record for path in paths if (record := self.record(path)) is not None]
            for _, *rest in copies((record.path, self.wording(record)) for record in RecordSet(held)):
                found.update(rest)
        return found

    def _text_of(self, path: str) -> str:
        record = self.record(path)
        return self.wording(record) if record is not None else ""

    def context(self, members: Mapping[str, Member], paths: Collection[str]) -> CheckContext:
        """Return what the checks look at: some members, and what is the same for all."""
        inputs, is_whole = self._inputs, len(paths) == len(members)
        held = [self.record(path) for path in paths if path in self._entries]
        records = RecordSet(record for record in held if record is not None)
        by_path = {path: home for path in sorted(inputs.documents.intersection(paths)) if (home := self.document(path))}
        unread = [one for path in paths if isinstance(one := self._documents.get(path), Diagnostic)]
        facts = replace(inputs.facts, citing=tuple(path for path in inputs.facts.citing if path in paths))
        return CheckContext(
            records=records,
            kinds=self._workspace.kinds,
            config=self._workspace.config,
            problems=(*self._problems, *unread),
            documents=Documents(by_path, tuple(unread)),
            facts=facts,
            sight=inputs.sight,
            now=inputs.now,
            whole=None if is_whole else lambda: inputs.reading.collection.records,
            pieces=self,
            pairs={path: found for path in paths if (found := members[path].pairs)},
            unkept=inputs.reading.unkept,
            usual=inputs.reading.usual,
            alike=frozenset(chain.from_iterable(_alike(members))),
        )


def _alike(members: Mapping[str, Member]) -> list[list[str]]:
    """Return the records whose letters and digits are the same, in groups of two and more."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, member in members.items():
        for name in member.joins if member.said is not None else ():
            if name.startswith("text "):
                found[name].append(path)
    return [paths for paths in found.values() if len(paths) > 1]
