"""Votes: who may vote for which record, and for which task."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orbit_registry.errors import RefusedError
from orbit_registry.model.record import Record
from orbit_registry.model.votes import Tally, Vote, tally
from orbit_registry.repository.guard import refuse_inherited, refuse_secrets
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import append_vote, half_life_days
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.journal import WRITTEN_ROOTS
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VoteResult:
    """A vote cast: the record with it, whether it counted anew, and what the record's votes come to now."""

    record: Record
    new: bool
    tally: Tally


def vote(workspace: Workspace, any_id: str, task: str, author: Author) -> VoteResult:
    """Vote for a record that holds; the same voter for the same task counts once."""
    record = read_collection(workspace).records.get(any_id)
    if record.phase != "live":
        message = f"{record.id} is {record.status.name}; votes count for records that hold"
        raise RefusedError(message, hint=_hint(record))
    refuse_inherited(workspace, record.path)
    half_life = half_life_days()
    now = datetime.now(UTC).replace(microsecond=0)
    refuse_secrets("", {"task": task, "voter": author.model or author.name})
    cast = Vote(record.id, author.model or author.name, now, task.strip())
    folder = workspace.root / record.folder
    new = append_vote(folder, workspace.state / "votes.lock", cast, record.votes)
    WRITTEN_ROOTS.add(workspace.root)
    votes = (*record.votes, cast) if new else record.votes
    return VoteResult(replace(record, votes=votes), new, tally(votes, now, half_life))


def _hint(record: Record) -> str:
    if record.superseded_by:
        return f"vote for what replaced it: {', '.join(record.superseded_by)}"
    if record.phase == "pending":
        return "votes are possible once a person has accepted it"
    return f"`orbit {record.kind.name} list --phase live` lists those that do"
