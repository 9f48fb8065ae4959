"""Reads a whole collection of records; each bad file becomes diagnostics and hides no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.kinds.table import Kind
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.ids import is_safe_id
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.store.codec import MISPLACED, decode_record
from orbit_registry.store.files import read_text
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.votes import read_votes
from orbit_registry.store.workspace import Workspace

UNREADABLE = "ORB101"


@dataclass(frozen=True, slots=True)
class Entry:
    """One record folder as it stands on disk, unread."""

    kind: Kind
    path: str
    has_votes: bool
    pending: bool


@dataclass(frozen=True, slots=True)
class Collection:
    """What was read: the valid records, and what is wrong with the other files."""

    records: RecordSet
    problems: tuple[Diagnostic, ...]


def read_collection(workspace: Workspace, *, now: datetime | None = None) -> Collection:
    """Return every record of a workspace, those in the inbox among them, and every file that holds none."""
    at = now or datetime.now(UTC)
    problems: list[Diagnostic] = []
    records: list[Record] = []
    for entry in entries(workspace, problems):
        record, found = read_entry(workspace, entry, at)
        problems += found
        if record is not None:
            records.append(record)
    return Collection(RecordSet(records), tuple(problems))


def read_entry(workspace: Workspace, entry: Entry, now: datetime) -> tuple[Record | None, list[Diagnostic]]:
    """Return one record with its votes, or why there is none."""
    file = workspace.root / entry.path
    try:
        text = read_text(file)
    except OrbitError as error:
        said = error.message.replace(f"{workspace.root}{os.sep}", "")
        return None, [Diagnostic(UNREADABLE, Severity.ERROR, said, Location(entry.path), error.hint)]
    record, problems = decode_record(text, entry.kind, entry.path)
    if record is not None and entry.has_votes:
        votes, found = read_votes(workspace.root, f"{record.folder}/{VOTES}", record.id, now)
        return replace(record, votes=tuple(votes)), found
    return record, problems


def entries(workspace: Workspace, problems: list[Diagnostic]) -> Iterator[Entry]:
    """Yield every record folder, by kind and name; what stands where a record should goes to `problems`."""
    for kind in workspace.kinds:
        for pending in (False, True):
            yield from _entries_in(workspace, kind, workspace.folder_of(kind, pending=pending), pending, problems)


def _entries_in(
    workspace: Workspace, kind: Kind, folder: Path, pending: bool, problems: list[Diagnostic]
) -> Iterator[Entry]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        where = Location(workspace.relative(folder))
        problems.append(
            Diagnostic(UNREADABLE, Severity.ERROR, f"can't be listed: {(error.strerror or '').lower()}", where)
        )
        return
    name = f"{kind.name}.yaml"
    for entry in found:
        path = f"{workspace.relative(folder)}/{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_symlink() or not entry.is_dir(follow_symlinks=False) or not is_safe_id(entry.name):
            problems.append(_misplaced(path, f"`{entry.name}` is not the folder of a record", kind))
            continue
        files = _names(entry.path)
        if files is None or name not in files:
            problems.append(_misplaced(path, f"the folder holds no {name}", kind))
            continue
        yield Entry(kind, f"{path}/{name}", VOTES in files, pending)


def _names(folder: str) -> set[str] | None:
    try:
        return {entry.name for entry in os.scandir(folder)}
    except OSError:
        return None


def _misplaced(path: str, message: str, kind: Kind) -> Diagnostic:
    hint = f"records stand at .orbit/{kind.plural}/<ID>/{kind.name}.yaml; move the file there, or delete it"
    return Diagnostic(MISPLACED, Severity.ERROR, message, Location(path), hint)
