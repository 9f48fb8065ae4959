"""Context of a run of the gate: its inputs as hashes, taken before anything is parsed,
and what the checks read.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.checks.code_citations import NONE_CITED, cited_in_code
from orbit_registry.errors import GitError, OrbitError
from orbit_registry.formats.position import Position, position_at
from orbit_registry.formats.yaml import position_in
from orbit_registry.judgements.is_duplicate import Wording
from orbit_registry.lifecycle.code_citation import BadCitation
from orbit_registry.lifecycle.record_checks import not_run, runner, stated
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.lifecycle.review_facts import due_now
from orbit_registry.lifecycle.verdicts import verdicts
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import FilesystemView, created_at, has_expiry
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import Record, Source
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.citations import CitedId, cited_by, cited_in
from orbit_registry.operations.freshness.evaluate import (
    Dependencies,
    FreshnessReport,
    evidence_kinds,
    probe,
)
from orbit_registry.repository.baseline import read_baseline
from orbit_registry.repository.codec import hides_record
from orbit_registry.repository.documents import (
    Document,
    Documents,
    decision_paths,
    filled_from,
    load_document,
    prose_in,
    row_of_document,
    with_prose,
)
from orbit_registry.repository.inherited import copy_digest
from orbit_registry.repository.policy import Policy, concerns_policy, records_before
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.vcs_state import VcsState, citing_files, collect_vcs_state
from orbit_registry.repository.votes import BROKEN
from orbit_registry.search.vectors import state_of_model
from orbit_registry.workspace.cache import Cache, FileValue, digest, to_row
from orbit_registry.workspace.config import Config, config_of
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    RECORD_LIMIT,
    decode,
    inside,
    is_inside,
    read_bytes,
)
from orbit_registry.workspace.workspace import CONFIG, INHERITED, Workspace

if TYPE_CHECKING:
    from orbit_registry.checks.added import Added
    from orbit_registry.checks.approval import Judged
    from orbit_registry.checks.protected import Change
    from orbit_registry.formats.adr.model import AdrDocument, Section
    from orbit_registry.lifecycle.built import Built
    from orbit_registry.operations.freshness.renames import Move, Renames
    from orbit_registry.operations.link_targets import Targets


LOCAL = ".orbit/state/"
"""Folder of the local inbox, which git ignores."""
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class CheckContext:
    """Everything that the checks of one run read."""

    records: RecordSet
    """The valid records, prose filled in."""
    kinds: KindTable
    config: Config = field(default_factory=lambda: config_of({}))
    problems: tuple[Diagnostic, ...] = ()
    """Findings of the readers."""
    enforced: tuple[Diagnostic, ...] = ()
    """Findings of the checks that records state."""
    documents: Documents = field(default_factory=lambda: Documents({}))
    facts: VcsState = field(default_factory=VcsState)
    """State of the work tree and of git."""
    filesystem: FilesystemView = field(default_factory=FilesystemView)
    """Current state of fingerprint inputs and evidence."""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    text: Callable[[str], str | None] = lambda path: None
    """Returns the text of a file, named from the root; None where it has none."""
    renames: Callable[[datetime | str, Sequence[str]], Renames | None] = lambda start, files: None
    """Returns the renames that git saw since a moment or a commit; None where it can't tell."""
    meanings: Callable[[Kind, Mapping[str, Wording], float], Mapping[tuple[str, str], float]] = (
        lambda kind, wordings, threshold: {}
    )
    """Returns how near headlines are in meaning, from a threshold up; empty without a model."""
    find_judged: Callable[[], Sequence[Judged]] = tuple
    """Returns what the change does to what its base protects, and what lacks a proof."""
    cache: Cache = field(default_factory=partial(Cache, None, ""))
    """What was worked out before; in memory if nothing is kept."""
    imported: Mapping[str, Sequence[str]] | None = None
    """The packages and modules of scopes that each file imports; None if not looked at."""
    added: Added | None = None
    """The packages and modules that the change adds; None where nothing is compared."""
    filled: Callable[[], Iterable[Record]] = tuple
    """Returns the records with their prose."""
    built: Mapping[str, Built] = field(default_factory=dict)
    """Whether the code follows each open decision, by the record's path; empty if not looked at."""
    due: Mapping[str, Due] = field(default_factory=dict)
    """Why records are to be looked at again, by path."""
    bad_citations: Sequence[BadCitation] = ()
    """Citations in code of decisions that no longer hold or are not there."""
    added_lines: AbstractSet[tuple[str, int]] = frozenset()
    """Path and number of the lines with such a citation that the change adds."""
    filled_before: Callable[[], Sequence[Record]] | None = None
    """Returns those of the base; None where the change touches no record."""
    without_secrets: AbstractSet[str] = frozenset()
    """The records, by path, of which no text holds a secret; others may have one."""
    plain: AbstractSet[str] = frozenset()
    """The records, by path, whose files are printable ASCII; others may be so, too."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """The digest of the copy of each source that records are inherited from."""
    authority: str | None = None
    """Which side wins where a decision and its document differ, `record` or `document`;
    None: each record's own.
    """

    @cached_property
    def judged(self) -> Sequence[Judged]:
        """What the change does to what its base protects, and what lacks a proof."""
        return self.find_judged()

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
                if (path, entry.span.start) not in claimed:
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
            cache=self.cache,
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
        if changed is None or record.path in changed:
            return changed is not None
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
    return severity if is_ours(record) else otherwise


@dataclass(frozen=True)
class Inputs:
    """Inputs of one run."""

    workspace: Workspace
    now: datetime
    reading: Reading
    documents: frozenset[str]
    """Documents of decisions inside the root, named by records or found by their file names."""
    facts: VcsState
    texts: Mapping[str, FileValue]
    """Documents, texts that are records' prose as whole files,
    citing files and the baseline, by path.
    """
    filesystem: FilesystemView
    """Current state of fingerprint inputs and evidence."""
    enforced: tuple[Diagnostic, ...] = ()
    """Findings of the checks that records state."""
    imported: Mapping[str, Sequence[str]] | None = None
    """The packages and modules of scopes that each file imports; None if not looked at."""
    added: Added | None = None
    """The packages and modules that the change adds; None where nothing is compared."""
    built: Mapping[str, Built] = field(default_factory=dict)
    """Whether the code follows each open decision, by the record's path; empty if not looked at."""
    due: Mapping[str, Due] = field(default_factory=dict)
    """Why records are to be looked at again, by path."""
    bad_citations: Sequence[BadCitation] = ()
    added_lines: AbstractSet[tuple[str, int]] = frozenset()
    """Those lines with such a citation that the change adds."""
    config: Config = field(default_factory=lambda: config_of({}))
    """The configuration that the gate obeys: against a base, its own, to which a change adds."""
    policy: Policy | None = None
    """What the base says, if the change touches a record or what the gate obeys."""
    before: Sequence[Record] = ()
    """The records of the base, if so."""

    @property
    def key(self) -> str:
        """Digest of everything a finding can depend on, the date included;
        the cache is bound to the code version.
        """
        states = (*self.reading.states.items(), *self.texts.items())
        files = [f"{path}\0{state.sha256}\0{state.error or ''}" for path, state in states]
        bodies = [entry.body_path for entry in self.reading.entries if entry.has_body]
        facts = [_plain(getattr(self.facts, fact.name)) for fact in fields(self.facts)]

        view = self.filesystem
        inputs = [[text, now.hash, now.problem] for text, now in view.inputs.items()]
        evidence = [sorted(view.present), sorted(view.missing), view.unanswered]
        sources = sorted(view.changed_sources.items())
        imported = None if self.imported is None else sorted(self.imported.items())
        enforced = list(map(to_row, self.enforced))
        added = list(self.added or ())
        due = [f"{path} {verdict}" for path, verdict in sorted(self.due.items())]
        built = [[path, to_row(verdict)] for path, verdict in sorted(self.built.items())]
        in_code = [*map(to_row, self.bad_citations), sorted(self.added_lines)]

        settings = [repr(self.config), repr(self.workspace.config.raw)]
        settings.append(state_of_model(self.workspace))

        return digest(
            self.now.date().isoformat(),
            _kinds_stamp(self.workspace),
            settings,
            files,
            bodies,
            list(map(str, self.reading.misplaced)),
            facts,
            inputs,
            evidence,
            sources,
            enforced,
            imported,
            added,
            due,
            built,
            in_code,
        )


