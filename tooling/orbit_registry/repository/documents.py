"""Documents that hold decisions: finding them, reading them, filling their prose into records;
template prompts.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.formats.links import is_markdown, path_from_root
from orbit_registry.formats.position import Span
from orbit_registry.model.diagnostic import Diagnostic, from_error
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.review import (
    NO_TERMS,
    ReviewTerms,
    conditions_of,
)
from orbit_registry.workspace.cache import row_reader, to_row
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    decode,
    document_text,
    inside,
    is_inside,
    read_text,
    walk,
)
from orbit_registry.workspace.workspace import ORBIT, Workspace

if TYPE_CHECKING:
    from orbit_registry.formats.adr.model import AdrDocument, AdrFile
    from orbit_registry.formats.markdown import Document as Structure

LOG_NAME = "4_decisions.md"
_NO_DECISIONS = frozenset({ORBIT, "_templates", "templates"})


def decision_paths(workspace: Workspace) -> Iterator[str]:
    """Yield the paths of documents with decisions: decision folders, feature logs, the main log.

    It opens none.
    """
    config = workspace.config
    for folder in dict.fromkeys((config.adr.folder, *config.adr.folders)):
        yield from _markdown_below(workspace, folder)

    for path in _markdown_below(workspace, config.design):
        if path.rpartition("/")[2] == LOG_NAME:
            yield path

    if config.adr.log and (workspace.root / config.adr.log).is_file():
        yield config.adr.log


def _markdown_below(workspace: Workspace, folder: str) -> Iterator[str]:
    if (workspace.root / folder).is_symlink():
        return

    if folder == ".":  # a repository of decisions only: subfolders have other documents
        with contextlib.suppress(OSError):
            entries = [entry for entry in os.scandir(workspace.root) if is_markdown(entry.name)]
            yield from sorted(entry.name for entry in entries if entry.is_file())
        return

    for path in walk(workspace.root, folder, without=_NO_DECISIONS):
        if is_markdown(path):
            yield path


UNREADABLE_DOCUMENT = "ORB108"
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Document:
    """A document's path from the root and its text; its decisions are parsed on first use."""

    path: str
    text: str
    row: Sequence[Any] | None = None  # `row_of_document`, where the cache has it
    structure: Structure | None = None  # of the text, where it was parsed already

    @cached_property
    def file(self) -> AdrFile:
        """The parsed decisions."""
        if self.row is not None:
            from orbit_registry.formats.adr.model import AdrFile

            return cast("AdrFile", row_reader(AdrFile)(self.row[0]))

        from orbit_registry.formats.adr.reader import read_document  # slow to import

        return read_document(self.text, self.path)

    def listed_by(self, entry: AdrDocument) -> str | None:
        """Return the path of the file that an entry only lists; None for an entry with a text."""
        if not entry.listed_file:
            return None

        return path_from_root(entry.listed_file, posixpath.dirname(self.path))

    @property
    def entries(self) -> Sequence[AdrDocument]:
        """Its decisions; what only may be one counts, since a record names the document."""
        doubted = self.file.candidate
        if doubted is not None:
            return (doubted,)

        return self.file.entries

    def entry(self, heading: str | None) -> AdrDocument | None:
        """Return the decision that a record's `source.heading` names;
        without a heading the only one.
        """
        entries = self.entries
        only = entries[0] if len(entries) == 1 else None
        if heading is None:
            return only

        number = _number(heading)
        if number in self._by_number:
            return self._by_number[number]

        for entry in entries:
            if heading in (entry.title, self._written_heading(entry)):
                return entry

        if self.file.format != "log":
            return only

        return None

    def _written_heading(self, entry: AdrDocument) -> str | None:
        """Return a heading with its number, by which older records name their entry."""
        span = entry.heading_span
        if span is not None:
            return self.text[span.start : span.end].strip("# \t\r\n")

        return None

    @cached_property
    def _by_number(self) -> Mapping[int | None, AdrDocument]:
        """The first decision of each number, which a long log is not searched for each time."""
        numbered: dict[int | None, AdrDocument] = {}
        for entry in self.entries:
            number = _number(entry.number or "")
            if number is not None:
                numbered.setdefault(number, entry)

        return numbered

    @cached_property
    def only_span(self) -> Span | None:
        """The span of the prose, where the document surely is one decision."""
        if self.row is not None:
            return cast("Span | None", row_reader(Span | None)(self.row[1]))

        from orbit_registry.formats.adr.reader import single_span

        return single_span(self.text, self.path, self.structure)

    def locate(self, heading: str | None) -> tuple[int, tuple[int, int]] | None:
        """Return the start of a decision and the span of its prose."""
        if heading is None and self.only_span is not None:
            return 0, (self.only_span.start, self.only_span.end)

        entry = self.entry(heading)
        if entry is None:
            return None

        return (entry.span.start, entry_span(entry))

    @cached_property
    def _may_state_review(self) -> bool:
        """Whether one of its decisions may say when to look at it again; few do."""
        from orbit_registry.model.review_in_document import may_state_review

        return may_state_review(self.text)

    def review_terms(self, heading: str | None) -> ReviewTerms:
        """Return when a decision's header says to look at it again."""
        from orbit_registry.model.review_in_document import terms_of_document

        entry = self.entry(heading) if self._may_state_review else None
        if entry is None:
            return NO_TERMS

        return terms_of_document(entry.facts)

    def prose(self, position: tuple[int, tuple[int, int]]) -> str:
        """Return the prose at a position from `locate`."""
        start, end = position[1]
        return self.text[start:end].strip("\r\n")


