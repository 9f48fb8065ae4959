"""Everything a run of the gate looks at, as hashes, taken before anything is parsed; and the key that they make."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime

from orbit_registry.model.freshness import FilesystemView
from orbit_registry.operations.freshness.probe import Dependencies, evidence_kinds, probe
from orbit_registry.repository.documents import decision_paths
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.vcs_state import VcsState, collect_vcs_state
from orbit_registry.workspace.cache import FileValue, digest
from orbit_registry.workspace.files import is_inside
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True)
class Inputs:
    """What one run looks at."""

    workspace: Workspace
    now: datetime
    reading: Reading
    documents: frozenset[str]
    """The documents of decisions, as records name them or as they are written; none that leads out of the root."""
    facts: VcsState
    texts: Mapping[str, FileValue]
    """Documents, texts that are records' prose as whole files, citing files and the baseline, by path."""
    filesystem: FilesystemView
    """What fingerprint inputs and evidence are now."""

    @property
    def key(self) -> str:
        """A digest of everything a finding can depend on, the day among it; the cache itself goes with the code."""
        files = [(path, state.sha256, state.error) for path, state in self.reading.states.items()]
        files += [(path, text.sha256, text.error) for path, text in self.texts.items()]
        parts = [
            self.now.date().isoformat(),
            kinds_stamp(self.workspace),
            repr(self.workspace.config),
            [f"{path}\0{sha256}\0{error or ''}" for path, sha256, error in files],
            [entry.body_path for entry in self.reading.entries if entry.has_body],
            [str(problem) for problem in self.reading.misplaced],
            [_plain(getattr(self.facts, one.name)) for one in fields(self.facts)],
            [[text, found.hash, found.problem] for text, found in self.filesystem.inputs.items()],
            [
                sorted(self.filesystem.present),
                sorted(self.filesystem.missing),
                self.filesystem.unanswered,
                sorted(self.filesystem.changed_sources.items()),
            ],
        ]
        return digest(parts)


def take(workspace: Workspace, against: str | None, now: datetime) -> Inputs:
    """Return what a run looks at, as it stands now.

    Raises:
        UsageError: `against` names no commit.
    """
    reading = Reading(workspace, now=now)
    named = {path: entry.kind for entry in reading.entries if (path := reading.document_of(entry)) is not None}
    facts = collect_vcs_state(workspace, reading, named, against)
    astray = {path for path in facts.documents_gone if not is_inside(workspace.root, path)}
    held = {path for path in named if path not in astray}
    whole = {path for path in held if named[path].in_file}
    documents = frozenset((*(held - whole), *decision_paths(workspace)))
    baseline = workspace.relative(workspace.baseline)
    bodies = (entry.body_path for entry in reading.entries if entry.has_body)
    wanted = {*documents, *whole, *facts.citing, *bodies, baseline}
    hashes = workspace.values.hashes(workspace.root, wanted)
    texts = {path: hashes.get(path, FileValue(path)) for path in sorted(wanted)}
    ground = Dependencies.of(reading.collection.records, evidence_kinds(workspace.config))
    filesystem = probe(workspace, ground, facts.tracked, facts.untracked)
    return Inputs(workspace, now, reading, documents, facts, texts, filesystem)


def kinds_stamp(workspace: Workspace) -> list[str]:
    """Return what tells these kinds, their statuses and their templates from others."""
    files = (kind.folder / name for kind in workspace.kinds for name in ("kind.yaml", "new.md", "entry.md"))
    texts = (file.read_bytes() for file in files if file.is_file())
    return [workspace.kinds.fingerprint, *(hashlib.sha256(text).hexdigest() for text in texts)]


def _plain(value: object) -> object:
    """Return a fact as JSON holds it, a set in order."""
    if isinstance(value, frozenset):
        return sorted(value, key=str)
    return sorted(value.items()) if isinstance(value, Mapping) else value