def collect_inputs(
    workspace: Workspace,
    against: str | None,
    now: datetime,
    *,
    proposed: bool = False,
    definitions_only: bool = False,
    reading: Reading | None = None,
) -> Inputs:
    """Return a run's inputs; checks of `proposed` records run too,
    with `definitions_only` none of any record. `reading` is what was read just now.
    """
    reading = reading or Reading(workspace, now=now)
    placed = ((reading.document_of(entry), entry.kind) for entry in reading.entries)
    kinds_by_document = {path: kind for path, kind in placed if path is not None}
    facts = collect_vcs_state(workspace, reading, kinds_by_document, against)
    policy = policy_of(workspace, facts, kinds_by_document)
    config = workspace.config
    before: list[Record] = []
    if policy is not None:
        from orbit_registry.checks.protected import judging  # few changes touch a record

        before = records_before(policy, workspace, reading, facts.changed or ())
        config = judging(policy, config)

    if config != workspace.config:
        judged = replace(workspace, config=config)
        files = (*(facts.tracked or ()), *facts.untracked)
        facts = replace(facts, citing=tuple(citing_files(judged, files)))

    outside = {path for path in facts.documents_gone if not is_inside(workspace.root, path)}
    inside_documents = {path for path in kinds_by_document if path not in outside}
    in_file = {path for path in inside_documents if kinds_by_document[path].in_file}
    documents = frozenset((*(inside_documents - in_file), *decision_paths(workspace)))

    baseline = workspace.relative(workspace.baseline)
    bodies = (entry.body_path for entry in reading.entries if entry.has_body)
    paths = {*documents, *in_file, *facts.citing, *bodies, baseline}
    hashes = workspace.cache.hashes(workspace.root, paths)
    texts = {path: hashes.get(path, FileValue(path)) for path in sorted(paths)}

    dependencies = Dependencies.of(reading.collection.records, evidence_kinds(workspace.config))
    filesystem = probe(workspace, dependencies, facts.tracked, facts.untracked)
    enforced = _enforced(
        workspace,
        reading,
        facts,
        against=against,
        before=stated(row for row in before if row.phase == "live"),
        proposed=proposed,
        definitions_only=definitions_only,
    )

    imported: Mapping[str, Sequence[str]] | None = None
    names_packages = any(record.uses for record in reading.collection.records)
    if names_packages and facts.tracked is not None and not definitions_only:
        from orbit_registry.search.source_files import SourceFiles  # few records name packages

        files = (*facts.tracked, *facts.untracked)
        imported = SourceFiles(workspace, [*reading.collection.records], files).imported

    added: Added | None = None
    if against is not None and facts.base_commit and not definitions_only:
        from orbit_registry.checks.added import added_names  # only a change adds something

        files = (*(facts.tracked or ()), *facts.untracked)
        added = added_names(workspace, facts.base_commit, facts.changed, files)

    judged = replace(workspace, config=config)
    due = {} if definitions_only else due_now(workspace, reading, now)
    in_code = NONE_CITED if definitions_only else cited_in_code(judged, reading, facts)

    return Inputs(
        workspace,
        now,
        reading,
        documents,
        facts,
        texts,
        filesystem,
        enforced,
        imported,
        added,
        built={} if definitions_only else verdicts(workspace, reading),
        due=due,
        bad_citations=in_code[0],
        added_lines=in_code[1],
        config=config,
        policy=policy,
        before=before,
    )


