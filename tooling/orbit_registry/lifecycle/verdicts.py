"""The judgements on all decisions of a project, kept until a file or the history changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orbit_registry.errors import GitError, GitStoppedError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.lifecycle.built import Built, built
from orbit_registry.lifecycle.record_checks import runner, stated
from orbit_registry.model.record import Record
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.cache import digest, row_reader, to_row
from orbit_registry.workspace.workspace import Workspace

BREAKS = ("ORB1001", "ORB1002", "ORB1003", "ORB1004", "ORB1005")
"""Findings after which a check shows nothing: it is unproven, sees no file, or is broken."""


def verdicts(workspace: Workspace, reading: Reading) -> Mapping[str, Built]:
    """Return whether each open decision of this project is built, by the record's path.

    No reason quotes a secret. Nothing is said outside a repository, nor of decisions that are
    inherited.
    """
    decisions = [record for record in reading.collection.records if _is_judged(record)]
    head = workspace.git.head() if decisions else None
    if head is None:
        return {}

    try:
        apart = _apart(reading, decisions)
        states = sorted(_states(workspace, reading, apart))
        key = digest(head, workspace.config.raw, states)
    except GitStoppedError:
        raise
    except GitError:
        return {}

    rows: Any = workspace.cache.memo("built", key, lambda: _judged(workspace, reading))
    read = row_reader(Built)
    return {path: read(row) for path, row in rows.items()}


def _is_judged(record: Record) -> bool:
    return record.kind.in_document and not record.origin and record.phase != "closed"


def _apart(reading: Reading, decisions: Sequence[Record]) -> frozenset[str]:
    """Return the files of other records than decisions, which change no verdict.

    A check may look at any file.
    """
    if any("checks" in record.data for record in decisions):
        return frozenset()

    entries = [entry for entry in reading.entries if not entry.kind.in_document]
    paths = {entry.path for entry in entries}
    return frozenset(paths | {entry.votes_path for entry in entries})


def _states(
    workspace: Workspace, reading: Reading, apart: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield what may differ from the commit: the files that git lists as changed, and records,
    without those in folders apart.
    """
    changed = [path for path in workspace.git.unlike_head() if path not in apart]
    for path, state in workspace.cache.hashes(workspace.root, changed).items():
        yield path, state.sha256

    yield from ((path, "") for path in changed)
    for path, state in reading.states.items():
        if path not in apart:
            yield path, state.sha256


def _judged(workspace: Workspace, reading: Reading) -> dict[str, object]:
    # Most calls are answered by the cache.
    from orbit_registry.lifecycle.commits import history_of
    from orbit_registry.lifecycle.evidence import Surroundings, evidence_of

    tracked, untracked = workspace.git.files()
    files = sorted({*(tracked or ()), *untracked})
    records = [record for record in reading.filled if record.kind.in_document and not record.origin]
    decisions = list(filter(_is_judged, records))
    broken = _broken(workspace, decisions, files)
    around = Surroundings(workspace, records, files, history_of(workspace), broken)
    evidence = evidence_of(around, decisions)
    return {
        record.path: to_row(_without_secrets(built(record, evidence[record.path])))
        for record in decisions
    }


def _without_secrets(judged: Built) -> Built:
    evidence = tuple(map(without_secrets, judged.evidence))
    return replace(judged, why=without_secrets(judged.why), evidence=evidence)


def _broken(
    workspace: Workspace, decisions: Sequence[Record], files: Sequence[str]
) -> frozenset[str]:
    """Return the ids of the decisions of which a check finds something."""
    checked = stated(decisions)
    running = runner() if checked else None
    if running is None:
        return frozenset()

    findings = running.enforce(workspace, checked, files, ())
    return frozenset(row.record for row in findings if row.record and row.code in BREAKS)
