"""Replay of a check over a history: what it would have found in each commit, and what became of that."""

from __future__ import annotations

import hashlib
from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orbit_registry.enforce.kind import FILE_LIMIT, Finder, NotRunError
from orbit_registry.enforce.spec import DecisionCheck
from orbit_registry.workspace.git import Git

MOST_COMMITS = 2_000
_BATCH = 200
_HASH_SIZE = 8


class FileStep(NamedTuple):
    """A file in a commit: its names and contents before and after; an empty name where it was not."""

    before: str
    after: str
    blob_before: str
    blob_after: str


class CommitStep(NamedTuple):
    """A commit and its files."""

    name: str
    files: Sequence[FileStep]


@dataclass(slots=True)
class Introduction:
    """A match that a commit brought in."""

    key: str
    commit: str
    path: str
    text: str
    lines: str
    fate: str = "kept"
    """`kept`, `edited away` or `deleted` with its file."""


@dataclass(slots=True)
class Replay:
    """What a check would have found in a history."""

    check: str
    digest: str
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
        """The introductions that are still there, which a person labels."""
        return [entry for entry in self.introductions if entry.fate == "kept"]

    def as_data(self) -> dict[str, object]:
        """Return the replay as JSON and the evidence hold it."""
        return {
            "digest": self.digest,
            "commits": f"{self.first[:12]}..{self.last[:12]}" if self.commits else "",
            "replayed": self.commits,
            "relevant": self.relevant,
            "introduced": len(self.introductions),
            "edited_away": self.count("edited away"),
            "deleted": self.count("deleted"),
            "kept": [
                {"key": row.key, "commit": row.commit[:12], "path": row.path, "text": row.text} for row in self.kept
            ],
        }


def replay(git: Git, check: DecisionCheck, finder: Finder, most: int = MOST_COMMITS, since: str = "") -> Replay:
    """Replay a check over the newest commits, those since a date; the era of a decision starts when it was accepted.

    A match that moves within a commit is no introduction. One that is gone later counts as edited away, or as deleted
    where its file went with it.
    """
    result = Replay(check.name, check.digest)
    open_by_path: defaultdict[str, list[Introduction]] = defaultdict(list)
    unread: Lines = {}
    steps = list(commit_steps(git, most, since))
    for start in range(0, len(steps), _BATCH):
        batch = steps[start : start + _BATCH]
        texts = ChainMap(unread, _lines_of(git, check, finder, batch))
        for step in batch:
            _take(result, step, check, finder, texts, open_by_path)
    return result


def commit_steps(git: Git, most: int, since: str = "") -> Iterator[CommitStep]:
    """Yield the newest commits without merges, oldest first, moves followed."""
    options = ["--no-merges", "--raw", "-z", "--find-renames", "--no-abbrev", "--relative", f"--max-count={most}",
               "--format=%x00%H", *([f"--since={since}T00:00:00"] if since else [])]  # fmt: skip
    steps: list[CommitStep] = []
    for text in git.run("log", *options, "HEAD", "--").decode("utf-8", "surrogateescape").split("\0\0"):
        name, *fields = text.strip("\0").split("\0")
        if len(name) < 40:
            continue
        steps.append(CommitStep(name[:64].strip(), list(_files(fields))))
    yield from reversed(steps)


def _files(fields: Sequence[str]) -> Iterator[FileStep]:
    position = 0
    while position < len(fields):
        words = fields[position].strip().lstrip(":").split(" ")
        if len(words) != 5:
            position += 1
            continue
        _, _, old, new, status = words
        names = fields[position + 1 : position + (3 if status[0] in "RC" else 2)]
        position += 1 + len(names)
        before = "" if status[0] in "AC" else names[0]
        after = "" if status[0] == "D" else names[-1]
        yield FileStep(before, after, old if before else "", new if after else "")