def _enforced(
    workspace: Workspace,
    reading: Reading,
    facts: VcsState,
    *,
    against: str | None,
    before: Sequence[Record],
    proposed: bool,
    definitions_only: bool,
) -> tuple[Diagnostic, ...]:
    """Return what the checks of records find; `before` are those at the base that state some."""
    # A changed record may have lost its checks.
    changed = facts.changed or () if against is not None else ()
    records = [
        record
        for record in reading.collection.records
        if "checks" in record.data or record.path in changed
    ]
    running = runner() if records or before else None  # most projects have no check
    if running is None:
        return not_run(records)

    return running.enforce(
        workspace,
        records,
        facts.tracked,
        facts.untracked,
        against=against,
        before=before,
        proposed=proposed,
        definitions_only=definitions_only,
    )


def policy_of(workspace: Workspace, facts: VcsState, documents: Collection[str]) -> Policy | None:
    """Return what the base of a change says, if the change touches a record or what the gate
    obeys.
    """
    if facts.against is None or not facts.base_commit:
        return None
    if not concerns_policy(workspace, facts.changed or (), facts.submodules, documents):
        return None

    return Policy(workspace.git, facts.base_commit)


def _kinds_stamp(workspace: Workspace) -> list[str]:
    stamp = [workspace.kinds.fingerprint]
    for kind in workspace.kinds:
        for name in ("kind.yaml", "new.md", "entry.md"):
            file = kind.folder / name
            if file.is_file():
                stamp.append(hashlib.sha256(file.read_bytes()).hexdigest())

    return stamp


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return sorted(value.items())
    return value


