"""Says what votes come to, as data and as words, and orders lists of records; what they weigh is `records.vote`'s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from orbit_registry.records.rank import rank_order
from orbit_registry.records.record import Record
from orbit_registry.records.vote import Vote, counted, moment, stamp, tally
from orbit_registry.store.votes import half_life_days

ORDERS = ("votes", "updated", "id")


def in_order(records: Sequence[Record], sort: str) -> list[Record]:
    """Return records in one of `ORDERS`; by votes is the order in which they are pushed."""
    if sort == "updated":
        return sorted(records, key=_updated, reverse=True)
    if sort == "votes":
        half_life = half_life_days()
        return sorted(records, key=lambda record: rank_order(record, half_life))
    return list(records)


def _updated(record: Record) -> datetime:
    return moment(str(record.data["updated_at"]))


def vote_data(votes: Sequence[Vote]) -> dict[str, object]:
    """Return count, score now, time of the last one (None where there is none) and how many each task has.

    Raises:
        UsageError: the half-life that the environment sets is no number of days.
    """
    result = tally(votes, datetime.now(UTC), half_life_days())
    tasks = Counter(vote.task_id for vote in counted(votes))
    return {
        "count": result.count,
        "score": round(result.score, 6),
        "last": stamp(result.last) if result.last else None,
        "tasks": dict(sorted(tasks.items())),
    }


def vote_cell(votes: Sequence[Vote]) -> str:
    """Return the count, and what it weighs now where that is less: `3 (1.25)`; nothing where there is no vote."""
    result = tally(votes, datetime.now(UTC), half_life_days())
    if not result.count:
        return ""
    weight = f"{result.score:.2f}"
    return f"{result.count}" if weight == f"{result.count:.2f}" else f"{result.count} ({weight})"


def vote_words(votes: Sequence[Vote]) -> str:
    """Return the same as one line."""
    result = tally(votes, datetime.now(UTC), half_life_days())
    if not result.count or result.last is None:
        return "none"
    tasks = Counter(vote.task_id for vote in counted(votes))
    by_task = ", ".join(f"{task} {count}" if count > 1 else task for task, count in sorted(tasks.items()))
    return f"{result.count} (weighing {result.score:.2f} now), last {stamp(result.last)}, in {by_task}"
