"""Votes for records, and their decaying weight."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

HALF_LIFE_DAYS = 180.0


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote: who, for which record, while doing which task, and when (UTC)."""

    learning_id: str
    voter_model: str
    voted_at: datetime
    task_id: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Identity of a vote."""
        return (self.learning_id, self.voter_model, self.task_id)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sum of a record's votes."""

    count: int
    score: float
    last: datetime | None


def distinct_votes(votes: Iterable[Vote]) -> list[Vote]:
    """Return the earliest vote of each key, ordered by time and key."""
    first: dict[tuple[str, str, str], Vote] = {}
    for vote in votes:
        earlier = first.get(vote.key)
        if earlier is None or vote.voted_at < earlier.voted_at:
            first[vote.key] = vote

    return sorted(first.values(), key=lambda vote: (vote.voted_at, vote.key))


def tally(votes: Iterable[Vote], now: datetime, half_life_days: float = HALF_LIFE_DAYS) -> Tally:
    """Return count, decayed score (the count at a half-life of 0) and last vote.

    A vote that is dated ahead weighs like one of now.
    """
    counted = distinct_votes(votes)
    if not counted:
        return Tally(0, 0.0, None)

    score = float(len(counted))
    if half_life_days > 0:
        ages = (max(0.0, (now - vote.voted_at).total_seconds() / 86400) for vote in counted)
        score = math.fsum(2.0 ** (-age / half_life_days) for age in ages)

    return Tally(len(counted), score, counted[-1].voted_at)


def by_month(votes: Iterable[Vote], until: date, months: int) -> tuple[int, ...]:
    """Return the number of votes in each of the last months (UTC), up to the month of `until`."""
    last = until.year * 12 + until.month
    counts = [0] * months

    for vote in distinct_votes(votes):
        at = vote.voted_at.astimezone(UTC)
        index = months - 1 - (last - at.year * 12 - at.month)
        if 0 <= index < months:
            counts[index] += 1

    return tuple(counts)


def parse_time(text: str) -> datetime:
    """Return an RFC 3339 text as a time in UTC."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError("a time needs a zone")

    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time needs a year of the calendar") from None


def time_in(value: object) -> datetime | None:
    """Return a record's time in UTC; None for none, or one that the calendar does not have."""
    if value is None:
        return None

    try:
        return parse_time(str(value))
    except ValueError:
        return None


def format_time(at: datetime) -> str:
    """Return a time in the form of records: UTC, whole seconds, `Z`."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
