"""What votes come to: counted once a key, weighed by age, in an order that time does not change."""

import itertools
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.votes import Tally, Vote, distinct_votes, format_time, parse_time, tally

NOW = datetime(2026, 5, 17, 12, tzinfo=UTC)


def vote(days: float, model: str = "m", task: str = "T-1") -> Vote:
    return Vote("L-7k3fq", model, NOW - timedelta(days=days), task)


VOTES = st.lists(
    st.builds(
        vote, st.integers(0, 4000), st.sampled_from("abc"), st.sampled_from(["T-1", "T-2", "T-3"])
    ),
    max_size=12,
)


def test_a_vote_halves_in_a_half_life() -> None:
    votes = [vote(0, "a"), vote(0, "b"), vote(180, "c")]

    assert tally(votes, NOW) == Tally(3, 2.5, NOW)
    assert tally(votes, NOW, 90) == Tally(3, 2.25, NOW)


def test_the_earliest_of_a_key_counts() -> None:
    first, again = vote(10), vote(2)

    assert distinct_votes([again, first]) == [first]
    assert tally([first, again], NOW) == tally([first], NOW)


@pytest.mark.parametrize("half_life", [1e-9, 0.001, 180.0, 1e9])
def test_no_half_life_overflows(half_life: float) -> None:
    score = tally([vote(3650), vote(0, "b")], NOW, half_life).score

    assert 0 <= score <= 2


def test_a_vote_dated_ahead_weighs_as_one_of_now() -> None:
    ahead = Vote("L-7k3fq", "m", NOW + timedelta(days=1), "T-1")

    assert tally([ahead], NOW, 1e-300).score == 1.0


@given(VOTES)
def test_the_order_of_votes_does_not_matter(votes: list[Vote]) -> None:
    expected = tally(votes, NOW)

    assert all(
        tally(order, NOW) == expected
        for order in itertools.islice(itertools.permutations(votes), 24)
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-05-17T12:00:00Z", NOW),
        ("2026-05-17T14:00:00+02:00", NOW),
        ("2026-05-17T12:00:00.5+00:00", NOW + timedelta(milliseconds=500)),
    ],
)
def test_a_moment_is_read_in_any_zone(text: str, value: datetime) -> None:
    assert parse_time(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-05-17",
        "2026-05-17T12:00:00",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
    ],
)
def test_a_moment_without_a_zone_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_time(text)


@given(
    st.datetimes(
        min_value=datetime(10, 1, 1),
        max_value=datetime(9000, 1, 1),
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9))]),
    )
)
def test_a_stamp_reads_back_to_the_second(at: datetime) -> None:
    assert parse_time(format_time(at)) == at.replace(microsecond=0)
