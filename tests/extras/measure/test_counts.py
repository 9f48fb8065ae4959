"""Counts of events, whatever their order."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_measure.usage import counts
from orbit_registry.hook import render
from orbit_registry.hook.session import tokens
from orbit_registry.workspace.event_log import LoggedEvent

CALL = LoggedEvent(
    1_800_000_000.0, "retrieval", "hook:x", "a", "", (), (), (), 0, "", "", None, None
)
FRAME = tokens("\n".join((render.START, render.INTRODUCTION, render.END)))


def event(kind: str = "retrieval", session: str = "a", **fields: Any) -> LoggedEvent:
    return replace(CALL, kind=kind, session=session, **fields)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 900), min_size=1))
def test_a_percentile_is_a_time_that_occurs(times: list[float]) -> None:
    data = counts([event(ms=ms) for ms in times], [])
    rounded = sorted(round(duration, 1) for duration in times)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        percentile = data["ms"][name]
        assert percentile in rounded
        assert sum(duration <= percentile for duration in rounded) >= share * len(rounded)
        assert sum(duration < percentile for duration in rounded) < share * len(rounded)


def test_events_before_and_after_showing_are_told_apart() -> None:
    log = [
        event(opened=("L-1",)),
        event(failed=("L-1",)),
        event(shown=("L-1",)),
        event(opened=("L-1",)),
        event(opened=("L-1",)),
        event(failed=("L-1",)),
        event(session="b", shown=("L-1",)),
        event(session="b", failed=("L-2",)),
        event(session="trial-1", shown=("L-1",)),
        event("synced", opened=("L-1",)),
    ]
    data = counts(log, [("L-1", "One", 7, True, True)])
    first, second = data["records"]
    assert data["opened_after_shown"] == {"count": 1, "of": 2, "share": 0.5}
    assert (first["id"], first["opened"]) == ("L-1", 3)
    assert (first["failed_before_shown"], first["failed_after_shown"]) == (1, 1)
    assert (second["id"], second["failed_before_shown"]) == ("L-2", 1)
    assert (data["tokens"], data["tokens_estimated_calls"]) == (2 * (FRAME + 7), 2)
    assert data["trials"] == 1


def test_what_a_session_forgot_it_was_not_shown() -> None:
    log = [
        event(shown=("L-1",)),
        event("compaction"),
        event(failed=("L-1",)),
        event(shown=("L-1",)),
    ]
    data = counts(log, [])
    (record,) = data["records"]
    assert (data["calls"], data["opened_after_shown"]["of"]) == (3, 2)
    assert (record["failed_before_shown"], record["failed_after_shown"]) == (1, 0)


@pytest.mark.parametrize("session", ["", "a"])
def test_an_event_that_shows_and_opens_counts_in_that_order(session: str) -> None:
    log = [event(session=session, shown=("L-1",), opened=("L-1",), failed=("L-1",))]
    data = counts(log, [])
    assert data["opened_after_shown"]["count"] == bool(session)
    assert data["records"][0]["failed_before_shown"] == 1
