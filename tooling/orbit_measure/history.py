"""History to replay: commits, from git or a file,
and the versions of records that were live before each.
"""

import calendar
import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from orbit_registry.errors import UnreadableFileError, UsageError, plural
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import BODY, Record
from orbit_registry.model.votes import parse_time
from orbit_registry.repository.codec import record_of_content
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.record_path import record_path
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.votes import parse_votes
from orbit_registry.workspace.files import DOCUMENT_LIMIT, bounded_lines
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import Commit, CommitChange, FileStep, commits_since
from orbit_registry.workspace.workspace import ORBIT, Workspace

GIT, DATES = "git history of the records", "dates in the records"
"""What says when a record was live: git, or its own dates."""


@dataclass(frozen=True, slots=True)
class Version:
    """Record at one time, None where its file held none;
    `has_body`: its prose is a separate file.
    """

    record: Record | None
    has_body: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Commit, and the versions that were live before it as a bit mask over `History.versions`."""

    commit: Commit
    standing: int


@dataclass(frozen=True, slots=True)
class History:
    """History to replay, the source of its dates, and notes on what was left out."""

    records_by: str
    versions: Sequence[Version]
    steps: Sequence[Step]
    notes: Sequence[str] = ()

    @property
    def latest(self) -> dict[str, Record]:
        """Return the last version of each record, by uid."""
        return {
            record.uid: record
            for version in self.versions
            if (record := version.record) is not None
        }


LONGEST_LINE = 4_000_000
MOST_NAMED = 20  # skipped lines that are listed; the others are counted


@dataclass(frozen=True, slots=True)
class CommitFile:
    """Commits of a file, and the skipped lines: (line, reason), and their full count."""

    commits: Sequence[Commit] = ()
    skipped: Sequence[tuple[int, str]] = ()
    skipped_count: int = 0


def _read_commits(path: Path, since: str | None = None) -> CommitFile:
    commits: list[Commit] = []
    skipped: list[tuple[int, str]] = []
    after = since is None
    for number, line in _lines(path):
        commit = _parse_commit(line)
        if isinstance(commit, str):
            skipped.append((number, commit))
        elif after:
            commits.append(commit)
        elif since and commit.name.startswith(since):
            after = True

    if not after:
        raise UsageError(
            f"no commit of {path} is named {since!r}", hint="name one as its `commit` field does"
        )

    return CommitFile(commits, skipped[:MOST_NAMED], len(skipped))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            for number, (line, _) in enumerate(bounded_lines(file, LONGEST_LINE), 1):
                if line is None or line.strip():
                    yield number, line or b""
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise UnreadableFileError(
            f"{path} can't be read: {reason}", hint="name a file of JSON lines"
        ) from None


def _parse_commit(line: bytes) -> Commit | str:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return "torn, too long or not JSON"

    data: Mapping[str, Any] = row if isinstance(row, dict) else {}
    name, message, files = (
        data.get("commit"),
        data.get("message", data.get("subject")),
        data.get("files", []),
    )
    if not isinstance(name, str) or not name or not isinstance(message, str):
        return "`commit` and `subject` are texts"
    if not isinstance(files, list) or not all(isinstance(file, str) and file for file in files):
        return "`files` is a list of paths"

    try:
        timestamp = commit_time(str(data.get("date")))
    except (ValueError, OverflowError):
        return "`date` is not a day and no time with a zone"

    steps = [FileStep("", file, "", "") for file in dict.fromkeys(files)]
    return Commit(name, name, (), timestamp, message, steps)


def commit_time(text: str) -> float:
    """Return a commit's time in seconds since 1970;
    of a bare day its start, so that nothing is shown too early.
    """
    at = datetime.fromisoformat(f"{text}T00:00:00Z" if len(text) == len("2026-01-01") else text)
    if at.tzinfo is None:
        raise ValueError("a time needs a zone")
    return at.timestamp()


ACCEPTED = (
    "accepted_at",
    "x-accepted_at",
)  # fields for the date on which an imported decision was accepted
_CREATED, _DATE, _ACCEPTED, _NONE = "created_at", "date", "accepted_at", "no date"


def history_by_dates(commits: Sequence[Commit], records: Sequence[tuple[Record, bool]]) -> History:
    """Return a history with today's records, live between the dates in their fields."""
    by_id = {record.id: record for record, _ in records}
    versions: list[Version] = []
    turns: list[tuple[float, int]] = []
    used: Counter[str] = Counter()

    for record, has_body in records:
        if record.phase == "pending":
            continue

        start, field = _begin(record)
        used[field] += 1

        if field != _NONE:
            position = len(versions)
            versions.append(Version(_as_live(record), has_body))
            turns += (start, 1 << position), (_end(record, by_id), 1 << position)

    return History(DATES, versions, _steps(commits, turns), tuple(_notes(used, records)))


