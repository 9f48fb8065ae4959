"""Says what a record's votes come to, as data and as words; what they weigh is `records.vote`'s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from orbit_registry.records.vote import Vote, counted, stamp, tally
from orbit_registry.store.votes import half_life_days


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
