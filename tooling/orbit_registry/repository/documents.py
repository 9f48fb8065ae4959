"""Finds and reads the documents that hold decisions; what a record and its document disagree on is for checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record, Source
from orbit_registry.workspace.files import DOCUMENT_LIMIT, document_text, inside, read_text
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.formats.adr.model import AdrDocument, AdrFile
    from orbit_registry.formats.position import Span

UNREADABLE_DOCUMENT = "ORB108"
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Document:
    """A document with decisions: its path from the root, its text, and the decisions in it, read when asked for."""

    path: str
    text: str

    @cached_property
    def file(self) -> AdrFile:
        """The decisions in it."""
        from orbit_registry.formats.adr.reader import (
            read_document,  # the formats of decisions are much to load for one text
        )

        return read_document(self.text, self.path)

    @property
    def entries(self) -> Sequence[AdrDocument]:
        """The decisions in it for whoever knows that it holds some; a record that names it says so."""
        doubted = self.file.candidate
        return (doubted,) if doubted is not None else self.file.entries

    def entry(self, heading: str | None) -> AdrDocument | None:
        """Return the decision that a record's `source.heading` names; the only one where it names none."""
        entries = self.entries
        if heading is None:
            return entries[0] if len(entries) == 1 else None
        number = _number(heading)
        by_number = [entry for entry in entries if number is not None and _number(entry.number or "") == number]
        by_title = [entry for entry in entries if entry.title == heading]
        matches = by_number or by_title
        return matches[0] if matches else (entries[0] if len(entries) == 1 and self.file.format != "log" else None)

    @cached_property
    def _only(self) -> Span | None:
        from orbit_registry.formats.adr.reader import single_span

        return single_span(self.text, self.path)

    def locate(self, heading: str | None) -> tuple[int, tuple[int, int]] | None:
        """Return where the decision that `entry` returns begins, and where its prose begins and ends."""
        if heading is None and self._only is not None:
            return 0, (self._only.start, self._only.end)
        entry = self.entry(heading)
        return None if entry is None else (entry.span.start, entry_span(entry))

    def prose(self, position: tuple[int, tuple[int, int]]) -> str:
        """Return the prose that stands at a `position`."""
        start, end = position[1]
        return self.text[start:end].strip("\r\n")


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a workspace, and the ones that can't be read."""

    by_path: Mapping[str, Document]
    problems: tuple[Diagnostic, ...] = ()

    def of(self, record: Record) -> tuple[Document, AdrDocument] | None:
        """Return the document and the entry that hold a record's prose."""
        source = record.source
        document = self.by_path.get(source.path) if source else None
        entry = document.entry(source.heading) if document and source else None
        return (document, entry) if document and entry else None

    def prose_of(self, record: Record) -> str | None:
        """Return a record's prose as its document has it; None where no document holds it."""
        source = record.source
        document = self.by_path.get(source.path) if source else None
        position = document.locate(source.heading) if document and source else None
        return document.prose(position) if document and position else None


def heading_of(entry: AdrDocument, format_name: str) -> str | None:
    """Return what a record's `source.heading` says to find the entry again; None where a file holds one decision."""
    if format_name != "log":
        return None
    if entry.number is None:
        return entry.title
    return entry.number if entry.number.upper().startswith("ADR") else f"ADR-{entry.number}"


def read_documents(workspace: Workspace, records: Iterable[Record]) -> Documents:
    """Return the documents that hold the prose of some decisions."""
    paths = {record.source.path for record in records if record.kind.in_document and record.source is not None}
    by_path: dict[str, Document] = {}
    problems: list[Diagnostic] = []
    for path in sorted(paths):
        document = load_document(workspace, path)
        if isinstance(document, Document):
            by_path[path] = document
        elif document is not None:
            problems.append(document)
    return Documents(by_path, tuple(problems))


def load_document(workspace: Workspace, path: str) -> Document | Diagnostic | None:
    """Return a document, or why it can't be read; None where there is none, or a link to a file of the project."""
    try:
        text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    except OrbitError as error:
        if not os.path.lexists(workspace.root / path) or _leads_inside(workspace.root, path):
            return None
        message = error.message.replace(f"{workspace.root}{os.sep}", "")
        return Diagnostic(UNREADABLE_DOCUMENT, Severity.ERROR, message, Location(path), error.hint)
    return document_of(path, text)


def _leads_inside(root: Path, path: str) -> bool:
    """Say whether a name is a link to a file of the project, which is read under its own name."""
    try:
        target = (root / path).resolve(strict=True)
    except (OSError, RuntimeError):  # a circle of links
        return False
    return (root / path).is_symlink() and target.is_file() and target.is_relative_to(root.resolve())


def document_of(path: str, text: str) -> Document:
    """Return a text with the decisions in it."""
    return Document(path, text)


def with_prose(workspace: Workspace, record: Record, documents: Documents) -> Record:
    """Return the record with its long text filled in from its one home."""
    if record.kind.in_record:
        return record
    if record.kind.in_file:
        return replace(record, prose=_file_text(workspace, record.source) if record.source else "")
    prose = documents.prose_of(record)
    if prose is not None:
        return replace(record, prose=prose)
    body = workspace.root / record.body_path
    try:
        return replace(record, prose=read_text(body, limit=DOCUMENT_LIMIT)) if body.exists() else record
    except OrbitError:
        return record


def _file_text(workspace: Workspace, source: Source) -> str:
    """Return the text of a file that is a record's prose; the gate says why there is none."""
    return document_text(workspace.root, source.path) or ""


def entry_text(document: Document, entry: AdrDocument) -> str:
    """Return a decision's prose: everything after its heading."""
    start, end = entry_span(entry)
    return document.text[start:end].strip("\r\n")


def entry_span(entry: AdrDocument) -> tuple[int, int]:
    """Return where a decision's prose begins and ends in its document's text, line ends around it included."""
    return entry.heading_span.end if entry.heading_span else entry.span.start, entry.span.end


@lru_cache(maxsize=65_536)  # a log of many decisions is asked for each of them
def _number(text: str) -> int | None:
    """Return the first number in a text."""
    match = _DIGITS.search(text)
    return int(match[0]) if match else None
