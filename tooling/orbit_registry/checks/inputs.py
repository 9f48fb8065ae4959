"""Inputs of a run of the gate: all that a finding depends on, taken before any text is parsed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orbit_registry.checks.code_citations import cited_in_code
from orbit_registry.errors import OrbitError
from orbit_registry.lifecycle.code_citation import BadCitation
from orbit_registry.lifecycle.record_checks import not_run, runner, stated
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.lifecycle.review_facts import due_now
from orbit_registry.lifecycle.verdicts import verdicts
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import FilesystemView
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import Dependencies, evidence_kinds, probe
from orbit_registry.repository.documents import decision_paths
from orbit_registry.repository.policy import (
    Policy,
    changed_above,
    concerns_policy,
    records_before,
)
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.vcs_state import VcsState, citing_files, collect_vcs_state
from orbit_registry.search.vectors import state_of_model
from orbit_registry.workspace.cache import FileValue, digest
from orbit_registry.workspace.config import Config, config_of
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    RECORD_LIMIT,
    decode,
    inside,
    is_inside,
    read_bytes,
)
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.checks.added import Added
    from orbit_registry.lifecycle.built import Built


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of one run."""

    workspace: Workspace
    reading: Reading
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    config: Config = field(default_factory=lambda: config_of({}))
    """The configuration that the gate obeys: against a base, its own, to which a change adds."""
    facts: VcsState = field(default_factory=VcsState)
    """State of the work tree and of git."""
    document_paths: frozenset[str] = frozenset()
    """Documents of decisions inside the root, named by records or found by their file names."""
    states: Mapping[str, FileValue] = field(default_factory=dict)
    """States by path of documents, of texts that are records' prose as whole files, of citing
    files and of the baseline.
    """
    filesystem: FilesystemView = field(default_factory=FilesystemView)
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
    """Citations in code of decisions that no longer hold or are not there."""
    added_lines: AbstractSet[tuple[str, int]] = frozenset()
    """Path and number of the lines with such a citation that the change adds."""
    policy: Policy | None = None
    """What the base says, if the change touches a record or what the gate obeys."""
    before: Sequence[Record] = ()
    """The records of the base, if so."""

    @property
    def files(self) -> tuple[str, ...]:
        """Tracked files, and those that git would add."""
        return (*(self.facts.tracked or ()), *self.facts.untracked)

    @property
    def obeying(self) -> Workspace:
        """The workspace with the configuration that the gate obeys."""
        return replace(self.workspace, config=self.config)

    @property
    def key(self) -> str:
        """Digest of everything a finding can depend on, the date included;
        the cache is bound to the code version.
        """
        workspace, reading = self.workspace, self.reading
        states = (*reading.states.items(), *self.states.items())
        files = [f"{path}\0{state.sha256}\0{state.error or ''}" for path, state in states]
        files += [entry.body_path for entry in reading.entries if entry.has_body]
        files += map(str, reading.misplaced)

        settings = [*_kinds_stamp(workspace), repr(self.config), repr(workspace.config.raw)]
        settings += (state_of_model(workspace), self.now.date().isoformat())

        state = _plain([self.facts, self.filesystem, self.enforced])
        code = _plain([self.imported, self.added, self.built, self.due])
        cited = _plain([self.bad_citations, self.added_lines])
        return digest(settings, files, state, code, cited)


def _kinds_stamp(workspace: Workspace) -> Iterator[str]:
    yield workspace.kinds.fingerprint
    for kind in workspace.kinds:
        for name in ("kind.yaml", "new.md", "entry.md"):
            file = kind.folder / name
            if file.is_file():
                yield hashlib.sha256(file.read_bytes()).hexdigest()


def _plain(value: object) -> object:
    """Return a value as lists and texts, in an order that is the same each time."""
    if is_dataclass(value):
        return [_plain(getattr(value, part.name)) for part in fields(value)]
    if isinstance(value, Mapping):
        return [[str(key), _plain(value[key])] for key in sorted(value, key=str)]
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return list(map(_plain, value))

    return value


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
    inputs = _judged_by_base(workspace, reading, now, facts, kinds_by_document)
    facts = inputs.facts

    outside = {path for path in facts.documents_gone if not is_inside(workspace.root, path)}
    inside_documents = kinds_by_document.keys() - outside
    in_file = {path for path in inside_documents if kinds_by_document[path].in_file}
    documents = frozenset((*(inside_documents - in_file), *decision_paths(workspace)))

    baseline = workspace.relative(workspace.baseline)
    bodies = (entry.body_path for entry in reading.entries if entry.has_body)
    paths = sorted({*documents, *in_file, *facts.citing, *bodies, baseline})
    hashes = workspace.cache.hashes(workspace.root, paths)

    records = reading.collection.records
    dependencies = Dependencies.of(records, evidence_kinds(workspace.config))
    inputs = replace(
        inputs,
        document_paths=documents,
        states={path: hashes.get(path, FileValue(path)) for path in paths},
        filesystem=probe(workspace, dependencies, facts.tracked, facts.untracked),
        enforced=_enforced(inputs, against, proposed, definitions_only),
    )
    if definitions_only:
        return inputs

    return _with_code(inputs, against)


