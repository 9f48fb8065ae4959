"""Who may vote for what: records that hold, for a task, once a voter;
the record's own file is never touched.
"""

import pytest

from orbit_registry.errors import RecordNotFoundError, RefusedError, UsageError
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author


@pytest.fixture
def learning(registry: Registry) -> Record:
    return registry.add("learning", {"summary": "Look before you leap"})


def test_a_vote_never_touches_the_record(registry: Registry, learning: Record) -> None:
    file = registry.workspace.root / learning.path
    before = (file.read_bytes(), file.stat().st_mtime_ns)

    result = registry.vote(learning.id, "T-1", "m")

    assert (result.new, result.tally.count, result.record.id) == (True, 1, learning.id)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert (file.parent / "votes.jsonl").exists()


@pytest.mark.parametrize("task", ["", "  "])
def test_a_vote_needs_a_task(registry: Registry, learning: Record, task: str) -> None:
    with pytest.raises(UsageError, match="needs a task"):
        registry.vote(learning.id, task, "m")
    assert not (registry.workspace.root / learning.folder / "votes.jsonl").exists()


def test_only_records_that_hold_get_votes(registry: Registry) -> None:
    pending = registry.add("learning", {"summary": "One"}, Author("bot", "agent"))
    closed = registry.add("learning", {"summary": "Two"})
    registry.transition(closed.id, "retired")

    for record_id, words in ((pending.id, "is candidate"), (closed.id, "is retired")):
        with pytest.raises(RefusedError, match=words):
            registry.vote(record_id, "T-1", "m")
    with pytest.raises(RecordNotFoundError):
        registry.vote("L-nnnnn", "T-1", "m")
    assert not list(registry.workspace.orbit.rglob("votes.jsonl"))
