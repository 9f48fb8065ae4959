"""Records that came due in a session, shown or withheld, and what became of the session then.

This reads event by event, and `orbit show` asks it: it starts faster than SQL would.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from orbit_registry.errors import plural
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.event_log import LoggedEvent, log_files, logged_events
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import commits_since
from orbit_registry.workspace.workspace import Workspace

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


def signals(pairs: Iterable[Pair]) -> dict[str, float]:
    """Count the pairs with each signal among those shown, and score them from -1 to 1."""
    shown_pairs = [pair for pair in pairs if not pair.withheld]
    counts: dict[str, float] = {}
    for name in WEIGHTS:
        counts[name] = sum(bool(getattr(pair, name)) for pair in shown_pairs)

    worth = sum(pair.worth for pair in shown_pairs)
    counts["score"] = worth / (len(shown_pairs) + PRIOR)
    return counts


def outcome(workspace: Workspace, record_id: str) -> tuple[dict[str, float], str]:
    """Return the signals and the score of a record in the sessions that were shown it, without
    reverts, and the same as a line; nothing if none was shown it.
    """
    files = log_files(workspace.state)
    if not any(record_id.encode() in file.read_bytes() for file in files):
        return {}, ""

    pairs = pairs_of(logged_events(files))
    mine = [pair for pair in pairs if pair.record == record_id and not pair.withheld]
    if not mine:
        return {}, ""

    counts = {"sessions": len(mine), **signals(mine)}
    return counts, _outcome_words(counts)


def _outcome_words(counts: Mapping[str, float]) -> str:
    phrases = {
        "opened": "opened it",
        "turned_green": "tests turned green",
        "edited": "its files were written",
        "failed_again": "it failed as it says",
    }
    parts = [f"{words} in {counts[name]:.0f}" for name, words in phrases.items() if counts[name]]
    count = plural(round(counts["sessions"]), "session")

    return (
        f"shown in {count} here: {', '.join(parts) or 'no sign of use'}; score "
        f"{counts['score']:.2f}"
    )
