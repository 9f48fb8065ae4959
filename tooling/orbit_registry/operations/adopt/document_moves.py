"""Follows decisions whose documents were renamed: their records and the configuration; it moves no document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.record import Record
from orbit_registry.operations.adopt.next_steps import reason_of_error
from orbit_registry.operations.import_report import Outcome, PathMoves, TakeoverReport
from orbit_registry.operations.lifecycle import entry_in
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import prepare_edit, writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace


@dataclass(frozen=True, slots=True)
class _Move:
    """A file or folder that has another name now; both from the root, without a slash at the end."""

    old: str
    new: str

    def of(self, path: str) -> str:
        """Return what a path is called now; the same where it was not moved."""
        if path == self.old:
            return self.new
        return f"{self.new}{path[len(self.old) :]}" if path.startswith(f"{self.old}/") else path


def follow_moves(
    workspace: Workspace, moves: PathMoves, *, author: Author | None = None, dry_run: bool = False
) -> TakeoverReport:
    """Correct `source.path` of each decision whose document moved, and `adr` in the configuration, as one step.

    `moves` are (old, new) files or folders, from the root. A decision whose text still stands at the old place, or
    that the new document does not hold, is left, with the reason.

    Raises:
        UsageError: nothing is at a new place, or no decision is of an old one.
        UnsafePathError: a path leads out of the root.
        RefusedError: an agent runs it, and a decision is in force; nothing was written.
    """
    with nullcontext() if dry_run else writing(workspace):
        records = [record for record in read_collection(workspace).records if record.source is not None]
        checked = [_checked(workspace, records, old, new) for old, new in moves]
        outcomes: list[Outcome] = []
        changes = [*_record_changes(workspace, checked, records, outcomes)]
        changes += _config_changes(workspace, checked, outcomes)
        if changes and not dry_run:
            write_step(workspace, "adr-moved", changes, author=author)
    listed = ", ".join(f"{move.old} → {move.new}" for move in checked)
    return TakeoverReport("moved", listed, dry_run, tuple(outcomes))


def _checked(workspace: Workspace, records: Sequence[Record], old: str, new: str) -> _Move:
    move = _Move(*(path.removeprefix("./").rstrip("/") for path in (old, new)))
    inside(workspace.root, move.new)
    if not (workspace.root / move.new).exists():
        raise UsageError(f"{move.new} is not there", hint="name the file or folder as it is called now, from the root")
    sources = (record.source.path for record in records if record.source is not None)
    if not any(move.of(path) != path for path in sources) or move.old == move.new:
        raise UsageError(
            f"no decision has its text in {move.old}", hint="`orbit check` names the documents that are not there"
        )
    return move


def _record_changes(
    workspace: Workspace, moves: Sequence[_Move], sourced: Sequence[Record], outcomes: list[Outcome]
) -> Iterator[FileChange]:
    records = [candidate for candidate in sourced if candidate.kind.in_document]
    for record in records:
        old = record.source.path if record.source else ""
        new = next((moved for move in moves if (moved := move.of(old)) != old), old)
        if new == old:
            continue
        reason = _reason_to_leave(workspace, record, old, new, records)
        if reason:
            outcomes.append(Outcome("left", old, record.id, reason))
            continue

        def corrected(data: dict[str, object], new: str = new) -> Mapping[str, object]:
            source = data.get("source")
            return {**data, "source": {**source, "path": new}} if isinstance(source, dict) else data

        change, _ = prepare_edit(workspace, record, corrected)
        outcomes.append(Outcome("changed", old, record.id, f"its text is in {new}"))
        yield change


def _reason_to_leave(workspace: Workspace, record: Record, old: str, new: str, records: Sequence[Record]) -> str:
    """Return why a record does not follow its document; empty where it does."""
    if _reason_not_in(workspace, record, old) is None:
        return f"{old} still holds it; take it out there first, or let it be"
    reason = _reason_not_in(workspace, record, new)
    if reason:
        return reason
    there = [other for other in records if other.source is not None and other.source.path == new]
    heading = record.source.heading if record.source else None
    same = next((other for other in there if other.source is not None and other.source.heading == heading), None)
    return f"{new} is the document of {same.id} already; give each decision its own" if same else ""


def _reason_not_in(workspace: Workspace, record: Record, path: str) -> str | None:
    """Return why a document does not hold a record's decision; None where it does."""
    try:
        text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    except OrbitError as error:
        return f"{path}: {reason_of_error(error, path, f'{workspace.root}/')}"
    if entry_in(path, text, record) is not None:
        return None
    heading = record.source.heading if record.source and record.source.heading else "decision"
    return f"{path} holds no {heading}; correct its heading, or `source.heading` of {record.id}"


def _config_changes(workspace: Workspace, moves: Sequence[_Move], outcomes: list[Outcome]) -> Iterator[FileChange]:
    """Yield the change of the configuration that names an old place as that of decisions."""
    path = f"{ORBIT}/config.yaml"
    text = read_text(workspace.root / path)
    data = load(text)
    adr = data.get("adr") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(adr, dict):
        return

    def now(value: object) -> object:
        if isinstance(value, list):
            return list(dict.fromkeys(str(now(entry)) for entry in value))
        return next((moved for move in moves if (moved := move.of(str(value))) != value), value)

    after = {key: now(value) if key in ("folder", "folders", "log") else value for key, value in adr.items()}
    if after != adr:
        changed = "; ".join(f"adr.{key} is {value}" for key, value in after.items() if value != adr[key])
        outcomes.append(Outcome("changed", path, None, changed))
        yield FileChange(path, text, rewrite(text, {**data, "adr": after}))
