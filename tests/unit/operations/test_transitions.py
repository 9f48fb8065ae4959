"""Many records given another status as one step."""

from __future__ import annotations

import pytest

from orbit_registry.errors import RecordNotFoundError, RefusedError
from orbit_registry.model.record import Record
from orbit_registry.operations.lifecycle import transitions
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

HUMAN, AGENT = Author("Ada", "human"), Author("bot", "agent", "model-1")


def made(registry: Registry, summary: str) -> Record:
    """Return a new learning."""
    return registry.add("learning", {"summary": summary}, HUMAN)


def test_many_are_moved_at_once_and_who_cannot_be_is_left_with_its_reason(registry: Registry) -> None:
    """One record that is closed, and an id that nobody has, keep no other from being moved."""
    first, closed, last = made(registry, "Look"), made(registry, "Leap"), made(registry, "Land")
    registry.transition(closed.id, "retired")

    done, remaining = transitions(registry.workspace, [first.id, closed.id, "L-none0", last.id], "retired", HUMAN)

    assert [record.id for record in done] == [first.id, last.id]
    assert [type(error) for error in remaining] == [RefusedError, RecordNotFoundError]
    registry.refresh()
    assert {registry.get(item.id).status.name for item in (first, closed, last)} == {"retired"}


def test_an_agent_moves_none_of_many_that_hold(registry: Registry) -> None:
    """The step is refused as a whole."""
    records = [made(registry, "Look"), made(registry, "Leap")]

    with pytest.raises(RefusedError, match="an agent may not change it"):
        transitions(registry.workspace, [record.id for record in records], "retired", AGENT)

    registry.refresh()
    assert {registry.get(each.id).status.name for each in records} == {"active"}