def _notes(used: Mapping[str, int], records: Sequence[tuple[Record, bool]]) -> Iterable[str]:
    counts = [f"{used[field]} by {field}" for field in (_CREATED, _DATE, _ACCEPTED) if used[field]]
    yield f"records begin: {', '.join(counts) or 'none'}"
    if used[_NONE]:
        yield f"{used[_NONE]} state no time at all and were left out"
    waiting = sum(record.phase == "pending" for record, _ in records)
    if waiting:
        yield f"{waiting} wait today, or no status is stated; they were never shown"
    yield "scopes, texts and votes are today's"


def _steps(commits: Sequence[Commit], turns: list[tuple[float, int]]) -> list[Step]:
    turns.sort()
    times = [at for at, _ in turns]
    masks = [0]
    for _, bit in turns:
        masks.append(masks[-1] ^ bit)
    return [Step(commit, masks[bisect_left(times, commit.at)]) for commit in commits]


def _as_live(record: Record) -> Record:
    if record.phase == "live":
        return record

    live_status = next(
        (status.name for status in record.kind.statuses.values() if status.phase == "live"), None
    )
    if live_status is None:
        return record

    return replace(record, data={**record.data, "status": live_status})


def live_since(record: Record) -> float:
    """Return since when a record was live by its dates, in seconds since 1970;
    infinity if it states none.
    """
    return _begin(record)[0]


def _begin(record: Record) -> tuple[float, str]:
    """Return since when a record was live, and the field that says so; of a bare day its end."""
    for name in ACCEPTED:
        accepted = _time(record.text(name))
        if accepted is not None:
            return accepted, _ACCEPTED

    created, dated = _time(record.text("created_at")), _time(record.text("date"))
    if created is not None and (dated is None or created <= dated):
        return created, _CREATED

    if dated is not None:
        return (dated, _DATE)

    return (math.inf, _NONE)


def _end(record: Record, by_id: Mapping[str, Record]) -> float:
    """Return until when a record was live: its successor's beginning, else its last change."""
    if record.phase == "live":
        return math.inf
    successors = [by_id[record_id] for record_id in record.superseded_by if record_id in by_id]
    starts = [start for start, field in map(_begin, successors) if field != _NONE]
    changed = _time(record.text("updated_at"))
    if changed is not None:
        starts.append(changed)

    start = live_since(record)
    return max(start, min(starts, default=start))


def _time(text: str | None) -> float | None:
    """Return a time in seconds since 1970; of a day, a month or a year its end;
    None for other texts.
    """
    if text is None:
        return None

    try:
        if "T" in text or " " in text:
            return parse_time(text).timestamp()
        year, month, day = (*map(int, text.split("-")), 0, 0)[:3]
        month = month or 12
        last = day or calendar.monthrange(year, month)[1]
        return datetime(year, month, last, tzinfo=UTC).timestamp() + 86_400
    except (ValueError, OverflowError):
        return None


_RECORD, _VOTES, _BODY = range(3)

Blobs = tuple[
    str, str, str
]  # hashes of a record's file, its votes and its body; empty where there is none


def _history_from_git(workspace: Workspace, logged: Sequence[Commit]) -> History:
    git = workspace.git
    states = _States(workspace.kinds)
    names = {commit.name for commit in logged}
    for parent in {commit.parents[0] for commit in logged if commit.parents} - names:
        states.begin(parent, git.files_at(parent, ORBIT).items())

    before = {commit.name: states.after(commit) for commit in logged}
    steps = [Step(commit, before[commit.name]) for commit in logged if len(commit.parents) < 2]
    versions, unread = _versions(git, states)
    notes = ["scopes, texts and votes are those of then"]

    if unread:
        notes.append(
            f"{unread} of {plural(len(versions), 'version')} can be read as no record today and "
            f"were left out"
        )

    if git.is_shallow:
        notes.append("the clone is shallow: what was before its first commit is unknown")

    return History(GIT, versions, steps, tuple(notes))


