"""Casts votes: which record may be voted for, by whom and for what; the file is `store.votes`'."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from orbit_registry.errors import RefusedError
from orbit_registry.records.record import Record
from orbit_registry.records.vote import Tally, Vote, tally
from orbit_registry.store.author import Author
from orbit_registry.store.reader import read_collection
from orbit_registry.store.votes import append_vote
from orbit_registry.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VoteResult:
    """A vote cast: the record, whether it counted anew, and what the record's votes come to now."""

    record: Record
    new: bool
    tally: Tally


def vote(workspace: Workspace, any_id: str, task: str, author: Author) -> VoteResult:
    """Vote for a record that holds; the same voter for the same task counts once.

    Raises:
        RefusedError: the record is pending or closed, or the task is empty.
        RecordNotFoundError: there is no such record.
    """
    record = read_collection(workspace).records.get(any_id)
    if record.phase != "live":
        raise RefusedError(f"{record.id} is {record.status.name}; votes count for records that hold")
    now = datetime.now(UTC).replace(microsecond=0)
    cast = Vote(record.id, author.model or author.name, now, task.strip())
    folder = workspace.root / record.folder
    new = append_vote(folder, workspace.state / "votes.lock", cast, record.votes)
    return VoteResult(record, new, tally([*record.votes, cast] if new else record.votes, now))
