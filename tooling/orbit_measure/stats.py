"""Counters over events, and the signals of each record in each session."""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, islice

from orbit_measure.figures import percentile, ratio
from orbit_registry.hook.events import SYNCED
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.git import Git, commits_since

FORGETTING = ("compaction", "compacted")  # events after which a session has lost what it was shown
_EXACT_MS = 1000.0


@dataclass(slots=True)
class UsageSlice:
    """Calls of one surface, one agent, one day or all; of a replay, commits."""

    calls: int = 0
    speaking: int = 0  # calls that showed a record
    shown: int = 0
    omitted: int = 0
    opened: int = 0
    tokens: int = 0
    times: list[float] = field(default_factory=list)  # milliseconds of each call
    skips: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, event: LoggedEvent, tokens: int) -> None:
        """Count an event; `tokens` are those of what it showed."""
        self.opened += len(event.opened)

        if event.fault and event.kind != "opened":  # also in the call's own event
            self.faults[event.fault] += 1
        if event.kind != "retrieval":
            return

        self.count(len(event.shown), tokens)
        self.omitted += event.omitted
        self.times += [] if event.ms is None else [event.ms]

        if not event.shown:
            self.skips[event.skip_reason or "not said"] += 1

    def count(self, shown: int, tokens: int) -> None:
        """Count a call that showed so many records."""
        self.calls += 1
        self.speaking += bool(shown)
        self.shown += shown
        self.tokens += tokens

    def time_of(self, share: float) -> float | None:
        """Return the milliseconds that this share of the calls did not exceed, three digits;
        None without calls.
        """
        if not self.times:
            return None
        ms = percentile(sorted(self.times), share)
        return round(ms, 1) if ms < _EXACT_MS else float(f"{ms:.3g}")

    @property
    def silent(self) -> int:
        """Calls that showed nothing."""
        return self.calls - self.speaking

    @property
    def silent_share(self) -> float | None:
        """Their share; None without calls."""
        return ratio(self.silent, self.calls)


def _slices() -> defaultdict[str, UsageSlice]:
    return defaultdict(UsageSlice)


@dataclass(slots=True)
class Tally:
    """Counts of the events of a log."""

    total: UsageSlice = field(default_factory=UsageSlice)
    surfaces: Mapping[str, UsageSlice] = field(default_factory=_slices)
    agents: Mapping[str, UsageSlice] = field(default_factory=_slices)
    """By the name that the agent gave; empty without one."""
    days: Mapping[str, UsageSlice] = field(default_factory=_slices)
    first: float | None = None
    last: float | None = None
    before: int = 0  # events older than `since`
    sessions: set[str] = field(default_factory=set)
    without_session: int = 0
    shown: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    opened_after: Counter[str] = field(default_factory=Counter)
    """Opened after the same session was shown the record: once a session."""
    failed_before: Counter[str] = field(default_factory=Counter)
    """Failures that a record describes, in a session that had not been shown it."""
    failed_after: Counter[str] = field(
        default_factory=Counter
    )  # the same in a session that had been shown it
    pairs: int = 0  # pairs of a session and a record that was shown in it
    trials: int = 0  # trial calls of the installed hook; they count nowhere else
    estimated: int = (
        0  # calls without tokens in their event; these are estimated from today's records
    )


class EventCounter:
    """Counter of events."""

    def __init__(self, since: float | None, costs: dict[str, int], frame: int) -> None:
        """`costs` are the tokens of each record as shown today, `frame` those around them."""
        self._since, self._costs, self._frame = since, costs, frame
        self._seen: dict[tuple[str, int, str], bool] = {}
        self._forgotten: Counter[str] = Counter()
        self.tally = Tally()

    def add_all(self, events: Iterable[LoggedEvent]) -> Tally:
        """Count events and return the tally."""
        for event in events:
            if self._since is not None and event.at < self._since:
                self.tally.before += 1
            elif event.kind == SYNCED:
                continue  # no request
            elif event.session.startswith(TRIAL):
                self.tally.trials += event.kind == "retrieval"
            else:
                self._add(event)

        return self.tally

    def _add(self, event: LoggedEvent) -> None:
        tally = self.tally
        tally.first = event.at if tally.first is None else min(tally.first, event.at)
        tally.last = event.at if tally.last is None else max(tally.last, event.at)
        tokens = event.tokens

        if tokens is None and event.shown:
            tally.estimated += 1
            tokens = self._frame + sum(self._costs.get(record_id, 0) for record_id in event.shown)

        day = datetime.fromtimestamp(event.at, UTC).date().isoformat()
        for part in (
            tally.total,
            tally.surfaces[event.surface],
            tally.agents[event.agent],
            tally.days[day],
        ):
            part.add(event, tokens or 0)

        if event.session:
            tally.sessions.add(event.session)
        elif event.kind == "retrieval":
            tally.without_session += 1

        self._follow(event)

    def _follow(self, event: LoggedEvent) -> None:
        tally = self.tally

        if event.kind in FORGETTING and event.session:
            self._forgotten[event.session] += 1

        context = (event.session, self._forgotten[event.session])
        for record_id in event.failed:
            counts = (
                tally.failed_after if (*context, record_id) in self._seen else tally.failed_before
            )
            counts[record_id] += 1

        tally.shown.update(event.shown)

        for record_id in event.shown if event.session else ():
            tally.pairs += (*context, record_id) not in self._seen
            self._seen.setdefault((*context, record_id), False)

        tally.opened.update(event.opened)

        for record_id in event.opened:
            if self._seen.get((*context, record_id)) is False:
                self._seen[*context, record_id] = True
                tally.opened_after[record_id] += 1


