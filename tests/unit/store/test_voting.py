"""Who may vote for what: records that hold, for a task, once a voter; the record's own file is never touched."""

from __future__ import annotations

import pytest

from orbit_registry.records.record import Record
from orbit_registry.registry import Registry


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


def test_without_a_model_the_person_votes(registry: Registry, learning: Record) -> None:
    """Who runs the command is the voter."""
    registry.vote(learning.id, "T-1")

    registry.refresh()
    assert registry.get(learning.id).votes[0].voter_model == registry.author().name