def row_of_document(path: str, content: bytes) -> Sequence[Any] | None:
    """Return what the cache stores of a document: its decisions and its only span;
    None if it is no text.
    """
    try:
        document = Document(path, decode(content, path))
    except OrbitError:
        return None

    return [to_row(document.file), to_row(document.only_span)]


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a workspace, and problems of unreadable ones."""

    by_path: Mapping[str, Document]
    problems: tuple[Diagnostic, ...] = ()

    def of(self, record: Record) -> tuple[Document, AdrDocument] | None:
        """Return the document and the entry of a record."""
        source = record.source
        document = self.by_path.get(source.path) if source else None
        if source is None or document is None:
            return None

        entry = document.entry(source.heading)
        if entry is None:
            return None

        return (document, entry)

    def prose_of(self, record: Record) -> str | None:
        """Return a record's prose from its document; None where no document has it."""
        source = record.source
        document = self.by_path.get(source.path) if source else None
        if source is None or document is None:
            return None

        position = document.locate(source.heading)
        if position is None:
            return None

        return document.prose(position)


def heading_of(entry: AdrDocument, format_name: str) -> str | None:
    """Return the `source.heading` that finds an entry again; None where a file is one decision."""
    if format_name != "log":
        return None

    number = entry.number
    if number is None:
        return entry.title

    if number.upper().startswith("ADR"):
        return number

    return f"ADR-{number}"


def read_documents(workspace: Workspace, records: Iterable[Record]) -> Documents:
    """Return the documents of these records."""
    paths: set[str] = set()
    for record in records:
        source = record.source if record.kind.in_document else None
        if source is not None:
            paths.add(source.path)

    by_path: dict[str, Document] = {}
    problems: list[Diagnostic] = []
    for path in sorted(paths):
        match load_document(workspace, path):
            case Document() as document:
                by_path[path] = document
            case Diagnostic() as problem:
                problems.append(problem)

    return Documents(by_path, tuple(problems))


def home_of(workspace: Workspace, record: Record) -> tuple[Document, AdrDocument] | None:
    """Return the document and the entry of a record that is to change.

    Raises:
        RefusedError: there is a document, and it can't be read.
    """
    documents = read_documents(workspace, [record])
    for problem in documents.problems:
        message = f"{problem.location.path} can't be read: {problem.message}; nothing was changed"
        raise RefusedError(message, hint=problem.hint or "correct the file, then try again")

    return documents.of(record)


def load_document(workspace: Workspace, path: str) -> Document | Diagnostic | None:
    """Return a document, or a problem; None where it is missing or a link to a file of the
    project.
    """
    root = workspace.root
    try:
        text = read_text(inside(root, path), limit=DOCUMENT_LIMIT)
    except OrbitError as error:
        if not os.path.lexists(root / path) or _leads_inside(root, path):
            return None

        return from_error(UNREADABLE_DOCUMENT, path, error, str(root))

    return Document(path, text)


def _leads_inside(root: Path, path: str) -> bool:
    link = root / path
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # a loop of links
        return False

    return link.is_symlink() and target.is_file() and target.is_relative_to(root.resolve())


Decision = tuple[str, tuple[RejectedOption, ...], ReviewTerms]
"""The prose of a decision, the options that it seems to reject, and when it says to look at it
again.
"""
DecisionIn = Callable[[Record, str], Decision | None]
"""A record's decision in the file at a path; None where it does not hold the decision."""


