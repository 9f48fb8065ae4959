"""Counts of events, bounded whatever the log holds, and what became of each record in each session."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from orbit_registry.hook.context import TRIAL
from orbit_registry.hook.events import SYNCED
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import since

MOST_NAMES = 50_000
"""So many different records, sessions or pairs of both are told apart; what comes after them is counted together."""
OTHERS = "(others)"
FORGETTING = ("compaction", "compacted")
"""After these a session has what it was shown no longer before it."""
_EXACT_MS = 1000.0


@dataclass(slots=True)
class Times:
    """How long calls took: a histogram in tenths of a millisecond, coarser (three digits) from a second on."""

    counts: Counter[float] = field(default_factory=Counter)

    def add(self, ms: float | None) -> None:
        """Count one."""
        if ms is not None:
            self.counts[round(ms, 1) if ms < _EXACT_MS else float(f"{ms:.3g}")] += 1

    def percentile(self, share: float) -> float | None:
        """Return the time that this share of the calls did not exceed; None without any."""
        wanted = share * self.counts.total()
        passed = 0
        for ms in sorted(self.counts):
            passed += self.counts[ms]
            if passed >= wanted:
                return ms
        return None


@dataclass(slots=True)
class UsageSlice:
    """The calls of one surface, of one agent, of one day, or all of them."""

    calls: int = 0
    speaking: int = 0
    """Calls that showed a record."""
    shown: int = 0
    omitted: int = 0
    opened: int = 0
    tokens: int = 0
    times: Times = field(default_factory=Times)
    skips: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, said: LoggedEvent, tokens: int) -> None:
        """Count an event; `tokens` are those of what it showed."""
        self.opened += len(said.opened)
        if said.fault and said.kind != "opened":  # the call's own event says it too
            self.faults[_kept(self.faults, said.fault)] += 1
        if said.kind != "retrieval":
            return
        self.calls += 1
        self.speaking += bool(said.shown)
        self.shown += len(said.shown)
        self.omitted += said.omitted
        self.tokens += tokens
        self.times.add(said.ms)
        if not said.shown:
            self.skips[_kept(self.skips, said.skip_reason or "not said")] += 1


@dataclass(slots=True)
class Tally:
    """What the events of a log come to."""

    whole: UsageSlice = field(default_factory=UsageSlice)
    surfaces: dict[str, UsageSlice] = field(default_factory=dict)
    agents: dict[str, UsageSlice] = field(default_factory=dict)
    """By the agent's own name for what it runs; empty where it gave none."""
    days: dict[str, UsageSlice] = field(default_factory=dict)
    first: float | None = None
    last: float | None = None
    before: int = 0
    """Events left out because they are older than what was asked for."""
    sessions: set[str] = field(default_factory=set)
    without_session: int = 0
    shown: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    opened_after: Counter[str] = field(default_factory=Counter)
    """Opened in a session that had been shown the record before: once a session."""
    failed_before: Counter[str] = field(default_factory=Counter)
    """A failure that the record describes, in a session that had not been shown it: what pushing missed."""
    failed_after: Counter[str] = field(default_factory=Counter)
    """The same in a session that had been shown it: what pushing did not prevent."""
    pairs: int = 0
    """Pairs of a session and a record that was shown in it."""
    trials: int = 0
    """Calls by which the installed hook was tried; they count nowhere else."""
    estimated: int = 0
    """Calls whose tokens the event does not say; they are estimated from what the records say today."""