WEIGHTS = {
    "opened": 1.0,
    "turned_green": 1.0,
    "edited": 0.25,
    "failed_again": -1.0,
    "reverted": -1.0,
}
"""Worth of a session's signals to a record that it was shown; the sum is clipped to -1 … 1."""
# sessions without a signal that are added to each record's, so that one session moves no score far
PRIOR = 4
REVERT_DAYS = 7
DAY = 86_400
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


@dataclass(slots=True, eq=False)
class Pair:
    """Session and a record that was due in it at a time, because of some paths."""

    session: str
    record: str
    withheld: bool
    at: float = 0.0
    paths: frozenset[str] = frozenset()
    opened: bool = False
    edited: bool = False  # a later call wrote one of the paths
    turned_green: bool = False  # a command that runs tests failed, and passed later
    failed_again: int = 0  # failures that the record's `error_pattern` describes
    reverted: bool = False  # the next commit of one of the paths was reverted
    failed_calls: int = 0
    retries: int = 0  # repeated runs of a command that had failed
    tokens: int = 0  # tokens pushed to the session since
    turns: int | None = None  # answers of the model since; None without a transcript
    used_tokens: int | None = None  # tokens of these answers

    @property
    def worth(self) -> float:
        """Sum of the signals, from -1 to 1."""
        return max(
            -1.0, min(1.0, sum(weight for name, weight in WEIGHTS.items() if getattr(self, name)))
        )


@dataclass(slots=True)
class _Command:
    """`due_count` is the number of pairs when the last run started, if that may have passed."""

    red: bool = False
    due_count: int | None = None
    tests: bool = False


@dataclass(slots=True)
class _Session:
    pairs: dict[str, Pair] = field(default_factory=dict)
    commands: dict[str, _Command] = field(default_factory=dict)


def pairs_of(events: Iterable[LoggedEvent]) -> list[Pair]:
    """Return the pairs of a log, in the order in which records came due;
    events without a session are skipped.
    """
    sessions: dict[str, _Session] = {}
    pairs: list[Pair] = []
    for event in events:
        name = event.session.partition(".")[0]  # a subagent shares its parent's lot
        if not name or name.startswith(TRIAL):
            continue

        session = sessions.setdefault(name, _Session())
        _credit(session, event)

        for ids, withheld in ((event.shown, False), (event.withheld, True)):
            for record in ids:
                if record not in session.pairs:
                    session.pairs[record] = Pair(
                        name, record, withheld, event.at, frozenset(event.paths)
                    )
                    pairs.append(session.pairs[record])

        for pair in session.pairs.values() if event.tokens else ():
            pair.tokens += event.tokens or 0

    for session in sessions.values():
        for command in session.commands.values():
            _assume_passed(session, command)

    return pairs


def _credit(session: _Session, event: LoggedEvent) -> None:
    for record, pair in session.pairs.items():
        pair.failed_again += record in event.failed
        pair.opened |= record in event.opened
        pair.failed_calls += event.is_failure
        pair.edited |= event.writes and not pair.paths.isdisjoint(event.paths)

    if not event.command:
        return

    command = session.commands.setdefault(event.command, _Command())
    if event.is_failure:
        command.red, command.due_count, command.tests = True, None, event.tests
        return

    _assume_passed(session, command)

    for pair in session.pairs.values():
        pair.retries += command.red

    command.due_count = len(session.pairs)


def _assume_passed(session: _Session, command: _Command) -> None:
    """Take the last run for a passed one, since no failure of it was logged."""
    if command.due_count is None or not command.red:
        return
    for pair in islice(session.pairs.values(), command.due_count if command.tests else 0):
        pair.turned_green = True
    command.red = False


def mark_reverted(git: Git, pairs: Sequence[Pair]) -> None:
    """Mark the pairs whose paths were changed by a commit within a week that a later one
    reverts.
    """
    started = min((pair.at for pair in pairs if pair.paths), default=None)
    if started is None or git.head() is None:
        return

    commits = commits_since(git, git.ask("rev-list", "-1", f"--before={int(started)}", "HEAD"))
    reverted = reverted_of(commit.message for commit in commits)
    touching: dict[str, list[tuple[float, int]]] = {}
    for position, commit in enumerate(commits if reverted else ()):
        for path in commit.files:
            touching.setdefault(path, []).append((commit.at, position))

    for dated_commits in touching.values():
        dated_commits.sort()

    for pair in pairs:
        following = [
            dated_commits[position]
            for path in pair.paths
            if (dated_commits := touching.get(path, []))
            if (position := bisect_left(dated_commits, (pair.at, 0))) < len(dated_commits)
        ]
        at, position = min(following, default=(math.inf, 0))
        pair.reverted = at <= pair.at + REVERT_DAYS * DAY and commits[position].name.startswith(
            reverted
        )


def reverted_of(messages: Iterable[str]) -> tuple[str, ...]:
    """Return the names, or their beginnings, of the commits that messages revert."""
    return tuple(set(chain.from_iterable(map(_REVERTS.findall, messages))))
