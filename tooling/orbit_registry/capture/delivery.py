"""Delivery check: records that the event log says were shown, against the transcripts of the sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orbit_registry.agents.agent import delivery_readers
from orbit_registry.capture.transcripts import Given, read_transcript
from orbit_registry.hook.context import TRIAL
from orbit_registry.hook.session import safe_name
from orbit_registry.workspace.event_log import LoggedEvent

SURFACE = "hook:"
MOST_SESSIONS = 50
LATE_SECONDS = 5
"""An agent writes its transcript a little after the hook has answered."""
READERS = delivery_readers()
"""Agents with transcripts that hold what hooks put before the model, by name."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records of one session: how many hooks claim to have shown, and how many its transcript holds."""

    session: str
    agent: str
    path: Path
    claimed: int
    found: int
    missing: tuple[str, ...]
    unclaimed: tuple[str, ...]
    """In the transcript but not in the log, which may have been rotated."""
    broken: int
    """Unreadable lines of the transcript that hold a block."""

    def as_data(self) -> dict[str, object]:
        """Return the comparison for JSON."""
        return {**asdict(self), "path": str(self.path)}


def events_by_session(events: Iterable[LoggedEvent]) -> dict[str, list[LoggedEvent]]:
    """Return the events of hooks that showed records, by session, the newest sessions last."""
    by_ledger: dict[str, list[LoggedEvent]] = {}
    for event in events:
        if event.shown and event.session and event.surface.startswith(SURFACE) and not event.session.startswith(TRIAL):
            by_ledger[event.session] = [*by_ledger.pop(event.session, []), event]
            if len(by_ledger) > MOST_SESSIONS:
                by_ledger.pop(next(iter(by_ledger)))
    return by_ledger


def deliveries(
    root: Path, events_by_ledger: Mapping[str, Sequence[LoggedEvent]], agents: Iterable[str] = READERS
) -> list[Delivery]:
    """Compare each session that has a transcript, the newest last."""
    results = []
    for ledger, events in events_by_ledger.items():
        session, _, subagent = ledger.partition(".")
        if any(name and safe_name(name) != name for name in (session, subagent)):
            continue  # unsafe as part of a path
        for name in agents:
            reader = READERS[name]
            path = reader.transcript(root, session, subagent)
            delivery = None if path is None else _compare(name, path, reader.injected_texts, ledger, events)
            if delivery is not None:
                results.append(delivery)
                break
    return results


def _compare(
    agent: str, path: Path, injected_texts: Given, ledger: str, events: Sequence[LoggedEvent]
) -> Delivery | None:
    read = read_transcript(path, injected_texts)
    if read is None:
        return None
    # The transcript can't hold what was shown after its last write.
    claimed = Counter(
        record_id for event in events if event.at <= read.ended + LATE_SECONDS for record_id in event.shown
    )
    there = claimed & read.records
    missing, unclaimed = claimed - read.records, read.records - claimed
    lists = (tuple(sorted(missing)), tuple(sorted(unclaimed)))
    return Delivery(ledger, agent, path, claimed.total(), there.total(), *lists, read.broken)


def without_event(root: Path, logged_sessions: Iterable[str], since: float) -> tuple[int, int]:
    """Count Claude Code's sessions since a time, and those of them that the log names."""
    logged = set(logged_sessions)
    paths = [path for path in READERS["claude"].sessions(root)[:MOST_SESSIONS] if path.stat().st_mtime >= since]
    return len(paths), sum(safe_name(path.stem) in logged for path in paths)
