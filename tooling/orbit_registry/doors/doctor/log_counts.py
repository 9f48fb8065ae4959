"""Counts of the event log, as far as they tell whether hooks work."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from orbit_registry.hook.events import RETRIEVAL, SYNCED
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.event_log import LoggedEvent

ENDED_BEFORE = frozenset(("nothing asked", "too large", "deadline"))
"""Reasons of calls that may have ended before they looked for the push index."""


@dataclass(slots=True)
class LogCounts:
    """Calls, those that showed a record, why the others did not, and what went wrong."""

    calls: int = 0
    speaking: int = 0
    records: int = 0
    skips: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    first: float | None = None
    without_index: int = 0
    """Newest calls in a row that looked for the push index and found none."""


def counts_of(events: Iterable[LoggedEvent]) -> LogCounts:
    """Count events; calls that try a hook are no calls of an agent."""
    counts = LogCounts()
    for event in events:
        if event.kind != SYNCED and not event.session.startswith(TRIAL):
            _count(counts, event)

    return counts


def _count(counts: LogCounts, event: LoggedEvent) -> None:
    if counts.first is None or event.at < counts.first:
        counts.first = event.at
    if event.session:
        counts.sessions.add(event.session)
    if event.fault and event.kind != "opened":  # also in the call's own event
        counts.faults[event.fault] += 1
    if event.kind != RETRIEVAL:
        return

    counts.calls += 1
    counts.speaking += bool(event.shown)
    counts.records += len(event.shown)
    if event.skip_reason == "no index":
        counts.without_index += 1
    elif event.skip_reason not in ENDED_BEFORE:
        counts.without_index = 0

    if not event.shown:
        counts.skips[event.skip_reason or "not said"] += 1
