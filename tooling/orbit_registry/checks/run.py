"""Reads what the inputs name, runs all checks over it, and says whether the same inputs would give the same again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.derivation import turns_today
from orbit_registry.checks.inputs import Inputs
from orbit_registry.checks.memories import Counts, Covered, Near, Proven
from orbit_registry.checks.outlines import Outlines
from orbit_registry.checks.remembered import Result
from orbit_registry.checks.runner import run_checks
from orbit_registry.errors import OrbitError
from orbit_registry.store.baseline import read_baseline
from orbit_registry.store.decisions.documents import read_documents, with_prose
from orbit_registry.store.facts import read_citing
from orbit_registry.store.files import read_text
from orbit_registry.text.adr import AdrFile, read_document

_TIMED = "ORB107"
"""Findings that the clock alone can change: a vote dated ahead."""


def run(inputs: Inputs) -> tuple[Result, bool]:
    """Return what the checks find, and whether it may be remembered under the key of these inputs."""
    proven = Proven(inputs)
    known = proven.paths
    records = inputs.reading.collection.records
    whole = {record.source.path for record in records if record.path not in known and record.source is not None}
    outlines = Outlines(inputs, whole)
    context, is_steady = context_of(inputs, outlines.parse)
    workspace = inputs.workspace
    context = replace(
        context,
        proven=known,
        count=Counts(workspace),
        cover=Covered(workspace),
        near=Near(workspace),
        cite=outlines.cite,
    )
    found = run_checks(context)
    if is_steady():
        proven.keep(context, found)
        outlines.save()
    broken = {problem.location.path for problem in context.problems if problem.location.path.startswith(".orbit/")}
    count = len(context.records) + len(broken - {record.path for record in context.records})
    result = Result(tuple(found), count, context.facts.base)
    lasts = not any(one.code == _TIMED for one in found) and not turns_today(
        context.records, context.now, context.config
    )
    return result, is_steady() and lasts


class _Texts:
    """Texts of files by path, read once, and whether they are still those that the inputs saw."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._read: dict[str, str | None] = {}
        self.steady = True

    def put(self, path: str, text: str) -> None:
        """Take a text that was read elsewhere."""
        self._read[path] = text
        self._compare(path, text)

    def __call__(self, path: str) -> str | None:
        if path not in self._read:
            text = self._read[path] = self._text(path)
            if text is not None:
                self._compare(path, text)
        return self._read[path]

    def _text(self, path: str) -> str | None:
        if path not in self._inputs.reading.states:
            return read_citing(self._inputs.workspace, path)
        try:  # listed as a record's file: no part of its path is a symbolic link
            return read_text(self._inputs.workspace.root / path)
        except OrbitError:
            return None

    def _compare(self, path: str, text: str) -> None:
        seen = self._inputs.texts.get(path) or self._inputs.reading.states.get(path)
        if seen is not None and hashlib.sha256(text.encode()).hexdigest() != seen.sha256:
            self.steady = False


def context_of(
    inputs: Inputs, parse: Callable[[str, str], AdrFile] = read_document
) -> tuple[CheckContext, Callable[[], bool]]:
    """Return what the checks look at, and a question to ask afterwards: were all texts those the inputs saw?"""
    workspace = inputs.workspace
    collection = inputs.reading.collection
    documents = read_documents(workspace, collection.records, parse=parse)
    records = collection.records.mapped(lambda record: with_prose(workspace, record, documents))
    texts = _Texts(inputs)
    for path, document in documents.by_path.items():
        texts.put(path, document.text)
    _, broken = read_baseline(workspace)
    context = CheckContext(
        records=records,
        kinds=workspace.kinds,
        config=workspace.config,
        problems=(*collection.problems, *documents.problems, *broken),
        documents=documents,
        facts=inputs.facts,
        sight=inputs.sight,
        now=inputs.now,
        read=texts,
    )
    return context, lambda: texts.steady
