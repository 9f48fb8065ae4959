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
_SHOWN = ("-z", "--raw", "--relative", _FORMAT)

Change = tuple[str, str]
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
    changes: Sequence[Change]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it touched; of a file that moved, the name it has then where moves were followed."""
        return tuple(path for path, _ in self.changes)


def newest(git: Git) -> Iterator[Commit]:
    """Yield the newest commits, merges left out and moves followed; none outside a repository and before the first."""
    try:
        texts = git.parted("log", "--no-merges", f"--max-count={MOST_COMMITS}", *_SHOWN, "HEAD", check=False)
    except GitError:
        return
    yield from _commits(texts)


def since(git: Git, revision: str | None) -> list[Commit]:
    """Return the commits after a revision, parents before children, with all names whole.

    A file that moved is one gone and one new.

    Of a merge the changes of records against its first parent are there, and of no other file.

    Raises:
        GitError: git fails.
    """
    revisions = ["HEAD"] if revision is None else ["HEAD", f"^{revision}"]
    texts = git.parted(
        "log", "--topo-order", "--reverse", "--no-renames", "--no-abbrev", *_SHOWN, "--end-of-options", *revisions,
        "--", check=False,
    )  # fmt: skip
    found = list(_commits(texts))
    changed = _merged(git, [one for one in found if len(one.parents) > 1])
    return [replace(one, changes=changed.get(one.name, ())) if len(one.parents) > 1 else one for one in found]


def dates_of(git: Git, paths: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the first commit and the last change of files, in seconds since 1970; moves are followed.

    A file without a commit has none, and no file of a shallow clone has: its first commit is cut off.
    """
    names = {path: [path] for path in paths}
    suffixes = sorted({posixpath.splitext(path)[1] for path in names})
    if not names or git.is_shallow:
        return {}
    shown = ("-z", "--root", "--find-renames", "--name-status", "--relative", "--format=%x00%ct")
    try:
        texts = iter(git.parted("log", *shown, "HEAD", "--", *(f"*{suffix}" for suffix in suffixes), check=False))
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
    at = 0
    while at + 4 < len(texts):
        if not _HASH.match(texts[at]):
            at += 1
            continue
        name, short, parents, time, message = texts[at : at + 5]
        changes, at = _changes(texts, at + 6)
        yield Commit(name, short, tuple(parents.split()), float(time), message.strip(), changes)


def _changes(texts: Sequence[str], at: int) -> tuple[list[Change], int]:
    """Return what `--raw` lists from a place on, and where it ends."""
    found: list[Change] = []
    while at + 1 < len(texts) and texts[at].lstrip("\n").startswith(":"):
        _, mode, _, after, what = texts[at].split(" ")
        at += 1 + what.startswith(("R", "C"))  # of a file that moved, the name it had comes first
        found.append((texts[at], after if mode in ("100644", "100755") else ""))
        at += 1
    return found, at


def _merged(git: Git, merges: Sequence[Commit]) -> Mapping[str, list[Change]]:
    """Return what each merge changed of the records against its first parent, in one call."""
    if not merges:
        return {}
    asked = "".join(f"{one.name} {one.parents[0]}\n" for one in merges).encode()
    texts = git.parted("diff-tree", "--stdin", "-r", "-z", "--no-renames", "--relative", "--", ORBIT, stdin=asked)
    found: dict[str, list[Change]] = {}
    at = 0
    while at < len(texts):
        name = texts[at].strip()[:64].split(" ")[0]
        found[name], at = _changes(texts, at + 1)
    return found