class Files:
    """The texts of the project's files, each read once."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._texts: dict[str, str | None] = {}
        self.is_steady = True
        """Whether each file that was read still had the hash of the inputs."""

    def __call__(self, path: str) -> str | None:
        """Return the text of a file, named from the root; None where it has none."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str | None:
        states = self._inputs.reading.states
        state = self._inputs.texts.get(path) or states.get(path)
        digest, text = "", None
        with contextlib.suppress(OrbitError):
            file = inside(self._inputs.workspace.root, path)
            content = read_bytes(file, limit=RECORD_LIMIT if path in states else DOCUMENT_LIMIT)
            digest = hashlib.sha256(content).hexdigest()
            text = decode(content, path)

        self.is_steady &= state is None or digest == state.sha256
        return text


def load_context(inputs: Inputs, files: Files | None = None) -> CheckContext:
    """Return the context of the checks."""
    files = files or Files(inputs)
    workspace = inputs.workspace
    collection = inputs.reading.collection
    texts = {path: text for path in sorted(inputs.documents) if (text := files(path)) is not None}
    states = workspace.cache.files(
        "documents", workspace.root, texts, row_of_document, limit=DOCUMENT_LIMIT
    )
    rows = {
        path: state.value
        for path, state in states.items()
        if state.sha256 == inputs.texts[path].sha256
    }
    by_path = {path: Document(path, text, rows.get(path)) for path, text in texts.items()}
    others = (load_document(workspace, path) for path in sorted(inputs.documents - by_path.keys()))
    unread = tuple(problem for problem in others if isinstance(problem, Diagnostic))
    documents = Documents(by_path, unread)
    problems = (*collection.problems, *read_baseline(workspace)[1], *unread)
    records = RecordSet(
        with_prose(record, prose_in(documents, files), files) for record in collection.records
    )

    find_judged = partial(_judged, inputs, records)
    copies = _copies(inputs)

    context = CheckContext(
        records=records,
        kinds=workspace.kinds,
        config=inputs.config,
        problems=problems,
        documents=documents,
        enforced=inputs.enforced,
        facts=inputs.facts,
        filesystem=inputs.filesystem,
        now=inputs.now,
        text=files,
        renames=partial(_renames, workspace),
        find_judged=find_judged,
        cache=workspace.cache,
        imported=inputs.imported,
        copies=copies,
    )
    context = replace(
        context,
        without_secrets=inputs.reading.without_secrets,
        plain=inputs.reading.plain,
        meanings=partial(_meanings, workspace),
        due=inputs.due,
        bad_citations=inputs.bad_citations,
        added_lines=inputs.added_lines,
    )

    def filled() -> RecordSet:
        return inputs.reading.filled

    filled_before = None
    if inputs.policy is not None:
        filled_before = partial(_filled_before, inputs, inputs.policy, filled)

    return replace(
        context,
        added=inputs.added,
        built=inputs.built,
        filled=filled,
        filled_before=filled_before,
    )


def _meanings(
    workspace: Workspace, kind: Kind, wordings: Mapping[str, Wording], threshold: float
) -> Mapping[tuple[str, str], float]:
    from orbit_registry.checks.duplicates import headline_meanings  # 10 ms, as its wording

    return headline_meanings(workspace, kind, wordings, threshold)


def _filled_before(
    inputs: Inputs, policy: Policy, filled: Callable[[], Iterable[Record]]
) -> list[Record]:
    """Return the records of the base with their prose there."""
    from orbit_registry.checks.protected import text_paths

    changed = inputs.facts.changed or frozenset()
    now = {record.uid: record for record in filled()}
    same: list[Record] = []
    touched: list[Record] = []
    for record in inputs.before:
        current = now.get(record.uid)
        if current is None or not changed.isdisjoint((record.path, *text_paths(record))):
            touched.append(record)
        else:
            same.append(replace(record, prose=current.prose))

    contents = _contents_before(inputs.workspace, policy, touched)
    texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    return [*same, *filled_from(touched, texts.get)]


