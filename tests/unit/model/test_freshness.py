"""What is derived from what a record states and what is seen:
the whole table of states, causes and boundaries.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orbit_registry.model.freshness import (
    Cause,
    FilesystemView,
    InputState,
    State,
    derive,
    expiry_moments,
)
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
KNOWN, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
PATH = ".orbit/learnings/L-7k3fq/learning.yaml"


def record(
    *evidence: tuple[str, str], updated: str = "2026-11-20T12:00:00Z", **freshness: Any
) -> Record:
    data: dict[str, Any] = {
        "id": "L-7k3fq",
        "status": "active",
        "updated_at": updated,
        "freshness": freshness,
    }
    if evidence:
        data["evidence"] = [{"kind": kind, "reference": reference} for kind, reference in evidence]
    return Record(load_kinds()["learning"], data, PATH)


def rests_on(checksum: str | None) -> Record:
    return record(fingerprint=[{"input": "a.py", **({"hash": checksum} if checksum else {})}])


@pytest.mark.parametrize(
    ("checksum", "current", "state"),
    [
        (KNOWN, InputState(KNOWN), State.FRESH),
        (KNOWN, InputState(OTHER), State.STALE),
        (None, InputState(OTHER), State.FRESH),
        (KNOWN, InputState(problem="is not there", is_missing=True), State.STALE),
        (None, InputState(problem="is not there", is_missing=True), State.STALE),
        (KNOWN, InputState(problem="can't be read: x.json:2:1: …"), State.STALE),
        (KNOWN, InputState(problem="can't be told", is_unknown=True), State.FRESH),
    ],
)
def test_an_input_that_differs_makes_stale(
    checksum: str | None, current: InputState, state: State
) -> None:
    freshness = derive(rests_on(checksum), FilesystemView({"a.py": current}), NOW)
    assert freshness.state is state
    assert freshness.cause is (Cause.FINGERPRINT if state is State.STALE else None)
    assert [reason.is_gone for reason in freshness.reasons] == [current.is_missing] * (
        state is State.STALE
    )
    assert not freshness.is_gone


@pytest.mark.parametrize(
    ("volatility", "verified", "state"),
    [
        ("volatile", NOW - timedelta(days=30), State.STALE),
        ("volatile", NOW - timedelta(days=30) + timedelta(seconds=1), State.FRESH),
        ("stable", NOW - timedelta(days=365), State.STALE),
        ("stable", NOW - timedelta(days=364), State.FRESH),
        ("evergreen", NOW - timedelta(days=9999), State.FRESH),
        (None, NOW - timedelta(days=9999), State.FRESH),
    ],
)
def test_volatility_ages_from_the_verification(
    volatility: str | None, verified: datetime, state: State
) -> None:
    fields = {"volatility": volatility} if volatility else {}
    learning = record(verified_at=verified.isoformat(), updated="2020-01-01T00:00:00Z", **fields)
    assert derive(learning, FilesystemView(), NOW).state is state


def test_without_a_verification_the_last_change_counts() -> None:
    assert derive(record(volatility="volatile"), FilesystemView(), NOW).state is State.FRESH
    assert (
        derive(
            record(volatility="volatile", updated="2026-10-01T00:00:00Z"), FilesystemView(), NOW
        ).cause
        is Cause.AGE
    )
    older = record(volatility="volatile", verified_at="2026-10-01T00:00:00Z")
    assert derive(older, FilesystemView(), NOW).cause is Cause.AGE
    assert derive(older, FilesystemView(), NOW, {"volatile": 90}).state is State.FRESH


@pytest.mark.parametrize(
    ("expires", "state"),
    [
        ("2026-11-21T12:00:00Z", State.EXPIRED),
        ("2026-11-21T14:00:00+02:00", State.EXPIRED),
        ("2026-11-21T12:00:01Z", State.FRESH),
        ("2026-02-31T00:00:00Z", State.FRESH),
    ],
)
def test_expiry_is_a_moment(expires: str, state: State) -> None:
    assert derive(record(expires_at=expires), FilesystemView(), NOW).state is state


def test_expired_outweighs_stale_and_keeps_its_reasons() -> None:
    learning = record(
        fingerprint=[{"input": "a.py", "hash": KNOWN}],
        expires_at="2026-01-01T00:00:00Z",
        volatility="volatile",
        verified_at="2025-01-01T00:00:00Z",
    )
    freshness = derive(
        learning, FilesystemView({"a.py": InputState(OTHER)}), NOW, unmatched_scopes={PATH}
    )
    assert freshness.state is State.EXPIRED
    assert [reason.cause for reason in freshness.reasons] == [
        Cause.EXPIRED,
        Cause.FINGERPRINT,
        Cause.ANCHOR,
        Cause.AGE,
    ]


def test_evidence_makes_stale_when_all_of_it_is_gone() -> None:
    commit, file, task = ("commit", "abcd"), ("file", "a.py"), ("task", "T-1")
    gone_both = FilesystemView(missing=frozenset({commit, file}))
    assert derive(record(commit, file, task), gone_both, NOW).cause is Cause.ANCHOR
    one_left = FilesystemView(missing=frozenset({commit}), present=frozenset({file}))
    assert derive(record(commit, file, task), one_left, NOW).state is State.FRESH
    assert derive(record(task), gone_both, NOW).state is State.FRESH


def test_the_clock_turns_where_something_ends() -> None:
    learning = record(
        volatility="volatile", verified_at="2026-11-01T00:00:00Z", expires_at="2027-01-01T00:00:00Z"
    )
    assert [f"{at:%Y-%m-%d}" for at in expiry_moments(learning)] == [
        "2027-01-01",
        "2026-12-01",
        "2026-10-31",
    ]
    assert list(expiry_moments(record())) == []
