"""The log of git: commits with their changes, and the dates of files."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import Git

MOST_COMMITS = 5000
_LATEST = 253_370_764_800  # the year 9999: any clock may have made a commit
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_FORMAT = "--format=%x00%x00%H%x00%h%x00%P%x00%ct%x00%an <%ae>%x00%B%x00"
"""Messages and file names may have any character but NUL."""
_LOG_OPTIONS = ("-z", "--raw", "--relative", _FORMAT)

CommitChange = tuple[str, str]
"""A path and the hash of its new content (may be abbreviated); empty where it was deleted."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `at` is in seconds since 1970, `short` the abbreviated hash."""

    name: str
    short: str
    parents: tuple[str, ...]
    at: float
    message: str
    changes: Sequence[CommitChange]
    author: str = ""
    """Name and address."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changed; of a moved file the new name, where moves were followed."""
        return tuple(path for path, _ in self.changes)


def newest_commits(git: Git) -> Iterator[Commit]:
    """Yield the newest commits without merges, moves followed."""
    try:
        texts = git.run_fields(
            "log", "--no-merges", f"--max-count={MOST_COMMITS}", *_LOG_OPTIONS, "HEAD", check=False
        )
    except GitError:
        return
    yield from _commits(texts)


def commits_since(git: Git, revision: str | None, most: int | None = None) -> list[Commit]:
    """Return the commits after a revision, parents first, of many the newest;
    of a merge the changes in `.orbit` alone.
    """
    revisions = ["HEAD"]
    if revision is not None:
        revisions.append(f"^{revision}")
    options = ["--topo-order", "--reverse", "--no-renames", "--no-abbrev", *_LOG_OPTIONS]
    if most is not None:
        options.append(f"--max-count={most}")

    texts = git.run_fields("log", *options, "--end-of-options", *revisions, "--", check=False)
    commits = list(_commits(texts))
    changed = _merged(git, [commit for commit in commits if len(commit.parents) > 1])
    for position, commit in enumerate(commits):
        if commit.name in changed:
            commits[position] = replace(commit, changes=changed[commit.name])

    return commits


def commits_after(git: Git, moment: float) -> list[Commit]:
    """Return the commits made after a moment, in seconds since 1970, the oldest first, no merges;
    of more than `MOST_COMMITS` the newest.
    """
    options = ("--no-merges", "--no-renames", f"--since={int(moment)}")
    most = f"--max-count={MOST_COMMITS}"
    texts = git.run_fields("log", *options, most, *_LOG_OPTIONS, "HEAD", check=False)
    commits = [commit for commit in _commits(texts) if commit.at > moment]
    return sorted(commits, key=lambda commit: commit.at)


def commits_touching(
    git: Git,
    paths: Sequence[str],
    revisions: str,
    *,
    is_first_parent: bool = True,
    most: int | None = None,
) -> Iterator[Commit]:
    """Yield commits that change some files or folders, newest first, at most so many;
    `is_first_parent` takes a merge as one step.
    """
    options = ["--topo-order", "--no-renames", "--no-abbrev"]
    if is_first_parent:
        options += ("--first-parent", "-m")
    if most is not None:
        options.append(f"--max-count={most}")

    names = [f":(literal){path}" for path in paths]
    yield from _commits(git.run_fields("log", *options, *_LOG_OPTIONS, revisions, "--", *names))


def dates_of(git: Git, paths: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the times of the first and last commit of files, moves followed;
    nothing in a shallow clone.
    """
    names = {path: [path] for path in paths}
    suffixes = sorted({posixpath.splitext(path)[1] for path in names})

    if not names or git.is_shallow:
        return {}

    options = ("-z", "--root", "--find-renames", "--name-status", "--relative", "--format=%x00%ct")
    try:
        texts = iter(
            git.run_fields(
                "log", *options, "HEAD", "--", *(f"*{suffix}" for suffix in suffixes), check=False
            )
        )
    except GitError:
        return {}

    dates: dict[str, tuple[float, float]] = {}
    time = 0.0
    for text in texts:  # newest first: an empty text, the commit's time, its changes
        if not text:
            time = seconds_in(next(texts, ""))
            continue

        change = text.lstrip("\n")[:1]
        before = after = next(texts, "")
        if change == "R":
            after = next(texts, "")

        files = names.pop(after, [])
        for path in files:
            last = dates[path][1] if path in dates else time
            dates[path] = (time, last)

        if files and change != "A":
            names.setdefault(before, []).extend(files)

    return dates


def seconds_in(time: str) -> int:
    """Return the time of a commit as git prints it, which may be none or after all calendars."""
    return min(int(time), _LATEST) if time.isdecimal() else 0


def _commits(texts: Sequence[str]) -> Iterator[Commit]:
    index = 0
    while index + 5 < len(texts):
        if not _HASH.match(texts[index]):
            index += 1
            continue

        name, short, parents, time, author, message = texts[index : index + 6]
        changes, index = _changes(texts, index + 7)
        yield Commit(
            name, short, tuple(parents.split()), seconds_in(time), message.strip(), changes, author
        )


def _changes(texts: Sequence[str], index: int) -> tuple[list[CommitChange], int]:
    changes: list[CommitChange] = []
    while index + 1 < len(texts) and texts[index].lstrip("\n").startswith(":"):
        _, mode, _, after, what = texts[index].split(" ")
        index += 1 + what.startswith(("R", "C"))  # a move has the old name first
        changes.append((texts[index], after if mode in ("100644", "100755") else ""))
        index += 1
    return changes, index


def _merged(git: Git, merges: Sequence[Commit]) -> Mapping[str, list[CommitChange]]:
    """Return the changes of merges in `.orbit`, against their first parents."""
    if not merges:
        return {}

    pairs = "".join(f"{merge.name} {merge.parents[0]}\n" for merge in merges).encode()
    texts = git.run_fields(
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--no-renames",
        "--relative",
        "--",
        ".orbit",
        stdin=pairs,
    )

    by_commit: dict[str, list[CommitChange]] = {merge.name: [] for merge in merges}
    index = 0
    while index < len(texts):
        name = texts[index].strip()[:64].split(" ")[0]
        by_commit[name], index = _changes(texts, index + 1)

    return by_commit