def _contents_before(
    workspace: Workspace, policy: Policy, records: Iterable[Record]
) -> dict[str, bytes]:
    """Return the files that may hold the long texts of records, as the base has them."""
    from orbit_registry.checks.protected import text_paths

    paths = set(chain.from_iterable(map(text_paths, records)))
    names = {f"{policy.commit}:{workspace.git.prefix}{path}": path for path in paths}
    blobs = workspace.git.blobs(names, check=False)
    return {names[name]: content for name, content in blobs.items()}


def _copies(inputs: Inputs) -> dict[str, str]:
    files: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry in inputs.reading.entries:
        if not entry.source:
            continue

        inner = len(f"{INHERITED}/{entry.source}/")
        files[entry.source].append((entry.path[inner:], inputs.reading.states[entry.path].sha256))
        if entry.has_body:
            body = inputs.texts[entry.body_path]
            files[entry.source].append((entry.body_path[inner:], body.sha256))

    return {source: copy_digest(hashes) for source, hashes in files.items()}


def _judged(inputs: Inputs, records: RecordSet) -> Sequence[Judged]:
    facts, workspace = inputs.facts, inputs.workspace
    if facts.head is None:
        return ()

    if facts.against is None:
        is_required = workspace.config.setting("approval", "require") != "none"
        if not is_required and CONFIG not in (facts.changed or ()):
            return ()

        from orbit_registry.checks.approval import unproved  # few projects require it

        return tuple(unproved(workspace.git, workspace.kinds, records, facts.base_commit))

    if inputs.policy is None:
        return ()

    from orbit_registry.checks.approval import judged  # few changes touch a record

    return tuple(judged(workspace.git, inputs.policy, changes_of(inputs, inputs.policy, records)))


def changes_of(inputs: Inputs, policy: Policy, records: RecordSet) -> list[Change]:
    """Return what a change does to what its base protects."""
    from orbit_registry.checks.protected import (
        Sides,
        changed_files,
        changed_publication,
        changed_records,
        changed_settings,
        changed_submodules,
        text_paths,
        with_text,
    )

    workspace = inputs.workspace
    changed = inputs.facts.changed or frozenset()
    now = {record.uid: record for record in records}
    touched: list[Record] = []
    for record in inputs.before:
        files = (record.path, *text_paths(record))
        current = now.get(record.uid)
        is_same = current is not None and current.status.name == record.status.name
        if not is_same or not changed.isdisjoint(files):
            touched.append(record)

    contents = _contents_before(workspace, policy, touched)
    before = {record.uid: with_text(record, contents) for record in touched}
    problems = filter(hides_record, inputs.reading.collection.problems)
    sides = Sides(
        before,
        {uid: row for uid, row in now.items() if uid in before or row.path in changed},
        workspace.kinds,
        frozenset(problem.location.path for problem in problems),
    )

    changes = [*changed_records(sides), *changed_settings(policy, workspace.config)]
    changes += changed_publication(policy, sides)
    head = Policy(workspace.git, "HEAD")
    plurals = frozenset(kind.plural for kind in workspace.kinds)
    changes += changed_files(policy, head, changed, [*records], plurals)
    places = {*chain.from_iterable(map(text_paths, [*inputs.before, *records]))}
    changes += changed_submodules(inputs.facts.submodules, {*places, policy.keys_path})
    return changes


def _renames(workspace: Workspace, start: datetime | str, files: Sequence[str]) -> Renames | None:
    # Most runs find no glob that is dead.
    from orbit_registry.operations.freshness.renames import renames_since

    try:
        return renames_since(workspace, start, files)
    except GitError:
        return None


def record_count(inputs: Inputs) -> int:
    """Return how many records there are, unreadable files among them."""
    reading = inputs.reading
    valid = {entry.path for entry in reading.entries if reading.record(entry) is not None}
    broken = {
        problem.location.path for problem in reading.collection.problems if problem.code != BROKEN
    }
    return len(valid) + len(broken - valid)
