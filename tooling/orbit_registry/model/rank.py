"""Order of records when they are pushed: decayed votes, priority, last change, id.

A vote's weight halves every half-life, so without new votes the order of two records never changes:
the weight of all votes now is the sum of 2^((t - EPOCH) / half-life), times a factor that all
records share. The logarithm of that sum is the key, which the snapshot and the push index store.
"""

import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from orbit_registry.model.record import Record
from orbit_registry.model.votes import Vote, distinct_votes, time_in

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000
_NEVER = -(1 << 62)

Order = tuple[float, int, int, str, str]
"""Sort key, ascending; the path decides between duplicate ids."""


def vote_key(votes: Iterable[Vote], half_life_days: float) -> float | None:
    """Return log2 of the votes' weight, from EPOCH; None without votes.

    A half-life of 0 counts the votes. Equal weights give the same key, bit by bit. Roots of two are
    independent, so two sums of powers are equal only if one becomes the other by adding pairs:
    2^a + 2^a = 2^(a+1). Pairs are added, in whole microseconds, until all powers differ, and the
    rest is summed in one order.
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
    last = powers[0]
    total = math.fsum(2.0 ** ((time - last) / half_life) for time in powers)
    return last / half_life + math.log2(total)


def order_of(
    key: float | None, priority: int, updated_at: int | None, record_id: str, path: str = ""
) -> Order:
    """Return the sort key of a record from its parts.

    `updated_at` is in `microseconds`; None comes last, as does a key of None.
    """
    if updated_at is None:
        updated_at = _NEVER

    weight = math.inf if key is None else -key
    return (weight, -priority, -updated_at, record_id, path)


def rank_order(record: Record, half_life_days: float) -> Order:
    """Return the sort key of a record."""
    key = vote_key(record.votes, half_life_days)
    updated_at = microseconds(record.text("updated_at"))
    return order_of(key, priority_of(record), updated_at, record.id, record.path)


def priority_of(record: Record) -> int:
    """Return a record's priority, 0 by default."""
    value = record.data.get("priority")
    if isinstance(value, int) and not isinstance(value, bool):
        return value

    return 0


def microseconds(text: str | None) -> int | None:
    """Return a time in microseconds since EPOCH; None if the calendar does not have it."""
    at = time_in(text)
    if at is None:
        return None

    return (at - EPOCH) // _MICROSECOND
