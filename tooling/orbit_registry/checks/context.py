"""Context of a run of the gate: its inputs, and what the checks read of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.checks.inputs import Files, Inputs
from orbit_registry.errors import GitError
from orbit_registry.formats.conflicts import conflict_line
from orbit_registry.formats.position import Position, position_at
from orbit_registry.formats.yaml import position_in
from orbit_registry.judgements.is_duplicate import Wording
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import created_at, has_expiry
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import Record, Source
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.citations import CitedId, cited_by, cited_in
from orbit_registry.operations.freshness.evaluate import FreshnessReport
from orbit_registry.operations.glob_counts import counter_in
from orbit_registry.repository.baseline import read_baseline
from orbit_registry.repository.documents import (
    Document,
    Documents,
    load_document,
    prose_in,
    row_of_document,
    with_prose,
)
from orbit_registry.repository.inherited import copy_digest
from orbit_registry.workspace.cache import Cache
from orbit_registry.workspace.files import DOCUMENT_LIMIT
from orbit_registry.workspace.workspace import CONFIG, INHERITED

if TYPE_CHECKING:
    from orbit_registry.checks.approval import Judged
    from orbit_registry.checks.base import Base
    from orbit_registry.formats.adr.model import AdrDocument, Section
    from orbit_registry.operations.freshness.renames import Move, Renames
    from orbit_registry.operations.link_targets import Targets


LOCAL = ".orbit/state/"
"""Folder of the local inbox, which git ignores."""
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class CheckContext(Inputs):
    """Everything that the checks of one run read."""

    records: RecordSet = field(default_factory=lambda: RecordSet(()))
    """The valid records, prose filled in."""
    documents: Documents = field(default_factory=lambda: Documents({}))
    problems: tuple[Diagnostic, ...] = ()
    """Findings of the readers."""
    text: Callable[[str], str | None] = lambda path: None
    """Returns the text of a file, named from the root; None where it has none."""
    authority: str | None = None
    """Which side wins where a decision and its document differ, `record` or `document`;
    None: each record's own.
    """

    @property
    def kinds(self) -> KindTable:
        """The kinds of records."""
        return self.workspace.kinds

    @property
    def cache(self) -> Cache:
        """What was worked out before."""
        return self.workspace.cache

    @cached_property
    def without_secrets(self) -> AbstractSet[str]:
        """The records, by path, of which no text holds a secret; others may have one."""
        return self.reading.without_secrets

    def filled(self) -> RecordSet:
        """Return the records with their prose."""
        return self.reading.filled

    @property
    def filled_before(self) -> Callable[[], Sequence[Record]] | None:
        """Returns those of the base; None where the change touches no record."""
        if self.base is None:
            return None

        return self.base.filled

    @cached_property
    def base(self) -> Base | None:
        """The base of the change, if the change touches a record or what the gate obeys."""
        if self.policy is None:
            return None

        from orbit_registry.checks.base import Base  # few changes touch a record

        return Base(self, self.policy, self.records)

    @cached_property
    def judged(self) -> Sequence[Judged]:
        """What the change does to what its base protects, and what lacks a proof."""
        facts, git = self.facts, self.workspace.git
        if facts.head is None:
            return ()

        if facts.against is not None:
            if self.base is None:
                return ()

            return self.base.judged()

        is_required = self.workspace.config.setting("approval", "require") != "none"
        if not is_required and CONFIG not in (facts.changed or ()):
            return ()

        from orbit_registry.checks.approval import unproved  # few projects require it

        return tuple(unproved(git, self.kinds, self.records, facts.base_commit))

    @cached_property
    def copies(self) -> Mapping[str, str]:
        """The digest of the copy of each source that records are inherited from."""
        files: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for entry in self.reading.entries:
            if not entry.source:
                continue

            states = {entry.path: self.reading.states[entry.path]}
            if entry.has_body:
                states[entry.body_path] = self.states[entry.body_path]

            folder = f"{INHERITED}/{entry.source}/"
            for path, state in states.items():
                files[entry.source].append((path.removeprefix(folder), state.sha256))

        return {source: copy_digest(hashes) for source, hashes in files.items()}

    def renames(self, start: datetime | str, files: Sequence[str]) -> Renames | None:
        """Return the renames that git saw since a moment or a commit; None where it can't tell."""
        # Most runs find no glob that is dead.
        from orbit_registry.operations.freshness.renames import renames_since

        try:
            return renames_since(self.workspace, start, files)
        except GitError:
            return None

    def meanings(
        self, kind: Kind, wordings: Mapping[str, Wording], threshold: float
    ) -> Mapping[tuple[str, str], float]:
        """Return how near headlines are in meaning, from a threshold up; empty without a model."""
        from orbit_registry.checks.duplicates import headline_meanings  # 10 ms, as its wording

        return headline_meanings(self.workspace, kind, wordings, threshold)

    def decides(self, source: Source) -> str:
        """Return the side that wins where a decision and its document differ."""
        return self.authority or source.authority

    @cached_property
    def open_records(self) -> tuple[Record, ...]:
        """The records that are not closed."""
        return tuple(record for record in self.records if record.phase != "closed")

    @cached_property
    def broken(self) -> frozenset[str]:
        """Ids whose files exist but hold no valid record."""
        parts = (problem.location.path.split("/") for problem in self.problems)
        return frozenset(names[-2] for names in parts if len(names) > 2 and names[0] == ".orbit")

    @cached_property
    def text_of_broken(self) -> str:
        """The text of all files with a finding of the readers."""
        paths = dict.fromkeys(problem.location.path for problem in self.problems)
        return "\n".join(self.text(path) or "" for path in paths)

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Where each record that names a document has its prose, by the record's path."""
        pairs = ((record.path, record.source) for record in self.records if "source" in record.data)
        return {path: source for path, source in pairs if source is not None}

    @cached_property
    def our_documents(self) -> frozenset[str]:
        """The documents that hold a decision written with this tool."""
        ours = (
            record for record in self.records if record.path in self.sources and is_ours(record)
        )
        return frozenset(self.sources[record.path].path for record in ours)

    @cached_property
    def conflicts(self) -> Mapping[str, int]:
        """The documents in which a merge left both sides, each with the line of the first."""
        lines = {path: conflict_line(each.text) for path, each in self.documents.by_path.items()}
        return {path: line for path, line in lines.items() if line}

    @cached_property
    def homes(self) -> Mapping[str, tuple[Document, AdrDocument]]:
        """The document and entry of each record that has one, by the record's path."""
        pairs = (
            (record.path, self.documents.of(record))
            for record in self.records
            if record.path in self.sources
        )
        return {path: home for path, home in pairs if home is not None}

    @cached_property
    def unclaimed(self) -> tuple[tuple[Document, AdrDocument], ...]:
        """The entries of decision documents without a record."""
        claimed = {(document.path, entry.span.start) for document, entry in self.homes.values()}
        unclaimed: list[tuple[Document, AdrDocument]] = []
        for path, document in self.documents.by_path.items():
            for entry in document.file.entries:
                is_listed = document.listed_by(entry) in self.documents.by_path
                if (path, entry.span.start) not in claimed and not is_listed:
                    unclaimed.append((document, entry))

        return tuple(unclaimed)

    @cached_property
    def targets(self) -> Targets:
        """Decisions that a document can refer to by a link, a number or a name."""
        # 15 ms; the cached result needs none.
        from orbit_registry.operations.link_targets import Targets, location_of

        return Targets(location_of(record) for record in self.records if record.kind.in_document)

    @cached_property
    def citations(self) -> tuple[CitedId, ...]:
        """The ids of kinds that citing files and the records' own texts name,
        examples in code left out.
        """
        return (*self._cited_in_files(), *self._cited_in_records())

    def _cited_in_files(self) -> Iterator[CitedId]:
        for path in self.facts.citing:
            if "template" in path.rpartition("/")[2].lower():
                continue  # what a template cites is an example
            for cited, line, column in cited_in(self.text(path), path, self.kinds.id_forms):
                yield CitedId(cited, Location(path, Position(line, column)))

    def _cited_in_records(self) -> Iterator[CitedId]:
        for record in self.records:
            for citation in cited_by(record, self.kinds.id_forms):
                where = self.in_field(record, record.kind.prose, record.prose, citation.span.start)
                yield CitedId(citation.id, where, record)

    @cached_property
    def compared(self) -> Mapping[str, Wording]:
        """What each record says, as compared for duplicates, by the record's path."""
        # 10 ms; the cached result needs none.
        from orbit_registry.checks.duplicates import wordings_of

        records = [record for record in self.records if not record.kind.in_file]
        return wordings_of(records, self.kinds.fingerprint, self.cache, self.without_secrets)

    @cached_property
    def report(self) -> FreshnessReport:
        """The freshness of the records, and how many files their globs match."""
        facts = self.facts
        return FreshnessReport(
            self.records,
            self.filesystem,
            facts.tracked,
            facts.untracked,
            facts.documents_gone - facts.not_checked_out,
            self.now,
            self.config,
            count=counter_in(self.cache, "freshness"),
        )

    @cached_property
    def moves(self) -> Mapping[str, Sequence[Move]]:
        """What became of the files that records name and that are gone, by the record's path."""
        # Most runs find no glob that is dead.
        from orbit_registry.operations.freshness.renames import moves_by_record

        return moves_by_record(self.records, self.report, self.renames)

    def move_of(self, record: Record, name: str) -> Move | None:
        """Return what became of a file or glob that a record names; None where that is unknown."""
        moves = self.moves.get(record.path, ())
        return next((move for move in moves if move.old == name), None)

    @cached_property
    def renames_of_change(self) -> Renames | None:
        """The renames since the base that the change is compared with; None without one."""
        facts = self.facts
        if facts.against is None or not facts.base_commit:
            return None

        return self.renames(facts.base_commit, self.report.files)

    @cached_property
    def renames_of_documents(self) -> Renames | None:
        """The renames since the records were made whose documents are gone; None without any."""
        gone = self.facts.documents_gone
        records = [
            record for record in self.records if record.source and record.source.path in gone
        ]
        if not records:
            return None

        return self.renames(min(map(created_at, records)), self.report.files)

    @cached_property
    def with_expiry(self) -> tuple[Record, ...]:
        """The open records that state something about their freshness, or expire."""
        return tuple(filter(has_expiry, self.open_records))

    def knows(self, target: str) -> bool:
        """Say whether an id names a record, or a file that should hold one."""
        return target in self.broken or bool(self.records.candidates(target))

    def is_id(self, text: str) -> bool:
        """Say whether a text has the form of an id of one of the kinds,
        or of a legacy id with a namespace.
        """
        tail = text.rpartition("/")[2]
        return "://" not in text and self.kinds.of_id(tail) is not None

    def is_inherited_id(self, text: str) -> bool:
        """Say whether a text has the form of an id of an inherited record."""
        source, colon, tail = text.partition(":")
        return bool(colon) and source in self.kinds.sources and self.kinds.of_id(tail) is not None

    def is_changed(self, record: Record) -> bool:
        """Say whether a record or its prose differs from the base;
        what git can't tell counts as unchanged.
        """
        if record.path.startswith(LOCAL):
            return True

        changed = self.facts.changed
        if changed is None:
            return False
        if record.path in changed or record.body_path in changed:
            return True
        if record.source is None or record.source.path not in changed:
            return False

        return record.prose.strip() not in self.facts.texts_before.get(record.source.path, "")

    def at(self, record: Record, *pointer: str | int) -> Location:
        """Return the location of a value in a record's file."""
        text = self.text(record.path)
        position = position_in(text, pointer) if text is not None else Position(1)
        return Location(record.path, position)

    def in_config(self, *pointer: str | int) -> Location:
        """Return the location of a value in the configuration."""
        text = self.text(CONFIG)
        return Location(CONFIG, position_in(text, pointer) if text is not None else None)

    def in_prose(self, record: Record, offset: int) -> Location:
        """Return the location of a character of a record's prose, in the file that holds it."""
        home = self.homes.get(record.path)
        if home is not None:
            document, entry = home
            start = max(document.text.find(record.prose, entry.span.start), entry.span.start)
            return Location(document.path, position_at(document.text, start + offset))

        if record.kind.in_record:
            return self.in_field(record, record.kind.prose, record.prose, offset)

        path = record.source.path if record.kind.in_file and record.source else record.body_path
        return Location(path, position_at(record.prose, offset))

    def in_entry(self, record: Record, section: Section | None = None) -> Location:
        """Return the location of a section of a decision; without one, of the decision itself."""
        path = record.body_path
        position = Position(1)
        home = self.homes.get(record.path)
        if home is not None:
            path = home[0].path
            position = home[1].position
        if section is not None:
            position = section.position

        return Location(path, position)

    def in_field(self, record: Record, name: str, value: str, offset: int) -> Location:
        """Return the location of a character of a text field;
        the field's own where the file writes it otherwise.
        """
        text = self.text(record.path)
        if text is None:
            return Location(record.path, Position(1))

        start = value.rfind("\n", 0, offset) + 1
        line = value[start:].partition("\n")[0]
        position = text.find(line)
        if position < 0 or not line.strip():
            return self.at(record, name)

        return Location(record.path, position_at(text, position + offset - start))