class Counting:
    """Counts events one after another."""

    def __init__(self, since: float | None, costs: dict[str, int], frame: int) -> None:
        """`costs` are the tokens of each record as it is shown today, `frame` those around them."""
        self._since, self._costs, self._frame = since, costs, frame
        self._seen: dict[tuple[str, int, str], bool] = {}
        self._forgotten: Counter[str] = Counter()
        self.tally = Tally()

    def add_all(self, events: Iterable[LoggedEvent]) -> Tally:
        """Count all, and return what they come to."""
        for said in events:
            if self._since is not None and said.at < self._since:
                self.tally.before += 1
            elif said.kind == SYNCED:
                continue  # nobody asked for anything
            elif said.session.startswith(TRIAL):
                self.tally.trials += said.kind == "retrieval"
            else:
                self._add(said)
        return self.tally

    def _add(self, said: LoggedEvent) -> None:
        found = self.tally
        found.first = said.at if found.first is None else min(found.first, said.at)
        found.last = said.at if found.last is None else max(found.last, said.at)
        tokens = said.tokens
        if tokens is None and said.shown:
            found.estimated += 1
            tokens = self._frame + sum(self._costs.get(one, 0) for one in said.shown)
        day = datetime.fromtimestamp(said.at, UTC).date().isoformat()
        for part in (
            found.whole,
            found.surfaces.setdefault(_kept(found.surfaces, said.surface), UsageSlice()),
            found.agents.setdefault(_kept(found.agents, said.agent), UsageSlice()),
            found.days.setdefault(_kept(found.days, day), UsageSlice()),
        ):
            part.add(said, tokens or 0)
        if said.session:
            found.sessions.add(_kept(found.sessions, said.session))
        elif said.kind == "retrieval":
            found.without_session += 1
        self._follow(said)

    def _follow(self, said: LoggedEvent) -> None:
        """Count by record, and whether what happened to it came after it was shown in that session."""
        found = self.tally
        if said.kind in FORGETTING and said.session:
            self._forgotten[_kept(self._forgotten, said.session)] += 1
        place = (said.session, self._forgotten.get(said.session, 0))
        for one in said.failed:
            counts = found.failed_after if (*place, one) in self._seen else found.failed_before
            counts[_kept(counts, one)] += 1
        for one in said.shown:
            found.shown[_kept(found.shown, one)] += 1
            if said.session and (*place, one) not in self._seen and len(self._seen) < MOST_NAMES:
                self._seen[*place, one] = False
                found.pairs += 1
        for one in said.opened:
            found.opened[_kept(found.opened, one)] += 1
            if self._seen.get((*place, one)) is False:
                self._seen[*place, one] = True
                found.opened_after[one] += 1


def _kept(known: dict[str, UsageSlice] | Counter[str] | set[str], name: str) -> str:
    """Return a name, or the one for all others where too many are known already."""
    return name if name in known or len(known) < MOST_NAMES else OTHERS


# ------------------------------------------------------------------------------------------------------------- signals

WEIGHTS = {"opened": 1.0, "turned_green": 1.0, "edited": 0.25, "failed_again": -1.0, "reverted": -1.0}
"""What a session's signals are worth to a record that it was shown; a session is worth between -1 and 1 in all."""
PRIOR = 4
"""So many sessions without a signal are added to each record's: one session alone moves no score far."""
MOST_COMMANDS = 200
REVERT_DAYS = 7
DAY = 86_400
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


@dataclass(slots=True, eq=False)
class Pair:
    """A session and a record that was due in it; `at` is when, in seconds since 1970, `paths` what led to it then."""

    session: str
    record: str
    withheld: bool
    at: float = 0.0
    paths: frozenset[str] = frozenset()
    opened: bool = False
    edited: bool = False
    """One of the paths was written by a later call."""
    turned_green: bool = False
    """A command that runs tests had failed, and passed when it was run again."""
    failed_again: int = 0
    """Failures that the record's `error_pattern` describes."""
    reverted: bool = False
    """The next commit of one of the paths was reverted."""
    failed_calls: int = 0
    retries: int = 0
    """Runs of a command that had failed and not passed since."""
    tokens: int = 0
    """Of all that was pushed to the session since."""

    @property
    def worth(self) -> float:
        """What the signals come to, from -1 to 1."""
        return max(-1.0, min(1.0, sum(weight for name, weight in WEIGHTS.items() if getattr(self, name))))


