"""Replays the history of a workspace: reads commits and records, walks, counts; it writes nothing.

In a history nothing was withheld. What `stats.effect` is given in its place are the commits that a record applies to
and that came before it stood, each as one session: such a comparison proves less, for much else changes with time.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.analytics.effect import TIME, report
from orbit_registry.analytics.effect import Report as EffectReport
from orbit_registry.analytics.history import has_history, past_of, touch_of
from orbit_registry.analytics.past import CommitFile, Past, Touch, past_by_dates, read_commits
from orbit_registry.analytics.replay_count import Names, count
from orbit_registry.analytics.replay_report import Report
from orbit_registry.analytics.replay_walk import Replay
from orbit_registry.analytics.report import told_of
from orbit_registry.analytics.signals import Pair, reverted_of
from orbit_registry.errors import UsageError
from orbit_registry.records.record import Record
from orbit_registry.search.bits import places_of
from orbit_registry.store.git_log import since as commits_since
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace

FOLLOWED = 50
"""What became of a commit is looked for in so many after it; the last ones of a history, which have fewer, are left
out: they would look as if nothing had to be done again."""
_MENDS = re.compile(r"\b(?:(?:hot|bug)?fix(?:e[sd])?\b|revert)", re.IGNORECASE)
"""A word of a message's first line that says that the commit mends something."""


def pairs_in(past: Past, replay: Replay) -> Iterator[Pair]:
    """Yield a pair for each commit and record that was shown for it, or that applies to it and did not stand yet."""
    uids = [version.record.uid if version.record is not None else "" for version in past.versions]
    ids = {uid: record.id for uid, record in past.latest.items()}
    stood: set[str] = set()
    seen = 0
    fates = _Fates([step.touch for step in past.steps])
    for place, shown in enumerate(replay.walk()):
        standing = shown.step.standing
        stood |= {uids[number] for number in places_of(standing & ~seen)}
        seen |= standing
        if not shown.step.touch.files or place + FOLLOWED >= len(past.steps):
            continue
        told = {uids[number] for number in shown.versions}
        before = {uids[number] for number in replay.reaching(shown.step)} - stood
        for uid in sorted((told | before) - {""}):
            tokens = 0 if uid in before else shown.tokens
            yield fates.marked(place, Pair(shown.step.touch.name, ids[uid], uid in before, tokens=tokens))


class _Fates:
    """What became of each commit: whether later ones revert it, mend it or come back to its files."""

    def __init__(self, touches: list[Touch]) -> None:
        self._touches = touches
        self._reverted = tuple(name[:12] for name in reverted_of(one.message for one in touches))
        self._of_file: dict[str, list[int]] = {}
        for place, one in enumerate(touches):
            for file in one.files:
                self._of_file.setdefault(file, []).append(place)
        self._known: dict[int, tuple[bool, bool, int]] = {}

    def marked(self, place: int, pair: Pair) -> Pair:
        """Note on a pair what became of the commit at a place."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._fate(place)
        pair.reverted, mended, pair.retries = known
        pair.failed_again = int(pair.reverted or mended)
        return pair

    def _fate(self, place: int) -> tuple[bool, bool, int]:
        one = self._touches[place]
        later: set[int] = set()
        for file in one.files:
            held = self._of_file[file]
            for other in held[bisect_right(held, place) :]:
                if other > place + FOLLOWED:
                    break
                later.add(other)
        mended = any(_MENDS.search(self._touches[other].message.partition("\n")[0]) for other in later)
        return one.name.startswith(self._reverted) if self._reverted else False, mended, len(later)


def replay(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> Report:
    """Return what would have been shown for each commit of a history, with the records that were there then.

    The commits are those of the branch checked out, or those of a file of JSON lines; `since` leaves out those up to
    the one it names. Where git holds the records and no file is given, git says which of them stood when.

    Raises:
        UsageError: `since` names no commit, or there is no history.
        UnreadableFileError: the file can't be read.
        GitError: git fails.
    """
    begun = time.monotonic()
    past, tracked, given = _history(workspace, since, commits)
    names = Names(past.latest.values(), workspace.kinds.id_forms)
    tally = count(past, Replay(past, tracked, half_life_days()), names)
    source = str(commits) if commits is not None else f"{since}..HEAD" if since else "HEAD"
    took = time.monotonic() - begun
    return Report(past, tally, source, len(tracked), given.skipped, given.skipped_count, took)


def _history(workspace: Workspace, since: str | None, commits: Path | None) -> tuple[Past, list[str], CommitFile]:
    """Return the history, the files by which a scope is called broad, and what a file of commits gave."""
    tracked = workspace.git.tracked() or []
    if commits is None:
        return _past(workspace, since), tracked, CommitFile((), (), 0)
    given = read_commits(commits, since)
    past = past_by_dates(given.commits, _records(workspace))
    return past, list({*tracked, *(file for touch in given.commits for file in touch.files)}), given


def effect(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> EffectReport:
    """Return what records did in a history, as `stats.effect` tells it: commits that had one beside those before it.

    Raises:
        UsageError, UnreadableFileError, GitError: as `replay`.
    """
    past, tracked, _ = _history(workspace, since, commits)
    pairs = list(pairs_in(past, Replay(past, tracked, half_life_days())))
    return report(pairs, told_of(workspace), TIME)


def _past(workspace: Workspace, since: str | None) -> Past:
    git = workspace.git
    if git.head() is None:
        raise UsageError("there is no commit here", hint="name a file of commits with --commits")
    if has_history(git):
        return past_of(workspace, since)
    if since is not None and git.commit(since) is None:
        raise UsageError(f"{since!r} names no commit", hint="name a commit, a tag or a branch")
    touches = [touch_of(one) for one in commits_since(git, since) if len(one.parents) < 2]
    return past_by_dates(touches, _records(workspace))


def _records(workspace: Workspace) -> list[tuple[Record, bool]]:
    """Return the records of today, without the inbox, and whether a file beside each holds its prose."""
    reading = Reading(workspace)
    shared = [entry for entry in reading.entries if not entry.pending]
    found = [(reading.record(entry), entry.has_body) for entry in shared]
    reading.save()
    return [(record, has_body) for record, has_body in found if record is not None]