def with_prose(
    record: Record, decision_in: DecisionIn, text_of: Callable[[str], str | None]
) -> Record:
    """Return a record with its prose and what that suggests, whichever file holds it."""
    if record.kind.in_record:
        return record

    source = record.source
    if record.kind.in_file:
        text = text_of(source.path) if source else None
        return replace(record, prose=text or "")

    decision = decision_in(record, source.path) if source else None
    if decision is None:
        decision = decision_in(record, record.body_path)
    if decision is None:
        return record

    prose, suggested, terms = decision
    return replace(record, prose=prose, suggested=suggested, document_terms=terms)


def prose_in(documents: Documents, text_of: Callable[[str], str | None]) -> DecisionIn:
    """Return what finds the prose of decisions in documents and body files."""

    def decision_in(record: Record, path: str) -> Decision | None:
        if path == record.body_path:
            prose = text_of(path)
        else:
            prose = documents.prose_of(record)

        if prose is None:
            return None

        return (prose, (), NO_TERMS)

    return decision_in


def whole(workspace: Workspace, records: Iterable[Record]) -> list[Record]:
    """Return records with their prose, reading only their documents."""
    return filled_from(records, cache(partial(document_text, workspace.root)))


def filled_from(records: Iterable[Record], text_of: Callable[[str], str | None]) -> list[Record]:
    """Return records with their prose, from the texts of files."""

    @cache
    def document(path: str) -> Document:
        return Document(path, text_of(path) or "")

    def decision_in(record: Record, path: str) -> Decision | None:
        if text_of(path) is None:
            return None

        return _decision(document(path), _heading(record, path))

    return [with_prose(record, decision_in, text_of) for record in records]


def entry_text(document: Document, entry: AdrDocument) -> str:
    """Return a decision's prose: everything below its heading."""
    start, end = entry_span(entry)
    return document.text[start:end].strip("\r\n")


def entry_span(entry: AdrDocument) -> tuple[int, int]:
    """Return the span of a decision's prose with the line ends around it."""
    start, end = entry.span.start, entry.span.end
    if entry.heading_span:
        start = entry.heading_span.end

    return start, end


@lru_cache(maxsize=65_536)  # called for every entry of a log and every record
def _number(text: str) -> int | None:
    match = _DIGITS.search(text)
    if match:
        return int(match[0])

    return None


class ProseReading:
    """Prose of records in documents and body files: hashes at once, texts on demand."""

    def __init__(
        self,
        workspace: Workspace,
        bodies: Iterable[str],
        documents: Iterable[str],
    ) -> None:
        self._workspace = workspace
        paths = [path for path in sorted(set(documents)) if is_inside(workspace.root, path)]
        paths += sorted(bodies)
        states = workspace.cache.hashes(workspace.root, paths)
        self.states = {path: state for path, state in states.items() if state.error is None}
        """Readable documents and bodies by path."""

        self.clean: set[str] = set()
        """The records, by path, whose prose was read and holds no secret, as far as is known."""
        self._text = lru_cache(maxsize=1)(self._read)  # records of one log follow each other

    def document_text(self, record: Record) -> str | None:
        """Return the full text of a decision's document."""
        source = record.source
        if source is None or not record.kind.in_document:
            return None

        return self._text(source.path)

    def filled(self, records: Iterable[Record]) -> RecordSet:
        """Return the records with their prose."""
        records = list(records)
        headings: dict[str, set[str]] = defaultdict(set)
        for record in records:
            path = self._path_of_prose(record)
            if path is not None:
                headings[path].add(_heading(record, path))

        def read(path: str, content: bytes) -> _Rows | None:
            try:
                return _rows(path, content.decode("utf-8"), headings[path])
            except UnicodeDecodeError:
                # A check reports it; a record without its prose is still a record.
                return None

        workspace = self._workspace
        stored = workspace.cache.files(
            "prose",
            workspace.root,
            headings,
            read,
            limit=DOCUMENT_LIMIT,
        )

        def decision_in(record: Record, path: str) -> Decision | None:
            heading = _heading(record, path)
            rows: _Rows | None = stored[path].value if path in stored else None
            is_clean = path in stored and stored[path].is_clean
            if rows is None or heading not in rows:  # the record is newer than the cached value
                is_clean = False
                text = self._text(path)
                if text is None:
                    return None

                rows = _rows(path, text, [heading])

            row = rows[heading]
            if row is None:
                return None

            if is_clean:
                self.clean.add(record.path)

            prose, options, by, conditions, unread = row
            suggested = tuple([RejectedOption(*option) for option in options])
            return prose, suggested, ReviewTerms(by, conditions_of(conditions), unread)

        return RecordSet(with_prose(record, decision_in, self._text) for record in records)

    def _path_of_prose(self, record: Record) -> str | None:
        """Return the readable file that holds a decision; its document comes before its body."""
        if not record.kind.in_document:
            return None

        source = record.source
        if source is not None and source.path in self.states:
            return source.path

        if record.body_path in self.states:
            return record.body_path

        return None

    def _read(self, path: str) -> str | None:
        if path not in self.states:
            return None

        return document_text(self._workspace.root, path)


