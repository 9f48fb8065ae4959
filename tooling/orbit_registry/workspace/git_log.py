"""The history of a repository as git's log has it: commits, and what each changed; it knows no record."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT

MOST_COMMITS = 5000
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_FORMAT = "--format=%x00%x00%H%x00%h%x00%P%x00%ct%x00%B%x00"
"""Messages and names of files hold any character but NUL: an empty text ends a message."""
_LOG_OPTIONS = ("-z", "--raw", "--relative", _FORMAT)

CommitChange = tuple[str, str]
"""A path from the workspace's root, and the hash of what it holds afterwards, cut off where names are told in short;
empty where it is gone."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: when it was made is in seconds since 1970, and `short` is its name as people are told it."""

    name: str
    short: str
    parents: tuple[str, ...]
    at: float
    message: str
    changes: Sequence[CommitChange]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it touched; of a file that moved, the name it has then where moves were followed."""
        return tuple(path for path, _ in self.changes)


def newest_commits(git: Git) -> Iterator[Commit]:
    """Yield the newest commits, merges left out and moves followed; none outside a repository and before the first."""
    try:
        texts = git.run_fields("log", "--no-merges", f"--max-count={MOST_COMMITS}", *_LOG_OPTIONS, "HEAD", check=False)
    except GitError:
        return
    yield from _commits(texts)


def commits_since(git: Git, revision: str | None) -> list[Commit]:
    """Return the commits after a revision, parents before children, with all names whole.

    A file that moved is one gone and one new.

    Of a merge the changes of records against its first parent are there, and of no other file.

    Raises:
        GitError: git fails.
    """
    revisions = ["HEAD"] if revision is None else ["HEAD", f"^{revision}"]
    options = ("--topo-order", "--reverse", "--no-renames", "--no-abbrev", *_LOG_OPTIONS)
    texts = git.run_fields("log", *options, "--end-of-options", *revisions, "--", check=False)
    commits = list(_commits(texts))
    changed = _merged(git, [commit for commit in commits if len(commit.parents) > 1])
    return [
        replace(commit, changes=changed.get(commit.name, ())) if len(commit.parents) > 1 else commit
        for commit in commits
    ]


def dates_of(git: Git, paths: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the first commit and the last change of files, in seconds since 1970; moves are followed.

    A file without a commit has none, and no file of a shallow clone has: its first commit is cut off.
    """
    names = {path: [path] for path in paths}
    suffixes = sorted({posixpath.splitext(path)[1] for path in names})
    if not names or git.is_shallow:
        return {}
    options = ("-z", "--root", "--find-renames", "--name-status", "--relative", "--format=%x00%ct")
    try:
        texts = iter(git.run_fields("log", *options, "HEAD", "--", *(f"*{suffix}" for suffix in suffixes), check=False))
    except GitError:
        return {}
    dates: dict[str, tuple[float, float]] = {}
    time = 0.0
    for text in texts:  # an empty text, the time of a commit, then its changes, the newest commit first
        if not text:
            time = float(next(texts, "0"))
            continue
        change = text.lstrip("\n")[:1]
        before = next(texts, "")
        files = names.pop(next(texts, "") if change == "R" else before, [])
        for path in files:
            dates[path] = (time, dates[path][1] if path in dates else time)
        if files and change != "A":
            names.setdefault(before, []).extend(files)
    return dates


def _commits(texts: Sequence[str]) -> Iterator[Commit]:
    index = 0
    while index + 4 < len(texts):
        if not _HASH.match(texts[index]):
            index += 1
            continue
        name, short, parents, time, message = texts[index : index + 5]
        changes, index = _changes(texts, index + 6)
        yield Commit(name, short, tuple(parents.split()), float(time), message.strip(), changes)


def _changes(texts: Sequence[str], index: int) -> tuple[list[CommitChange], int]:
    """Return what `--raw` lists from a place on, and where it ends."""
    changes: list[CommitChange] = []
    while index + 1 < len(texts) and texts[index].lstrip("\n").startswith(":"):
        _, mode, _, after, what = texts[index].split(" ")
        index += 1 + what.startswith(("R", "C"))  # of a file that moved, the name it had comes first
        changes.append((texts[index], after if mode in ("100644", "100755") else ""))
        index += 1
    return changes, index


def _merged(git: Git, merges: Sequence[Commit]) -> Mapping[str, list[CommitChange]]:
    """Return what each merge changed of the records against its first parent, in one call."""
    if not merges:
        return {}
    pairs = "".join(f"{merge.name} {merge.parents[0]}\n" for merge in merges).encode()
    texts = git.run_fields("diff-tree", "--stdin", "-r", "-z", "--no-renames", "--relative", "--", ORBIT, stdin=pairs)
    by_commit: dict[str, list[CommitChange]] = {}
    index = 0
    while index < len(texts):
        name = texts[index].strip()[:64].split(" ")[0]
        by_commit[name], index = _changes(texts, index + 1)
    return by_commit
