"""Writes into records where the files they name have moved, as one step; what moved where, `renames` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from orbit_registry.records.record import Record
from orbit_registry.store.authority import write_step
from orbit_registry.store.difference import unified_diff
from orbit_registry.store.freshness.renames import Renames
from orbit_registry.store.journal import Change
from orbit_registry.store.workspace import Workspace
from orbit_registry.store.writer import edited, writing


@dataclass(frozen=True, slots=True)
class Lost:
    """What a record names that is not there any more."""

    record: Record
    globs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """References of its evidence."""


@dataclass(frozen=True, slots=True)
class Move:
    """One name in a record: where it stands, what it was and what it is now; None where nobody can say."""

    record: Record
    field: str
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Relocation:
    """Every lost name with what became of it, and the changes of files that follow."""

    moves: tuple[Move, ...] = ()
    changes: tuple[Change, ...] = field(default=(), repr=False)

    @property
    def diff(self) -> str:
        """The changes as one unified diff."""
        return unified_diff(self.changes)


def plan(workspace: Workspace, lost: Sequence[Lost], renames: Renames) -> Relocation:
    """Return what would be written; `updated_at` stays, because nobody has looked at what the records say."""
    moves: list[Move] = []
    changes: list[Change] = []
    for one in lost:
        found = list(_moves(one, renames))
        moves += found
        names = {(move.field, move.old): move.new for move in found if move.new is not None}
        if names:
            change, _ = edited(workspace, one.record, partial(_moved, names), touch=False)
            changes.append(change)
    return Relocation(tuple(moves), tuple(changes))


def relocate(workspace: Workspace, lost: Sequence[Lost], renames: Renames) -> Relocation:
    """Write it, all records or none, and return what was written.

    Raises:
        InvalidRecordError: a record is invalid; nothing was written.
        RefusedError: an agent would change a record that holds; nothing was written.
    """
    with writing(workspace):
        planned = plan(workspace, lost, renames)
        write_step(workspace, "follow-renames", planned.changes)
        return planned


def _moves(lost: Lost, renames: Renames) -> Iterator[Move]:
    for text in lost.globs:
        yield Move(lost.record, "scope.paths", text, renames.glob(text))
    for text in lost.inputs:
        path, mark, step = text.partition("#")
        new = renames.path(path)
        yield Move(lost.record, "freshness.fingerprint", text, None if new is None else f"{new}{mark}{step}")
    for text in lost.files:
        yield Move(lost.record, "evidence", text, renames.path(text))


def _moved(names: Mapping[tuple[str, str], str], data: dict[str, object]) -> Mapping[str, object]:
    result = dict(data)
    scope, freshness, evidence = data.get("scope"), data.get("freshness"), data.get("evidence")
    if isinstance(scope, Mapping) and isinstance(scope.get("paths"), list):
        paths = dict.fromkeys(names.get(("scope.paths", str(text)), str(text)) for text in scope["paths"])
        result["scope"] = {**scope, "paths": list(paths)}
    if isinstance(freshness, Mapping) and isinstance(freshness.get("fingerprint"), list):
        entries = [_renamed(one, "input", "freshness.fingerprint", names) for one in freshness["fingerprint"]]
        result["freshness"] = {**freshness, "fingerprint": entries}
    if isinstance(evidence, list):
        result["evidence"] = [
            _renamed(one, "reference", "evidence", names) if one.get("kind") == "file" else one for one in evidence
        ]
    return result


def _renamed(
    entry: Mapping[str, object], name: str, place: str, names: Mapping[tuple[str, str], str]
) -> Mapping[str, object]:
    old = str(entry[name])
    return {**entry, name: names.get((place, old), old)}
