"""Votes for records that helped.

Apart from `lifecycle`, which brings all that reads and writes documents: that takes 50 ms.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orbit_registry.errors import RefusedError, plural
from orbit_registry.model.record import Record
from orbit_registry.model.votes import Tally, Vote, tally
from orbit_registry.repository.guard import refuse_inherited, refuse_secrets
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.votes import append_vote, half_life_days, vote_data
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.journal import WRITTEN_ROOTS
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VoteResult:
    """A vote cast: the record with it, whether it is new, and the tally of the record's votes."""

    record: Record
    new: bool
    tally: Tally

    @property
    def record_ids(self) -> list[str]:
        """Return the record that got the vote."""
        return [self.record.id]

    def as_data(self) -> dict[str, object]:
        """Return the vote and the record's votes as JSON data."""
        return {"id": self.record.id, "new": self.new, **vote_data(self.record.votes)}

    def text(self) -> str:
        """Return the number of votes, and the file with a new one."""
        counted = f"{self.record.id} has {plural(self.tally.count, 'vote')}"
        if not self.new:
            return f"{counted} (this vote was counted before)"
        return f"{counted}\n  {self.record.folder}/{VOTES}"


def vote(workspace: Workspace, any_id: str, task: str, author: Author) -> VoteResult:
    """Vote for a record that holds; the same voter for the same task counts once."""
    record = read_collection(workspace).records.get(any_id)
    if record.phase != "live":
        message = f"{record.id} is {record.status.name}; votes count for records that hold"
        raise RefusedError(
            message,
            hint=f"`orbit {record.kind.name} list --phase live` lists those that do",
        )

    refuse_inherited(workspace, record.path)
    half_life = half_life_days()
    now = datetime.now(UTC).replace(microsecond=0)
    voter = author.model or author.name
    refuse_secrets("", {"task": task, "voter": voter})
    cast = Vote(record.id, voter, now, task.strip())

    folder = workspace.root / record.folder
    new = append_vote(folder, workspace.state / "votes.lock", cast, record.votes)
    WRITTEN_ROOTS.add(workspace.root)
    votes = (*record.votes, cast) if new else record.votes
    return VoteResult(replace(record, votes=votes), new, tally(votes, now, half_life))
