"""Replay of a check over a history: what it would have found in each commit,
and what became of that.
"""

from __future__ import annotations

from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain

from orbit_enforce.kind import FILE_LIMIT, Finder, InvalidCheckError, Match, Survey, Tree, decoded
from orbit_enforce.spec import DecisionCheck
from orbit_registry.errors import UsageError
from orbit_registry.formats.code_tree import NotRunError
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import Commit, newest_commits
from orbit_registry.workspace.workspace import Workspace

MOST_COMMITS = 2_000
_BATCH = 200


@dataclass(slots=True)
class Introduction:
    """A match that a commit brought in."""

    commit: str
    path: str
    """Where it is now, or was at last."""
    text: str
    fate: str = "kept"
    """`kept`, `edited away` or `deleted` with its file."""


@dataclass(slots=True)
class Replay:
    """What a check would have found in a history."""

    check: str
    commits: int = 0
    relevant: int = 0
    """Commits that changed a file of the check."""
    first: str = ""
    last: str = ""
    introductions: list[Introduction] = field(default_factory=list)

    def count(self, fate: str) -> int:
        """Return how many introductions had a fate."""
        return sum(entry.fate == fate for entry in self.introductions)

    @property
    def kept(self) -> list[Introduction]:
        """The introductions that are still there."""
        return [entry for entry in self.introductions if entry.fate == "kept"]

    def as_data(self) -> dict[str, object]:
        """Return the replay as JSON shows it."""
        rows = [
            {"commit": row.commit[:12], "path": row.path, "text": row.text} for row in self.kept
        ]
        return {
            "commits": f"{self.first[:12]}..{self.last[:12]}" if self.commits else "",
            "replayed": self.commits,
            "relevant": self.relevant,
            "introduced": len(self.introductions),
            "edited_away": self.count("edited away"),
            "deleted": self.count("deleted"),
            "kept": rows,
        }


def replay_check(
    workspace: Workspace, check: DecisionCheck, most: int = MOST_COMMITS, since: str = ""
) -> Replay:
    """Return what a check would have found in the history."""
    try:
        finder = check.finder
    except (InvalidCheckError, NotRunError) as error:
        raise UsageError(
            f"{check.name} can't be replayed: {error}", hint=f"`orbit enforce try {check.name}`"
        ) from None

    if check.must != "not" or not check.is_about_one_file:
        message = (
            f"{check.name} can't be replayed: it does not look for what a file alone must not have"
        )
        raise UsageError(
            message, hint="raise the level in the record, in a change that people review"
        )

    if since and not _is_date(since):
        raise UsageError(f"`{since[:40]}` is not a date", hint="write it as 2025-01-31")

    workspace.git.require_commit()
    if workspace.git.is_shallow:
        raise UsageError(
            "the clone is shallow, so its history says too little", hint="`git fetch --unshallow`"
        )

    start = since or era_of(check)
    result = replay(
        workspace.git,
        check,
        _by_file(finder) if isinstance(finder, Survey) else finder,
        most,
        start,
    )
    if not result.commits:
        message = f"no commit to replay {check.name} over{f' since {start}' if start else ''}"
        raise UsageError(message, hint="name an earlier day: `--since`")

    return result


def era_of(check: DecisionCheck) -> str:
    """Return the day from which a decision counts:
    its date, else the day when its record was made.
    """
    day = check.record.text("date") or check.record.text("created_at") or ""
    if len(day) == 7:
        return f"{day}-01"

    return day[:10]


def _is_date(text: str) -> bool:
    try:
        return f"{date.fromisoformat(text)}" == text < "2100"  # git reads no later year
    except ValueError:
        return False


def _by_file(survey: Survey) -> Finder:
    """Return what finds the names of files one by one, as a replay asks."""

    def find(path: str, text: str) -> Iterator[Match]:
        if any(True for _ in survey.find(Tree([path], lambda _: None), [path])):
            yield Match(1, 1, 1, path, path.rpartition("/")[2])

    return Finder(find)


