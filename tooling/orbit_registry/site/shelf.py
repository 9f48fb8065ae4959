"""Reads the prose of records one at a time, when a page needs it; what stands where, `decisions.documents` says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orbit_registry.errors import OrbitError, UnsafePathError
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.position import Position
from orbit_registry.formats.yaml import position_of
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.record import Record
from orbit_registry.repository.documents import Document, Documents, document_of, with_prose
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.cache import FileValue
from orbit_registry.workspace.files import DOCUMENT_LIMIT, Folders, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_TICKS = re.compile(r"`{3,}")
_TITLE = re.compile(r"#[ \t]+([^\n]*\S)[ \t]*(?:\n\s*|\Z)")
_STATUS = re.compile(r"Status:[^\n]*(?:\n\s*(?=\S)|\n*\Z)")
"""The line that a document repeats its record's own facts in: the page has them above the text."""


@dataclass(frozen=True, slots=True)
class Text:
    """A record's prose, the file it stands in, and the line it starts on."""

    text: str
    path: str
    first_line: int
    entry: tuple[int, int] | None = None
    """First and last line of its entry in a document, the heading's line included."""
    as_written: bool = False
    """Whether nothing of that document is withheld."""


class _ReadOnDemand(Mapping[str, Document]):
    """Documents by path, each parsed when it is first asked for; one that can't be read is absent."""

    def __init__(self, publication: Publication) -> None:
        self._publication, self._root = publication, publication.workspace.root
        self._folders = Folders(self._root)
        self._held: dict[str, Document | None] = {}
        self.as_written: set[str] = set()
        """The paths of those of which nothing is withheld."""

    def __getitem__(self, path: str) -> Document:
        if path not in self._held:
            try:
                stated = read_text(self._root / path, limit=DOCUMENT_LIMIT) if self._folders.hold(path) else None
            except OrbitError:
                stated = None
            if stated is None:
                self._held[path] = None
            else:
                text = self._publication.document(path, stated)
                if text == stated:
                    self.as_written.add(path)
                self._held[path] = None if text is None else document_of(path, text)
        found = self._held[path]
        if found is None:
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(path for path, document in self._held.items() if document is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass
class Shelf:
    """The prose of a workspace's records."""

    publication: Publication
    states: Mapping[str, FileValue]
    """The records' files and those of their votes, by path."""
    documents: Documents = field(init=False)
    _read: _ReadOnDemand = field(init=False)
    _stamps: dict[str, str] = field(default_factory=dict)
    """Of the files that texts stand in, by path."""
    _said: dict[str, str] = field(default_factory=dict)
    """The stamps of records, by path."""

    def __post_init__(self) -> None:
        self._read = _ReadOnDemand(self.publication)
        self.documents = Documents(self._read)

    @property
    def workspace(self) -> Workspace:
        """Where the records stand."""
        return self.publication.workspace

    def stamp(self, record: Record) -> str:
        """Return a text that changes when anything that a record says does: its fields, its votes, its prose."""
        if record.path in self._said:
            return self._said[record.path]
        votes = self.states.get(f"{record.folder}/{VOTES}") if record.votes else None
        stated = f"{self.states[record.path].sha256} {votes.sha256 if votes else ''} {len(record.votes)}"
        if not record.kind.in_record:
            source = record.source
            stated = f"{stated} {self._stamp(record.body_path)} {self._stamp(source.path) if source else ''}"
        self._said[record.path] = stated
        return stated

    def text(self, record: Record) -> Text:
        """Return a record's prose and where it stands."""
        if record.kind.in_record:
            return Text(record.prose, record.path, 1)
        if record.kind.in_file:
            return self._whole(record)
        source = record.source
        document = self._read.get(source.path) if source else None
        place = document.place(source.heading) if document and source else None
        if document is None or place is None:
            return Text(self._body(record), record.body_path, 1)
        text, begins = document.prose(place), place[0]
        start = document.text.find(text, begins) if text else begins
        first = document.text.count("\n", 0, max(start, 0)) + 1
        heading = first - document.text.count("\n", begins, max(start, 0))
        end = first + text.count("\n")
        stated = _STATUS.match(text) if record.source and record.source.authority == "record" else None
        above = stated[0] if stated else ""
        shown = document.path in self._read.as_written
        return Text(text[len(above) :], document.path, first + above.count("\n"), (heading, end), shown)

    def _whole(self, record: Record) -> Text:
        """Return a file as text: links lead from where it was taken, and what is no Markdown is a block of code."""
        text = self.publication.text(with_prose(self.workspace, record, self.documents).prose)
        path = record.text("path") or (record.source.path if record.source else record.path)
        if not text or is_markdown(path):
            head = _TITLE.match(text)  # the page has its title already
            above = head[0] if head is not None and head[1] == record.title else ""
            return Text(text[len(above) :], path, 1 + above.count("\n"))
        code = text.removesuffix("\n")
        fence = "`" * (max(map(len, _TICKS.findall(text)), default=2) + 1)
        return Text(f"{fence}\n{code}\n{fence}\n", path, 0)

    def prose(self, record: Record) -> str:
        """Return a record's prose alone."""
        return self.text(record).text

    def whole(self, record: Record) -> Record:
        """Return a record with its prose as it stands in its file, and as searches read it."""
        if record.kind.in_record:
            return record
        prose = self.documents.prose_of(record) if record.kind.in_document else None
        return replace(record, prose=self._body(record) if prose is None else prose)

    def _body(self, record: Record) -> str:
        """Return the text beside a record; none where a symbolic link leads to it."""
        try:
            inside(self.workspace.root, record.body_path)
        except UnsafePathError:
            return record.prose
        return self.publication.text(with_prose(self.workspace, record, self.documents).prose)

    def moved(self, record: Record, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return findings in a field's text with the lines of the record's file, where that text is edited."""
        if not found or not record.kind.in_record:
            return tuple(found)
        try:
            file = read_text(self.workspace.root / record.path)
        except OrbitError:
            return tuple(found)
        # Reading the whole file for one position costs more than rendering it, and a key of ours starts its line.
        plain = re.search(rf"^{re.escape(record.kind.prose)}[ \t]*:", file, re.MULTILINE)
        key = file.count("\n", 0, plain.start()) + 1 if plain else position_of(file, (record.kind.prose,)).line
        written = file.split("\n")[key - 1].partition(":")[2].strip()
        above = key if written[:1] in ("|", ">", "") else key - 1
        return tuple(_below(one, above) for one in found)

    def _stamp(self, path: str) -> str:
        if path not in self._stamps:
            try:
                info = (self.workspace.root / path).stat()
                self._stamps[path] = f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino};"
            except (OSError, ValueError):
                self._stamps[path] = "absent;"
        return self._stamps[path]


def _below(found: Diagnostic, lines: int) -> Diagnostic:
    place = found.location.position
    if place is None:
        return found
    return replace(found, location=replace(found.location, position=Position(place.line + lines, place.column)))