_BODY = "*"  # key of a file that holds nothing but a decision's prose
_Row = list[Any]
"""As JSON: a decision's prose, pairs of an option that it seems to reject and the reason, and the
date, the conditions and the unread date of its review.
"""
_Rows = dict[str, _Row | None]
"""The rows of a file's decisions, by `_heading`."""


def _heading(record: Record, path: str) -> str:
    """Return the key of a record's entry in a file, for JSON; empty for a document's only entry."""
    if path == record.body_path:
        return _BODY

    source = record.source
    if source is None or source.heading is None:
        return ""

    return f"#{source.heading}"


def _decision(document: Document, heading: str) -> Decision | None:
    # The reader of documents costs a start, and the cache has the rows of most runs.
    from orbit_registry.formats.adr.options import suggested_options

    if heading == _BODY:
        return document.text, suggested_options(document.text), NO_TERMS

    name = heading[1:] if heading else None
    position = document.locate(name)
    if position is None:
        return None

    suggested = suggested_options(document.text, Span(*position[1]))
    return document.prose(position), suggested, document.review_terms(name)


def _rows(path: str, text: str, headings: Iterable[str]) -> _Rows:
    document = Document(path, text)
    rows: _Rows = dict.fromkeys(sorted(headings))
    for heading in rows:
        decision = _decision(document, heading)
        if decision is not None:
            prose, suggested, terms = decision
            options = [[option.option, option.reason] for option in suggested]
            conditions = [str(condition) for condition in terms.when]
            rows[heading] = [prose, options, terms.by, conditions, terms.unread]

    return rows


_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][^{}\":;()\n]{0,300}[ |][^{}\":;()\n]{1,300}\}|\[(?:short "
    r"title|[Dd]escribe|[Ii]nsert) [^\]\n]{0,200}\]"
    r"|TBD\.?|TODO:?|…"
)
NOTHING = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t].*)?|[-*+]|<!--.*-->|[-*_]{3,})?[ \t]*")
"""A line that says nothing: blank, a heading, an empty bullet, a comment, a rule."""
_FENCE = re.compile(r"[ \t>]{0,8}(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)")
_DRESS = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?")


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code with their offsets."""
    offset, fenced = 0, False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _INDENTED.match(line):
            yield offset, line
        offset += len(line) + 1


def is_prompt(line: str, prompts: frozenset[str]) -> bool:
    """Say whether a line is one of the prompts, or a common placeholder."""
    bare = _undressed(line)
    return bool(bare) and (bare in prompts or _PLACEHOLDER.fullmatch(bare) is not None)


def _undressed(line: str) -> str:
    """Return a line without the mark of a quote or an item."""
    dress = _DRESS.match(line)
    return line[dress.end() if dress else 0 :].strip()


def first_prompt(text: str, prompts: frozenset[str]) -> tuple[int, str] | None:
    """Return the offset and the text of the first prompt."""
    for offset, line in lines_outside_code(text):
        if is_prompt(line, prompts):
            return offset, line.strip()

    return None


def has_text(text: str, entry: AdrDocument) -> bool:
    """Say whether a decision says more than its headings and the facts of its header."""
    offset = entry.span.start
    for match in re.finditer(r"[^\r\n]+", entry.span.of(text)):
        if NOTHING.fullmatch(match[0]):
            continue

        start, end = offset + match.start(), offset + match.end()
        spans = (fact.span for fact in entry.facts)
        if not any(span.start < end and start < span.end for span in spans):
            return True

    return False


@cache
def prompts_of(folder: Path, in_document: bool) -> frozenset[str]:
    """Return the lines that a kind's templates put where a person is to write."""
    files = (folder / name for name in ("new.md", "entry.md"))
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    if in_document:
        from orbit_registry.formats.adr.vocabulary import PROMPTS

        texts += PROMPTS.values()

    prompts: set[str] = set()
    for text in texts:
        for line in text.split("\n"):
            bare = _undressed(line)
            is_prose = " " in bare or not bare.isascii()
            if is_prose and "$" not in bare and not bare.startswith("#"):
                prompts.add(bare)

    return frozenset(prompts)