def replay(
    git: Git, check: DecisionCheck, finder: Finder, most: int = MOST_COMMITS, since: str = ""
) -> Replay:
    """Replay a check over the newest commits, those since a date; the era of a decision starts when
    it was accepted.

    A match that moves within a commit is no introduction. One that is gone later counts as edited
    away, or as deleted where its file went with it.
    """
    result = Replay(check.name)
    open_matches: Open = defaultdict(lambda: defaultdict(list))
    unread: Lines = {}
    commits = list(newest_commits(git, most, since, check=True))[::-1]

    for start in range(0, len(commits), _BATCH):
        batch: list[Commit] = []
        for commit in commits[start : start + _BATCH]:
            read = [
                file
                for file in commit.steps
                if _reads(check, finder, file.before) or _reads(check, finder, file.after)
            ]
            batch.append(replace(commit, steps=read))

        lines = ChainMap(unread, _lines_of(git, check, finder, batch))
        for commit in batch:
            result.commits += 1
            result.first = result.first or commit.name
            result.last = commit.name
            result.relevant += bool(commit.steps)
            _take(result, commit, lines, open_matches)

    return result


def _reads(check: DecisionCheck, finder: Finder, path: str) -> bool:
    return bool(path) and finder.reads(path) and check.covers(path)


Lines = MutableMapping[tuple[str, str], Sequence[Match] | None]
"""The matches in a file, by its name and content; None if it can't be read."""
Open = defaultdict[str, defaultdict[str, list[Introduction]]]
"""The introductions that are still there, by file and lines."""


def _lines_of(git: Git, check: DecisionCheck, finder: Finder, commits: Sequence[Commit]) -> Lines:
    states: set[tuple[str, str]] = set()
    for file in chain.from_iterable(commit.steps for commit in commits):
        states |= {(file.before, file.blob_before), (file.after, file.blob_after)}

    states = {state for state in states if _reads(check, finder, state[0])}
    blobs = git.blobs({blob for _, blob in states if blob}, check=False)
    matches: Lines = {}
    for path, blob in states:
        content = blobs.get(blob, b"")
        try:
            if len(content) <= FILE_LIMIT:
                matches[path, blob] = [*finder.find(path, decoded(content, path))]
            else:
                matches[path, blob] = None
        except NotRunError:
            matches[path, blob] = None

    return matches


def _take(result: Replay, commit: Commit, lines: Lines, open_matches: Open) -> None:
    """Add what a commit introduces, and close what it removes."""
    removed: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    added: list[tuple[str, Match]] = []
    for file in commit.steps:
        if file.before and file.after and file.before != file.after:
            for text, entries in open_matches.pop(file.before, {}).items():
                _move(entries, open_matches, file.after, text)

        before = lines.get((file.before, file.blob_before)) or ()
        after = lines.get((file.after, file.blob_after), ())
        if after is None:  # nothing in it is gone
            after = lines[file.after, file.blob_after] = before

        path, fate = (file.after, "edited away") if file.after else (file.before, "deleted")
        for text in (_counts(before) - _counts(after)).elements():
            removed[text].append((path, fate))

        fresh = _counts(after) - _counts(before)
        for match in after:
            if fresh[match.lines] > 0:
                fresh[match.lines] -= 1
                added.append((path, match))

    for path, match in added:
        if removed[match.lines]:  # moved within the commit
            old, _ = removed[match.lines].pop()
            entries = open_matches[old][match.lines]
            _move([entries.pop()] if entries else [], open_matches, path, match.lines)
            continue

        entry = Introduction(commit.name, path, match.text)
        result.introductions.append(entry)
        open_matches[path][match.lines].append(entry)

    for text, places in removed.items():
        for path, fate in places:
            if entries := open_matches[path][text]:
                entries.pop(0).fate = fate


def _move(entries: Iterable[Introduction], open_matches: Open, path: str, lines: str) -> None:
    for entry in entries:
        entry.path = path
        open_matches[path][lines].append(entry)


def _counts(matches: Iterable[Match]) -> Counter[str]:
    return Counter(match.lines for match in matches)