def _judged_by_base(
    workspace: Workspace,
    reading: Reading,
    now: datetime,
    facts: VcsState,
    documents: Collection[str],
) -> Inputs:
    """Return the inputs with the configuration and the records of a change's base."""
    inputs = Inputs(workspace, reading, now, workspace.config, facts)
    policy = _policy_of(workspace, facts, documents)
    if policy is None:
        return inputs

    from orbit_registry.checks.protected import judging  # few changes touch a record

    before = records_before(policy, workspace, reading, facts.changed or ())
    config = judging(policy, workspace.config)
    inputs = replace(inputs, config=config, policy=policy, before=before)
    if config != workspace.config:
        citing = tuple(citing_files(inputs.obeying, inputs.files))
        inputs = replace(inputs, facts=replace(facts, citing=citing))

    return inputs


def _policy_of(workspace: Workspace, facts: VcsState, documents: Collection[str]) -> Policy | None:
    """Return what the base of a change says, if the change touches a record or what the gate
    obeys.
    """
    if facts.against is None or not facts.base_commit:
        return None
    is_inside = concerns_policy(workspace, facts.changed or (), facts.submodules, documents)
    if not is_inside and not changed_above(workspace.git, facts.base_commit):
        return None

    return Policy(workspace.git, facts.base_commit)


def _enforced(
    inputs: Inputs, against: str | None, proposed: bool, definitions_only: bool
) -> tuple[Diagnostic, ...]:
    """Return the findings of the checks that records state, or stated before the change."""
    workspace, facts = inputs.workspace, inputs.facts
    changed: Collection[str] = ()
    if against is not None:
        changed = facts.changed or ()  # whose checks may have been removed

    records = [
        record
        for record in inputs.reading.collection.records
        if "checks" in record.data or record.path in changed
    ]
    checked_before = stated(row for row in inputs.before if row.phase == "live")
    running = runner() if records or checked_before else None  # most projects have no check
    if running is None:
        now = {record.uid for record in stated(records)}
        removed = [record for record in checked_before if record.uid not in now]
        return not_run([*records, *removed])

    return running.enforce(
        workspace,
        records,
        facts.tracked,
        facts.untracked,
        against=against,
        before=checked_before,
        proposed=proposed,
        definitions_only=definitions_only,
    )


def _with_code(inputs: Inputs, against: str | None) -> Inputs:
    """Return the inputs with what code and history say of the records."""
    workspace, reading, facts = inputs.workspace, inputs.reading, inputs.facts
    records = [*reading.collection.records]
    imported: Mapping[str, Sequence[str]] | None = None
    if facts.tracked is not None and any(record.uses for record in records):
        from orbit_registry.search.source_files import SourceFiles  # few records name packages

        imported = SourceFiles(workspace, records, inputs.files).imported

    added: Added | None = None
    if against is not None and facts.base_commit:
        from orbit_registry.checks.added import added_names  # only a change adds something

        added = added_names(workspace, facts.base_commit, facts.changed, inputs.files)

    bad_citations, added_lines = cited_in_code(inputs.obeying, reading, facts)
    return replace(
        inputs,
        imported=imported,
        added=added,
        built=verdicts(workspace, reading),
        due=due_now(workspace, reading, inputs.now),
        bad_citations=bad_citations,
        added_lines=added_lines,
    )


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
        state = self._inputs.states.get(path) or states.get(path)
        digest, text = "", None
        with contextlib.suppress(OrbitError):
            file = inside(self._inputs.workspace.root, path)
            content = read_bytes(file, limit=RECORD_LIMIT if path in states else DOCUMENT_LIMIT)
            digest = hashlib.sha256(content).hexdigest()
            text = decode(content, path)

        self.is_steady &= state is None or digest == state.sha256
        return text
