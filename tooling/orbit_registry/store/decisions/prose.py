"""Fills in the long text of records that stands in documents, parsing only documents that changed; changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from orbit_registry.errors import OrbitError
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.store.cache import FileState
from orbit_registry.store.files import DOCUMENT_LIMIT, Folders, decode
from orbit_registry.store.manifest import Stamp
from orbit_registry.store.reader import Entry, cache_of
from orbit_registry.store.workspace import Workspace


class ProseReading:
    """The documents that records name, and the bodies beside records: hashes at once, text when it is asked for."""

    def __init__(self, workspace: Workspace, documents: Iterable[str], bodies: Iterable[str]) -> None:
        self._workspace = workspace
        self._cache = cache_of(workspace, "documents")
        self.states: dict[str, FileState] = {}
        """Documents and bodies by path; one that can't be read is not among them."""
        paths = [*filter(Folders(workspace.root).hold, sorted(set(documents))), *sorted(bodies)]
        known = self._cache.unchanged(paths)
        for path in paths:
            state = known.get(path) or self._cache.state(path, DOCUMENT_LIMIT)
            if state.error is None:
                self.states[path] = state

    @property
    def stamps(self) -> Mapping[str, Stamp]:
        """How the files stood when they were looked at, as `FileCache.stamps`."""
        return self._cache.stamps

    @property
    def is_steady(self) -> bool:
        """Whether all texts that were asked for so far had the hashes of `states`."""
        return self._cache.is_steady

    def digest(self, instead: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return a hash of all texts; `instead` are hashes that some of them had."""
        lines = "\0".join(lines_of(self.states, instead))
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

    def body_of(self, entry: Entry) -> FileState | None:
        """Return the state of the body beside a record, where one is read."""
        return self.states.get(entry.body_path)

    def home_of(self, record: Record) -> str | None:
        """Return the document that holds a decision's prose, whole."""
        state = self.states.get(record.source.path) if record.source and record.kind.in_document else None
        return self._text(state) if state is not None else None

    def save(self) -> None:
        """Keep what was read for the next run."""
        self._cache.save()

    def filled(self, records: Iterable[Record]) -> RecordSet:
        """Return the records with their prose."""
        kept = list(records)
        prose: dict[str, str] = {}
        wanted: dict[str, list[Record]] = {}
        for record in kept:
            if record.source is None or record.source.path not in self.states:
                continue
            if record.kind.in_document:
                wanted.setdefault(record.source.path, []).append(record)
            elif record.kind.in_file:
                prose[record.path] = self._text(self.states[record.source.path]) or ""
        for path, those in wanted.items():
            prose |= self._in_document(self.states[path], those)
        self.save()
        return RecordSet(self._with(record, prose.get(record.path)) for record in kept)

    def _with(self, record: Record, prose: str | None) -> Record:
        if record.kind.in_record:
            return record
        if prose is None:
            state = self.states.get(record.body_path)
            prose = self._text(state) if state is not None else None
        return record if prose is None else replace(record, prose=prose)

    def _in_document(self, state: FileState, records: list[Record]) -> dict[str, str]:
        """Return the prose of records that stand in one document, by the records' paths."""
        text = self._text(state)
        if text is None:
            return {}
        headings = sorted({_heading(record) for record in records})
        held = self._cache.value(state)
        spans: Mapping[str, list[int] | None] = held if isinstance(held, dict) else {}
        if not set(headings) <= set(spans):
            spans = _spans(state.path, text, headings)
            self._cache.keep(state, dict(spans))
        found: dict[str, str] = {}
        for record in records:
            if (span := spans[_heading(record)]) is not None:
                found[record.path] = text[span[0] : span[1]].strip("\r\n")
        return found

    def _text(self, state: FileState) -> str | None:
        try:
            return decode(self._cache.content(state, DOCUMENT_LIMIT), self._workspace.root / state.path)
        except OrbitError:
            return None  # the gate reports it; a record without its prose is still a record


def lines_of(states: Mapping[str, FileState], instead: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return a line with the hash of each file, by path; `instead` are hashes that some are to have."""
    return [f"{path}\n{instead.get(path) or states[path].sha256}" for path in sorted(states)]


def prose_of(workspace: Workspace, entries: Iterable[Entry], documents: Iterable[str]) -> ProseReading:
    """Return the reading of the prose of the records in some folders, which name some documents."""
    return ProseReading(workspace, documents, (entry.body_path for entry in entries if entry.has_body))


def _heading(record: Record) -> str:
    """Return a record's heading as a JSON key; where it names none, the document's only entry is meant."""
    heading = record.source.heading if record.source else None
    return "" if heading is None else f"#{heading}"


def _spans(path: str, text: str, headings: Iterable[str]) -> dict[str, list[int] | None]:
    # Reading documents needs a Markdown parser; a run in which no document changed does without it.
    from orbit_registry.store.decisions.documents import document_of

    document = document_of(path, text)
    spans: dict[str, list[int] | None] = {}
    for heading in headings:
        place = document.place(heading[1:] if heading else None)
        spans[heading] = None if place is None else [*place[1]]
    return spans
