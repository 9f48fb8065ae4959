"""Owns the order in which records are pushed: decayed votes, priority, last change, id. The only place that has it.

What votes weigh halves every half-life, so that the order of two records never changes while no vote comes: the weight
now of all votes is the sum of 2^((t - EPOCH) / half-life), times a factor that all records share. The logarithm of
that sum is the key; the snapshot and the push index store it as it was worked out here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from orbit_registry.model.record import Record
from orbit_registry.model.votes import Vote, distinct_votes, parse_time

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000
_NEVER = -(1 << 62)

Order = tuple[float, int, int, str, str]
"""What records are sorted by: each part the smaller, the earlier; the last one is the path, for ids that repeat."""


def vote_key(votes: Iterable[Vote], half_life_days: float) -> float | None:
    """Return log2 of what votes weigh, from EPOCH; None where there is no vote; a half-life of 0 counts them.

    Weights that are equal as numbers give the very same key. Roots of two are independent, so two sums of powers are
    equal only if one becomes the other by adding pairs: 2^a + 2^a = 2^(a+1). Pairs are added, in whole microseconds,
    until all powers differ, and what is left is summed in one order.
    """
    times = [(vote.voted_at - EPOCH) // _MICROSECOND for vote in distinct_votes(votes)]
    if not times:
        return None
    if not 0 < half_life_days < math.inf:
        return math.log2(len(times))
    half_life = max(1, round(half_life_days * _DAY))
    counts = Counter(times)
    again = [time for time, count in counts.items() if count > 1]
    while again:
        time = again.pop()
        carried, counts[time] = divmod(counts[time], 2)
        if carried:
            counts[time + half_life] += carried
            again.append(time + half_life)
    powers = sorted((time for time, count in counts.items() if count), reverse=True)
    total = math.fsum(2.0 ** ((time - powers[0]) / half_life) for time in powers)
    return powers[0] / half_life + math.log2(total)


def order_of(key: float | None, priority: int, updated_at: int | None, record_id: str, path: str = "") -> Order:
    """Return what a record is sorted by, from its parts; `updated_at` as `microseconds` gives it, None comes last."""
    updated = _NEVER if updated_at is None else updated_at
    return (math.inf if key is None else -key, -priority, -updated, record_id, path)


def rank_order(record: Record, half_life_days: float) -> Order:
    """Return what a record is sorted by."""
    key = vote_key(record.votes, half_life_days)
    return order_of(key, priority_of(record), microseconds(record.text("updated_at")), record.id, record.path)


def priority_of(record: Record) -> int:
    """Return a record's priority, 0 where it states none."""
    value = record.data.get("priority")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def microseconds(text: str | None) -> int | None:
    """Return a record's time in microseconds since EPOCH; None for one the calendar does not have."""
    try:
        return (parse_time(text) - EPOCH) // _MICROSECOND if text is not None else None
    except (ValueError, OverflowError):
        return None
