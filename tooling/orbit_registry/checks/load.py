"""Runs every check over all that the inputs name: the records with their prose, and the documents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from orbit_registry.checks.catalogue import run_checks
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.derivation import turn_today
from orbit_registry.checks.inputs import Inputs
from orbit_registry.checks.outcome import Result
from orbit_registry.errors import GitError, OrbitError
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.store.baseline import read_baseline
from orbit_registry.store.decisions.documents import Document, Documents, document_of, read_one
from orbit_registry.store.files import DOCUMENT_LIMIT, RECORD_LIMIT, decode, inside, read_bytes
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.store.freshness.relocation import Renames

TIMED = "ORB107"
"""Findings that the clock alone can change: a vote dated ahead."""


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
        try:
            file = inside(self._inputs.workspace.root, path)
            content = read_bytes(file, limit=RECORD_LIMIT if path in states else DOCUMENT_LIMIT)
        except OrbitError:
            self.is_steady &= state is None or not state.sha256
            return None
        self.is_steady &= state is None or hashlib.sha256(content).hexdigest() == state.sha256
        try:
            return decode(content, path)
        except OrbitError:
            return None


def run(inputs: Inputs) -> tuple[Result, bool]:
    """Return what the checks find, and whether it may be remembered under the key of these inputs."""
    files = Files(inputs)
    context = load_context(inputs, files)
    diagnostics = tuple(run_checks(context))
    lasts = not turn_today(context.records, inputs.now, context.config)
    lasts &= not any(diagnostic.code == TIMED for diagnostic in diagnostics)
    return Result(diagnostics, _count(inputs), inputs.facts.base), files.is_steady and lasts


def load_context(inputs: Inputs, files: Files | None = None) -> CheckContext:
    """Return what the checks look at."""
    files = files or Files(inputs)
    workspace, collection = inputs.workspace, inputs.reading.collection
    read = {path: _document(inputs, files, path) for path in sorted(inputs.documents)}
    unread = tuple(document for document in read.values() if isinstance(document, Diagnostic))
    documents = Documents({path: it for path, it in read.items() if isinstance(it, Document)}, unread)
    bodies = {entry.path for entry in inputs.reading.entries if entry.has_body}
    records = RecordSet(
        _with_prose(record, documents, files, has_body=record.path in bodies) for record in collection.records
    )
    return CheckContext(
        records=records,
        kinds=workspace.kinds,
        config=workspace.config,
        problems=(*collection.problems, *read_baseline(workspace)[1], *unread),
        documents=documents,
        facts=inputs.facts,
        sight=inputs.sight,
        now=inputs.now,
        text=files,
        renames=partial(_renames, workspace),
    )


def _renames(workspace: Workspace, since: datetime, files: Sequence[str]) -> Renames | None:
    from orbit_registry.store.freshness.relocation import renames_since  # most runs find no glob that is dead

    try:
        return renames_since(workspace.git, since, files)
    except GitError:
        return None


def _document(inputs: Inputs, files: Files, path: str) -> Document | Diagnostic | None:
    text = files(path)
    return read_one(inputs.workspace, path) if text is None else document_of(path, text)


def _with_prose(record: Record, documents: Documents, files: Files, *, has_body: bool) -> Record:
    """Return a record with its prose, whichever file holds it."""
    source = record.source
    if record.kind.in_file and source is not None:
        return replace(record, prose=files(source.path) or "")
    if not record.kind.in_document:
        return record
    prose = documents.prose_of(record) if source is not None else None
    if prose is None and has_body:
        prose = files(record.body_path)
    return record if prose is None else replace(record, prose=prose)


def _count(inputs: Inputs) -> int:
    """Return how many records there are, unreadable files among them."""
    reading = inputs.reading
    valid = {entry.path for entry in reading.entries if reading.record(entry) is not None}
    broken = {problem.location.path for problem in reading.collection.problems if problem.code != TIMED}
    return len(valid) + len(broken - valid)
