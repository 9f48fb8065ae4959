"""Compares what the event log says was shown with what stands in transcripts: ids and counts, no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orbit_registry.capture.readers import claude, codex
from orbit_registry.capture.transcripts import Given, read_transcript
from orbit_registry.hook.context import TRIAL
from orbit_registry.hook.session import safe_name
from orbit_registry.workspace.event_log import LoggedEvent

SURFACE = "hook:"
MOST_SESSIONS = 50
LATE_SECONDS = 5
"""An agent writes its transcript a little after the hook has answered."""
AGENTS: Mapping[str, tuple[Callable[[Path, str, str], Path | None], Given]] = {
    "claude": (claude.transcript, claude.given),
    "codex": (codex.transcript, codex.given),
}
"""Agents whose transcripts can be read: where a session's stands, and what in its lines was given by hooks."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One session's records: how many the log says were shown by hooks, how many of them stand in its transcript."""

    session: str
    agent: str
    path: Path
    claimed: int
    found: int
    missing: tuple[str, ...]
    unclaimed: tuple[str, ...]
    """In the transcript, and not in the log: an older log is gone, or something else wrote them."""
    broken: int
    """Lines of the transcript that hold a block and can't be read."""

    def as_data(self) -> dict[str, object]:
        """Return the comparison as JSON shows it."""
        return {**asdict(self), "path": str(self.path)}


def claims(events: Iterable[LoggedEvent]) -> dict[str, list[LoggedEvent]]:
    """Return the events of hooks that showed something, by ledger, the newest ledgers last; trials are left out."""
    found: dict[str, list[LoggedEvent]] = {}
    for said in events:
        if said.shown and said.session and said.surface.startswith(SURFACE) and not said.session.startswith(TRIAL):
            found[said.session] = [*found.pop(said.session, []), said]
            if len(found) > MOST_SESSIONS:
                found.pop(next(iter(found)))
    return found


def deliveries(
    root: Path, shown: Mapping[str, Sequence[LoggedEvent]], agents: Iterable[str] = AGENTS
) -> list[Delivery]:
    """Return the comparison for each session whose transcript is there, the newest last."""
    found = []
    for ledger, events in shown.items():
        session, _, subagent = ledger.partition(".")
        if any(name and safe_name(name) != name for name in (session, subagent)):
            continue  # it becomes a part of a path
        for name in agents:
            where, given = AGENTS[name]
            path = where(root, session, subagent)
            one = None if path is None else _compared(name, path, given, ledger, events)
            if one is not None:
                found.append(one)
                break
    return found


def _compared(agent: str, path: Path, given: Given, ledger: str, events: Sequence[LoggedEvent]) -> Delivery | None:
    read = read_transcript(path, given)
    if read is None:
        return None
    # What was shown after the transcript was last written can't stand in it yet.
    claimed = Counter(one for said in events if said.at <= read.ended + LATE_SECONDS for one in said.shown)
    there = claimed & read.records
    missing, unclaimed = claimed - read.records, read.records - claimed
    lists = (tuple(sorted(missing)), tuple(sorted(unclaimed)))
    return Delivery(ledger, agent, path, claimed.total(), there.total(), *lists, read.broken)


def without_event(root: Path, shown: Iterable[str], since: float) -> tuple[int, int]:
    """Return how many of Claude Code's newest sessions are newer than a time, and how many of them the log names."""
    known = set(shown)
    paths = [path for path in claude.sessions(root)[:MOST_SESSIONS] if path.stat().st_mtime >= since]
    return len(paths), sum(safe_name(path.stem) in known for path in paths)