class _States:
    def __init__(self, kinds: KindTable) -> None:
        self._kinds = kinds
        self._by_folder: dict[str, dict[Blobs, int]] = {}
        self._after: dict[str, int] = {}
        self.met: list[tuple[str, Kind, Blobs]] = []

    def begin(self, commit: str, files: Iterable[CommitChange]) -> None:
        """Take the files of a commit before the first one of the history."""
        self._after[commit] = self._changed(0, files)

    def after(self, commit: Commit) -> int:
        """Apply a commit and return the versions before it."""
        before = self._after.get(commit.parents[0], 0) if commit.parents else 0
        self._after[commit.name] = self._changed(before, commit.changes)
        return before

    def _changed(self, state: int, changes: Iterable[CommitChange]) -> int:
        parts_by_folder: dict[str, tuple[Kind, list[str]]] = {}
        for path, content in changes:
            location = self._part(path)
            if location is None:
                continue
            folder, kind, part = location
            if folder not in parts_by_folder:
                parts_by_folder[folder] = (kind, list(self._standing(state, folder)))
            parts_by_folder[folder][1][part] = content

        for folder, (kind, parts) in parts_by_folder.items():
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
        numbers = self._by_folder.setdefault(folder, {})
        if blobs not in numbers:
            numbers[blobs] = len(self.met)
            self.met.append((folder, kind, blobs))
        return numbers[blobs]

    def _part(self, path: str) -> tuple[str, Kind, int] | None:
        at = record_path(self._kinds, path)
        if at is None or at.is_pending or at.source:
            return None
        if at.is_record:
            return at.folder, at.kind, _RECORD

        part = {VOTES: _VOTES, BODY: _BODY}.get(at.file)
        if part is None:
            return None

        return (at.folder, at.kind, part)


def _versions(git: Git, states: _States) -> tuple[list[Version], int]:
    """Return the versions, and how many are unreadable:
    these keep their position, and are never shown.
    """
    wanted = chain.from_iterable(blobs[:2] for _, _, blobs in states.met)
    texts = git.blobs(filter(None, wanted))
    now = datetime.now(UTC)
    versions: list[Version] = []
    for folder, kind, (blob, votes, body) in states.met:
        path = f"{folder}/{kind.name}.yaml"
        record = record_of_content(texts.get(blob, b""), kind, path)
        votes_text = texts.get(votes, b"") if votes else b""
        if record is not None and votes_text and len(votes_text) <= DOCUMENT_LIMIT:
            parsed_votes, _ = parse_votes(
                votes_text.decode("utf-8", "replace"), path, record.id, now
            )
            record = replace(record, votes=tuple(parsed_votes))

        versions.append(Version(record, bool(body)))

    return versions, sum(version.record is None for version in versions)


def load_history(
    workspace: Workspace, since: str | None, commits: Path | None
) -> tuple[History, list[str], CommitFile]:
    """Return the history, the files that decide which globs are wide, and the file of commits."""
    tracked = workspace.git.tracked() or []
    if commits is None:
        return _history_of_branch(workspace, since), tracked, CommitFile()

    commit_file = _read_commits(commits, since)
    past = history_by_dates(commit_file.commits, _current_records(workspace))
    changed = chain.from_iterable(commit.files for commit in commit_file.commits)
    return past, list({*tracked, *changed}), commit_file


def _history_of_branch(workspace: Workspace, since: str | None) -> History:
    git = workspace.git
    git.require_commit()
    if since is not None and git.commit(since) is None:
        raise UsageError(f"{since!r} names no commit", hint="name a commit, a tag or a branch")

    commits = commits_since(git, since)
    if git.run("ls-tree", "-d", "HEAD", "--", ORBIT, check=False):  # HEAD holds records
        return _history_from_git(workspace, commits)

    return history_by_dates(
        [commit for commit in commits if len(commit.parents) < 2], _current_records(workspace)
    )


def _current_records(workspace: Workspace) -> list[tuple[Record, bool]]:
    reading = Reading(workspace)
    shared = [entry for entry in reading.entries if not entry.pending]
    pairs = [(reading.record(entry), entry.has_body) for entry in shared]
    return [(record, has_body) for record, has_body in pairs if record is not None]
