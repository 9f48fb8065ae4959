"""Fills in the long text of records that stands in documents, parsing only documents that changed; changes nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from orbit_registry.errors import OrbitError
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import RecordFolder
from orbit_registry.workspace.cache import FileValue
from orbit_registry.workspace.files import DOCUMENT_LIMIT, Folders, decode, read_bytes
from orbit_registry.workspace.workspace import Workspace


class ProseReading:
    """The documents that records name, and the bodies beside records: hashes at once, text when it is asked for."""

    def __init__(self, workspace: Workspace, documents: Iterable[str], bodies: Iterable[str]) -> None:
        self._workspace = workspace
        paths = [*filter(Folders(workspace.root).contain, sorted(set(documents))), *sorted(bodies)]
        states = workspace.values.hashes(workspace.root, paths)
        self.states = {path: state for path, state in states.items() if state.error is None}
        """Documents and bodies by path; one that can't be read is not among them."""
        self.is_steady = True
        """Whether all texts that were read so far had the hashes of `states`."""
        self._latest: tuple[str, str | None, str] = ("", None, "")

    def digest(self, instead: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return a hash of all texts; `instead` are hashes that some of them had."""
        lines = "\0".join(lines_of(self.states, instead))
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

    def body_of(self, entry: RecordFolder) -> FileValue | None:
        """Return the state of the body beside a record, where one is read."""
        return self.states.get(entry.body_path)

    def document_text(self, record: Record) -> str | None:
        """Return the document that holds a decision's prose, whole."""
        return self._text(record.source.path)[0] if record.source and record.kind.in_document else None

    def filled(self, records: Iterable[Record]) -> RecordSet:
        """Return the records with their prose."""
        records = list(records)
        headings: dict[str, set[str]] = defaultdict(set)
        for record in records:
            if record.kind.in_document and record.source is not None and record.source.path in self.states:
                headings[record.source.path].add(_heading(record))
        spans = self._workspace.values.files(
            "prose",
            self._workspace.root,
            headings,
            lambda path, content: _spans(path, content.decode("utf-8", "replace"), headings[path]),
            limit=DOCUMENT_LIMIT,
        )
        return RecordSet(self._filled(record, spans) for record in records)

    def _filled(self, record: Record, spans: Mapping[str, FileValue]) -> Record:
        if record.kind.in_record:
            return record
        source, prose = record.source, None
        if source is not None and source.path in self.states:
            if record.kind.in_file:
                prose = self._text(source.path)[0] or ""
            else:
                prose = self._in_document(record, source.path, spans.get(source.path))
        if prose is None:
            prose = self._text(record.body_path)[0]
        return record if prose is None else replace(record, prose=prose)

    def _in_document(self, record: Record, path: str, spans: FileValue | None) -> str | None:
        text, sha256 = self._text(path)
        if text is None:
            return None
        heading = _heading(record)
        by_heading = spans.value if spans is not None and spans.sha256 == sha256 else {}
        if heading not in by_heading:
            by_heading = _spans(path, text, [heading])
        span = by_heading[heading]
        return None if span is None else text[slice(*span)].strip("\r\n")

    def _text(self, path: str) -> tuple[str | None, str]:
        """Return a file's text, None where it has none, and the hash of its bytes."""
        if path not in self.states:
            return None, ""
        if self._latest[0] != path:  # the decisions of a log follow each other
            self._latest = (path, *self._read(path))
        return self._latest[1:]

    def _read(self, path: str) -> tuple[str | None, str]:
        try:
            content = read_bytes(f"{self._workspace.root}/{path}", limit=DOCUMENT_LIMIT)
        except OrbitError:  # the gate reports it; a record without its prose is still a record
            self.is_steady = False
            return None, ""
        sha256 = hashlib.sha256(content).hexdigest()
        self.is_steady &= sha256 == self.states[path].sha256
        try:
            return decode(content, path), sha256
        except OrbitError:
            return None, sha256


def lines_of(states: Mapping[str, FileValue], instead: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return a line with the hash of each file, by path; `instead` are hashes that some are to have."""
    return [f"{path}\n{instead.get(path) or states[path].sha256}" for path in sorted(states)]


def prose_of(workspace: Workspace, entries: Iterable[RecordFolder], documents: Iterable[str]) -> ProseReading:
    """Return the reading of the prose of the records in some folders, which name some documents."""
    return ProseReading(workspace, documents, (entry.body_path for entry in entries if entry.has_body))


def _heading(record: Record) -> str:
    """Return a record's heading as a JSON key; where it names none, the document's only entry is meant."""
    heading = record.source.heading if record.source else None
    return "" if heading is None else f"#{heading}"


def _spans(path: str, text: str, headings: Iterable[str]) -> dict[str, list[int] | None]:
    """Return where the prose under each heading begins and ends; None where there is no such heading."""
    # Reading documents needs a Markdown parser; a run in which no document changed does without it.
    from orbit_registry.repository.documents import document_of

    document = document_of(path, text)
    spans: dict[str, list[int] | None] = {}
    for heading in sorted(headings):
        position = document.locate(heading[1:] if heading else None)
        spans[heading] = None if position is None else [*position[1]]
    return spans
