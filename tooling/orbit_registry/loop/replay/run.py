"""Replays the history of a workspace: reads commits and records, walks, counts; it writes nothing."""

from __future__ import annotations

import time
from pathlib import Path

from orbit_registry.errors import UsageError
from orbit_registry.loop.replay.cited import Names
from orbit_registry.loop.replay.commit_file import CommitFile, read_commits
from orbit_registry.loop.replay.count import count
from orbit_registry.loop.replay.dates import past_by_dates
from orbit_registry.loop.replay.effect import pairs_in
from orbit_registry.loop.replay.history import has_history, log, past_of
from orbit_registry.loop.replay.past import Past, Touch
from orbit_registry.loop.replay.report import Report
from orbit_registry.loop.replay.walk import Replay
from orbit_registry.loop.stats.effect import TIME, report
from orbit_registry.loop.stats.effect import Report as EffectReport
from orbit_registry.loop.stats.report import told_of
from orbit_registry.records.record import Record
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace


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
    touches = [
        Touch(one.name[:12], one.message, tuple(path for path, _ in one.changes), one.at)
        for one in log(git, since)
        if len(one.parents) < 2
    ]
    return past_by_dates(touches, _records(workspace))


def _records(workspace: Workspace) -> list[tuple[Record, bool]]:
    """Return the records of today, without the inbox, and whether a file beside each holds its prose."""
    reading = Reading(workspace)
    shared = [entry for entry in reading.entries if not entry.pending]
    found = [(reading.record(entry), entry.has_body) for entry in shared]
    reading.save()
    return [(record, has_body) for record, has_body in found if record is not None]