@dataclass(slots=True)
class _Command:
    """How a command of a shell stands: failed and not passed since; begun, when so many records were due, and not
    known to have failed."""

    red: bool = False
    begun: int | None = None
    tests: bool = False


@dataclass(slots=True)
class _Session:
    pairs: dict[str, Pair] = field(default_factory=dict)
    commands: dict[str, _Command] = field(default_factory=dict)


def pairs_of(events: Iterable[LoggedEvent]) -> list[Pair]:
    """Return the pairs of a log, in the order in which records came due; events without a session count nowhere."""
    sessions: dict[str, _Session] = {}
    found: list[Pair] = []
    for said in events:
        name = said.session.partition(".")[0]  # a subagent's is its parent's: the lot falls for both
        if not name or name.startswith(TRIAL):
            continue
        if name not in sessions and len(sessions) >= MOST_NAMES:
            continue
        session = sessions.setdefault(name, _Session())
        _follow(session, said)
        for ids, withheld in ((said.shown, False), (said.withheld, True)):
            for record in ids:
                if record not in session.pairs and len(found) < MOST_NAMES:
                    pair = Pair(name, record, withheld, said.at, frozenset(said.paths))
                    session.pairs[record] = pair
                    found.append(pair)
        for pair in session.pairs.values() if said.tokens else ():
            pair.tokens += said.tokens or 0
    for session in sessions.values():
        for command in session.commands.values():
            _passed(session, command)
    return found


def _follow(session: _Session, said: LoggedEvent) -> None:
    """Credit an event to the records that came due before it."""
    for record in said.failed:
        if record in session.pairs:
            session.pairs[record].failed_again += 1
    for record in said.opened:
        if record in session.pairs:
            session.pairs[record].opened = True
    for pair in session.pairs.values():
        pair.failed_calls += said.is_failure
        pair.edited |= said.writes and not pair.paths.isdisjoint(said.paths)
    if not said.command or (said.command not in session.commands and len(session.commands) >= MOST_COMMANDS):
        return
    command = session.commands.setdefault(said.command, _Command())
    if said.is_failure:
        command.red, command.begun, command.tests = True, None, said.tests
        return
    _passed(session, command)
    for pair in session.pairs.values():
        pair.retries += command.red
    command.begun = len(session.pairs)


def _passed(session: _Session, command: _Command) -> None:
    """Take a run of which no failure came for one that passed: it is over once the command is run again, or all is."""
    if command.begun is None or not command.red:
        return
    for pair in islice(session.pairs.values(), command.begun if command.tests else 0):
        pair.turned_green = True
    command.red = False


def mark_reverted(git: Git, pairs: Sequence[Pair]) -> None:
    """Mark the pairs of whose paths the next commit, within a week, was reverted by a later one that says so.

    Raises:
        GitError: git fails.
    """
    begun = min((pair.at for pair in pairs if pair.paths), default=None)
    if begun is None or git.head() is None:
        return
    commits = since(git, git.ask("rev-list", "-1", f"--before={int(begun)}", "HEAD"))
    reverted = reverted_of(commit.message for commit in commits)
    touching: dict[str, list[tuple[float, int]]] = {}
    for place, commit in enumerate(commits if reverted else ()):
        for path in commit.files:
            touching.setdefault(path, []).append((commit.at, place))
    for held in touching.values():
        held.sort()
    for pair in pairs:
        found = [held[place] for path in pair.paths if (held := touching.get(path, []))
                 if (place := bisect_left(held, (pair.at, 0))) < len(held)]  # fmt: skip
        at, place = min(found, default=(math.inf, 0))
        pair.reverted = at <= pair.at + REVERT_DAYS * DAY and commits[place].name.startswith(reverted)


def reverted_of(messages: Iterable[str]) -> tuple[str, ...]:
    """Return the names, or their beginnings, of the commits that some messages say they revert."""
    return tuple(dict.fromkeys(name for message in messages for name in _REVERTS.findall(message)))
