"""Says by git which version of which record stood before each commit of a branch; it writes nothing.

What counts is what the commit's own parent held: no record that the commit itself adds, none of another branch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from orbit_registry.analytics.past import GIT, Past, Step, Touch, Version
from orbit_registry.errors import UsageError
from orbit_registry.kinds.table import Kind, KindTable
from orbit_registry.records.record import BODY
from orbit_registry.store.codec import decode_record
from orbit_registry.store.files import DOCUMENT_LIMIT, RECORD_LIMIT
from orbit_registry.store.git import Git
from orbit_registry.store.git_log import Change, Commit
from orbit_registry.store.git_log import since as commits_since
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.votes import parse_votes
from orbit_registry.store.workspace import ORBIT, Workspace

_RECORD, _VOTES, _BODY = range(3)

Blobs = tuple[str, str, str]
"""Hashes of a record's file, its votes and its body; empty where there is none."""


def has_history(git: Git) -> bool:
    """Say whether the commit checked out holds records."""
    return bool(git.run("ls-tree", "-d", "HEAD", "--", ORBIT, check=False))


def past_of(workspace: Workspace, since: str | None) -> Past:
    """Return the history of the branch checked out, after a revision or from its first commit on; merges are no steps.

    Raises:
        UsageError: nothing is called so.
        GitError: git fails.
    """
    git = workspace.git
    if since is not None and git.commit(since) is None:
        raise UsageError(f"{since!r} names no commit", hint="name a commit, a tag or a branch")
    logged = commits_since(git, since)
    states = _States(workspace.kinds)
    known = {one.name for one in logged}
    for parent in {one.parents[0] for one in logged if one.parents} - known:
        states.begin(parent, git.files_at(parent, ORBIT).items())
    steps: list[Step] = []
    for one in logged:
        before = states.after(one)
        if len(one.parents) < 2:
            steps.append(Step(touch_of(one), before))
    versions, unread = _versions(git, states)
    notes = ["scopes, texts and votes are those of then"]
    if unread:
        notes.append(f"{unread} of {len(versions)} versions hold no record that can be read today and were left out")
    if git.is_shallow:
        notes.append("the clone is shallow: what was before its first commit is unknown")
    return Past(GIT, versions, steps, tuple(notes))


def touch_of(commit: Commit) -> Touch:
    """Return a commit of git's as one that is walked."""
    return Touch(commit.name[:12], commit.message, commit.files, commit.at)


class _States:
    """Which versions stand after each commit: a number whose bits are the versions, met in this order."""

    def __init__(self, kinds: KindTable) -> None:
        self._kinds = kinds
        self._by_folder: dict[str, dict[Blobs, int]] = {}
        self._after: dict[str, int] = {}
        self.met: list[tuple[str, Kind, Blobs]] = []

    def begin(self, commit: str, files: Iterable[Change]) -> None:
        """Note what stood at a commit before the first one that is walked."""
        self._after[commit] = self._changed(0, files)

    def after(self, one: Commit) -> int:
        """Apply a commit and return what stood before it."""
        before = self._after.get(one.parents[0], 0) if one.parents else 0
        self._after[one.name] = self._changed(before, one.changes)
        return before

    def _changed(self, state: int, changes: Iterable[Change]) -> int:
        wanted: dict[str, tuple[Kind, list[str]]] = {}
        for path, content in changes:
            found = self._part(path)
            if found is None:
                continue
            folder, kind, part = found
            if folder not in wanted:
                wanted[folder] = (kind, list(self._standing(state, folder)))
            wanted[folder][1][part] = content
        for folder, (kind, parts) in wanted.items():
            for number in self._by_folder.get(folder, {}).values():
                state &= ~(1 << number)
            blobs: Blobs = (parts[_RECORD], parts[_VOTES], parts[_BODY])
            if blobs[_RECORD]:
                state |= 1 << self._number(folder, kind, blobs)
        return state

    def _standing(self, state: int, folder: str) -> Blobs:
        for blobs, number in self._by_folder.get(folder, {}).items():
            if state >> number & 1:
                return blobs
        return "", "", ""

    def _number(self, folder: str, kind: Kind, blobs: Blobs) -> int:
        held = self._by_folder.setdefault(folder, {})
        if blobs not in held:
            held[blobs] = len(self.met)
            self.met.append((folder, kind, blobs))
        return held[blobs]

    def _part(self, path: str) -> tuple[str, Kind, int] | None:
        """Return the folder, the kind and the part of a record that a path is; None for any other file."""
        names = path.split("/")
        if len(names) != 4 or names[0] != ORBIT:
            return None
        kind = self._kinds.of_plural(names[1])
        if kind is None:
            return None
        part = {f"{kind.name}.yaml": _RECORD, VOTES: _VOTES, BODY: _BODY}.get(names[3])
        return None if part is None else (path.rpartition("/")[0], kind, part)


def _versions(git: Git, states: _States) -> tuple[list[Version], int]:
    """Return the versions that were met, and how many can't be read: those keep their place, and are never shown."""
    texts = git.blobs(blob for _, _, blobs in states.met for blob in blobs[:2] if blob)
    now = datetime.now(UTC)
    found: list[Version] = []
    counts: Counter[bool] = Counter()
    for folder, kind, (blob, votes, body) in states.met:
        path = f"{folder}/{kind.name}.yaml"
        text = texts.get(blob, b"")
        record = None
        if len(text) <= RECORD_LIMIT:
            record, _ = decode_record(text.decode("utf-8", "replace"), kind, path, explain=False)
        said = texts.get(votes, b"") if votes else b""
        if record is not None and said and len(said) <= DOCUMENT_LIMIT:
            held, _ = parse_votes(said.decode("utf-8", "replace"), path, record.id, now)
            record = replace(record, votes=tuple(held))
        counts[record is None] += 1
        found.append(Version(record, bool(body)))
    return found, counts[True]
