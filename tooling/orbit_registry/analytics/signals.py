"""Follows what became of each record in each session, from events and commits in their order; it estimates nothing.

A pair is a session and a record that was due in it: shown, or withheld by lot. What counts happened after that, to
either in the same way. Nothing of it is ever written into a vote.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from orbit_registry.analytics.stats import MOST_NAMES
from orbit_registry.push.context import TRIAL
from orbit_registry.push.event_log import Said
from orbit_registry.store.git import Git
from orbit_registry.store.git_log import since

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


def pairs_of(events: Iterable[Said]) -> list[Pair]:
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


def _follow(session: _Session, said: Said) -> None:
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