def _looks_at(check: DecisionCheck, finder: Finder, path: str) -> bool:
    return bool(path) and finder.reads(path) and check.covers(path)


Matches = list[tuple[str, str, int]]
Lines = dict[tuple[str, str], Matches]
"""By name and content of a file: the lines of its matches, their texts and line numbers."""


def _lines_of(git: Git, check: DecisionCheck, finder: Finder, steps: Sequence[CommitStep]) -> Lines:
    pairs = {
        (path, blob)
        for step in steps for file in step.files
        for path, blob in ((file.before, file.blob_before), (file.after, file.blob_after))
        if _looks_at(check, finder, path)
    }  # fmt: skip
    blobs = git.blobs({blob for _, blob in pairs}, check=False)
    matches: Lines = {}
    for path, blob in pairs:
        content = blobs.get(blob, b"")
        if len(content) > FILE_LIMIT:
            continue
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        try:
            matches[path, blob] = [(row.lines, row.text, row.line) for row in finder.find(path, text)]
        except NotRunError:
            continue
    return matches


def _take(
    result: Replay, step: CommitStep, check: DecisionCheck, finder: Finder,
    texts: MutableMapping[tuple[str, str], Matches], open_by_path: defaultdict[str, list[Introduction]],
) -> None:  # fmt: skip
    result.commits += 1
    result.first, result.last = result.first or step.name, step.name
    files = [file for file in step.files if any(_looks_at(check, finder, path) for path in (file.before, file.after))]
    result.relevant += bool(files)
    removed: Counter[str] = Counter()
    added: list[tuple[str, str, str, int]] = []
    for file in files:
        if file.before and file.after and file.before != file.after:
            open_by_path[file.after] += open_by_path.pop(file.before, [])
        earlier = texts.get((file.before, file.blob_before), [])
        file_state = (file.after, file.blob_after)
        if file_state not in texts and _looks_at(check, finder, file.after):  # not read, so nothing in it is gone
            texts[file_state] = earlier
        before = Counter(lines for lines, _, _ in earlier)
        after = texts.get(file_state, [])
        counts = Counter(lines for lines, _, _ in after)
        lost = before - counts
        removed += lost
        _close(open_by_path[file.after or file.before], lost, "edited away" if file.after else "deleted")
        fresh = counts - before
        for lines, text, line in after:
            if fresh[lines] > 0:
                fresh[lines] -= 1
                added.append((file.after, lines, text, line))
    occurrences: Counter[str] = Counter()
    for path, lines, text, line in added:
        if removed[lines] > 0:  # moved within the commit
            removed[lines] -= 1
            _reopen(result, open_by_path, path, lines)
            continue
        name = f"{step.name}{path}{line}{text}"
        occurrences[name] += 1
        name += f"\n{occurrences[name]}" if occurrences[name] > 1 else ""
        key = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        entry = Introduction(key[:_HASH_SIZE], step.name, path, text, lines)
        result.introductions.append(entry)
        open_by_path[path].append(entry)


def _close(entries: list[Introduction], removed: Counter[str], fate: str) -> None:
    remaining = Counter(removed)
    for entry in list(entries):
        if remaining[entry.lines] > 0:
            remaining[entry.lines] -= 1
            entry.fate = fate
            entries.remove(entry)


def _reopen(result: Replay, open_by_path: defaultdict[str, list[Introduction]], path: str, lines: str) -> None:
    """Give a moved match its new place; it was closed at its old one in the same commit."""
    for entry in reversed(result.introductions):
        if entry.lines == lines and entry.fate != "kept" and entry not in open_by_path[path]:
            entry.fate, entry.path = "kept", path
            open_by_path[path].append(entry)
            return


def era_of(check: DecisionCheck) -> str:
    """Return the day from which a decision counts: its date, else the day when its record was made."""
    data: Any = check.record.data
    date = str(data.get("date") or data.get("created_at") or "")
    return f"{date}-01" if len(date) == 7 else date[:10]
