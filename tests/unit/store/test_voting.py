"""Who may vote for what: records that hold, for a task, once a voter; the record's own file is never touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.errors import RecordNotFoundError, RefusedError
from orbit_registry.kinds.table import load_kinds
from orbit_registry.records.record import Record
from orbit_registry.registry import Registry
from orbit_registry.store.author import Author
from orbit_registry.store.setup import setup_workspace


@pytest.fixture
def learning(registry: Registry) -> Record:
    """Return a learning that holds."""
    return registry.add("learning", {"summary": "Look before you leap"})


def test_a_vote_never_touches_the_record(registry: Registry, learning: Record) -> None:
    """Bytes and time of the YAML stay; the votes file stands beside it."""
    file = registry.workspace.root / learning.path
    before = (file.read_bytes(), file.stat().st_mtime_ns)

    result = registry.vote(learning.id, "T-1", "m")

    assert (result.new, result.tally.count, result.record.id) == (True, 1, learning.id)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert (file.parent / "votes.jsonl").exists()


def test_the_same_voter_counts_once_a_task(registry: Registry, learning: Record) -> None:
    """The answer says that the vote was there before."""
    registry.vote(learning.id, "T-1", "m")

    again = registry.vote(learning.id, " T-1 ", "m")
    other = registry.vote(learning.id, "T-2", "m")

    assert (again.new, again.tally.count) == (False, 1)
    assert (other.new, other.tally.count) == (True, 2)
    assert registry.records.get(learning.id).votes[0].task_id == "T-1"


def test_without_a_model_the_person_votes(registry: Registry, learning: Record) -> None:
    """Who runs the command is the voter."""
    registry.vote(learning.id, "T-1")

    registry.refresh()
    assert registry.get(learning.id).votes[0].voter_model == registry.author().name


@pytest.mark.parametrize("task", ["", "  "])
def test_a_vote_needs_a_task(registry: Registry, learning: Record, task: str) -> None:
    """Liking alone is no evidence."""
    with pytest.raises(RefusedError, match="needs a task"):
        registry.vote(learning.id, task, "m")
    assert not (registry.workspace.root / learning.folder / "votes.jsonl").exists()


def test_only_records_that_hold_get_votes(registry: Registry) -> None:
    """Pending, closed and unknown ones are refused, each with its reason."""
    pending = registry.add("learning", {"summary": "One"}, Author("bot", "agent"))
    closed = registry.add("learning", {"summary": "Two"})
    registry.transition(closed.id, "retired")

    for record_id, words in ((pending.id, "is candidate"), (closed.id, "is retired")):
        with pytest.raises(RefusedError, match=words):
            registry.vote(record_id, "T-1", "m")
    with pytest.raises(RecordNotFoundError):
        registry.vote("L-nnnnn", "T-1", "m")
    assert not list(registry.workspace.orbit.rglob("votes.jsonl"))


def test_two_branches_that_voted_merge_to_both_votes(git_repo: Path, git: Callable[..., str]) -> None:
    """git joins the lines of both sides, as .gitattributes asks; nobody resolves anything."""
    setup_workspace(git_repo, load_kinds())
    registry = Registry.open(git_repo)
    record = registry.add("learning", {"summary": "Look before you leap"})
    registry.vote(record.id, "T-0", "zero")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "Base")
    git(git_repo, "checkout", "-qb", "other")
    for branch, task in (("other", "T-1"), ("main", "T-2")):
        git(git_repo, "checkout", "-q", branch)
        Registry.open(git_repo).vote(record.id, task, branch)
        Registry.open(git_repo).vote(record.id, "T-9", "both")
        git(git_repo, "commit", "-qam", f"Vote on {branch}")

    git(git_repo, "merge", "-q", "-m", "Merge", "other")

    found = Registry.open(git_repo)
    assert found.collection.problems == ()
    votes = found.get(record.id).votes
    assert {(vote.voter_model, vote.task_id) for vote in votes} == {
        ("zero", "T-0"), ("other", "T-1"), ("main", "T-2"), ("both", "T-9"),
    }  # fmt: skip
    assert registry.vote(record.id, "T-10", "new").tally.count == 5


def test_a_workspace_without_state_takes_votes_too(registry: Registry, learning: Record) -> None:
    """What git ignores may be gone at any time."""
    shutil.rmtree(registry.workspace.state, ignore_errors=True)

    assert registry.vote(learning.id, "T-1", "m").new
