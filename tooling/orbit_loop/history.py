"""What the event log tells of records: who was shown them, and what happened after that."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from orbit_registry.hook.events import SYNCED
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.event_log import LoggedEvent

DAY = 86_400
FORGETTING = ("compaction", "compacted")
"""Events after which a session has lost what it was shown."""


@dataclass(slots=True)
class History:
    """Counts by record: sessions that were shown it, those of them that opened it, and how often
    the error that it describes came before and after it was shown.
    """

    days: float = 0.0
    sessions: int = 0
    """Sessions that were shown a record."""
    shown: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    failed_before: Counter[str] = field(default_factory=Counter)
    failed_after: Counter[str] = field(default_factory=Counter)


def history_of(events: Iterable[LoggedEvent]) -> History:
    """Return what events tell, which are in their order; trials of a hook are none."""
    history = History()
    seen: set[tuple[str, str]] = set()
    met: set[tuple[str, str]] = set()
    opened: set[tuple[str, str]] = set()
    times: list[float] = []

    for event in events:
        if event.kind == SYNCED or event.session.startswith(TRIAL):
            continue

        times.append(event.at)
        if event.kind in FORGETTING:
            seen = {pair for pair in seen if pair[0] != event.session}

        for record in event.failed:
            is_after = (event.session, record) in seen
            counts = history.failed_after if is_after else history.failed_before
            counts[record] += 1

        if event.session:
            shown = {(event.session, record) for record in event.shown}
            seen |= shown
            met |= shown
            opened |= {(event.session, record) for record in event.opened}

    history.days = (max(times) - min(times)) / DAY if times else 0.0
    history.sessions = len({session for session, _ in met})
    history.shown.update(record for _, record in met)
    history.opened.update(record for _, record in met & opened)
    return history