def grouped(values: Iterable[Value], key: Callable[[Value], Key]) -> dict[Key, list[Value]]:
    """Return values by their keys, in their order."""
    groups: dict[Key, list[Value]] = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return groups


def is_ours(record: Record) -> bool:
    """Say whether the record was written with this tool:
    adopted ones get notes from content checks.
    """
    source = record.source
    return record.role != "import" and (source is None or source.authority == "record")


def binding(
    record: Record, severity: Severity = Severity.ERROR, otherwise: Severity = Severity.NOTE
) -> Severity:
    """Return `severity` for a record written with this tool, `otherwise` for an adopted one."""
    if is_ours(record):
        return severity

    return otherwise


def load_context(
    inputs: Inputs, text: Files | None = None, authority: str | None = None
) -> CheckContext:
    """Return the context of the checks."""
    text = text or Files(inputs)
    workspace, collection = inputs.workspace, inputs.reading.collection
    documents = _documents(inputs, text)
    records = RecordSet(
        with_prose(record, prose_in(documents, text), text) for record in collection.records
    )
    taken_over = {part.name: getattr(inputs, part.name) for part in fields(Inputs)}
    return CheckContext(
        **taken_over,
        records=records,
        documents=documents,
        problems=(*collection.problems, *read_baseline(workspace)[1], *documents.problems),
        text=text,
        authority=authority,
    )


def _documents(inputs: Inputs, text: Files) -> Documents:
    """Return the documents, those parsed before from the cache."""
    workspace = inputs.workspace
    paths = sorted(inputs.document_paths)
    texts = {path: content for path in paths if (content := text(path)) is not None}
    parsed = workspace.cache.files(
        "documents", workspace.root, texts, row_of_document, limit=DOCUMENT_LIMIT
    )

    by_path: dict[str, Document] = {}
    problems: list[Diagnostic] = []
    for path in paths:
        if path in texts:
            row = parsed.get(path)
            is_same = row is not None and row.sha256 == inputs.states[path].sha256
            by_path[path] = Document(path, texts[path], row.value if row and is_same else None)
        elif isinstance(problem := load_document(workspace, path), Diagnostic):
            problems.append(problem)

    return Documents(by_path, tuple(problems))
