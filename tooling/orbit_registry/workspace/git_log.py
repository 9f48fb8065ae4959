"""The log of git: commits with their changes, and the dates of files."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import Git

MOST_COMMITS = 5000
_LATEST = 253_370_764_800  # the year 9999: any clock may have made a commit
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_FORMAT = "--format=%x00%x00%H%x00%h%x00%P%x00%ct%x00%an <%ae>%x00%B%x00"
"""Messages and file names may have any character but NUL."""
_LOG_OPTIONS = ("-z", "--raw", "--relative", _FORMAT)

_REGULAR = ("100644", "100755")
"""Modes of regular files; others are links and submodules."""

CommitChange = tuple[str, str]
"""A path and the hash of its new content (may be abbreviated); empty where it was deleted."""


class FileStep(NamedTuple):
    """A file in a commit: its names and the hashes of its contents before and after.

    A name is empty where there was no file, a hash also where it was no regular one.
    """

    before: str
    after: str
    blob_before: str
    blob_after: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `at` is in seconds since 1970, `short` the abbreviated hash."""

    name: str
    short: str
    parents: tuple[str, ...]
    at: float
    message: str
    steps: Sequence[FileStep]
    author: str = ""
    """Name and address."""

    @property
    def changes(self) -> list[CommitChange]:
        """The files that it changed; of a moved file the new name, where moves were followed."""
        return [(step.after or step.before, step.blob_after) for step in self.steps]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0].strip()

    @property
    def files(self) -> tuple[str, ...]:
        """The names of these files."""
        return tuple(path for path, _ in self.changes)


def commits(git: Git, *words: str, check: bool = False) -> Iterator[Commit]:
    """Yield the commits that `git log` lists for these options, revisions and paths.

    Without `check` there are none where git lists none, as outside a repository.
    """
    yield from _commits(git.run_fields("log", *_LOG_OPTIONS, *words, check=check))


def newest_commits(
    git: Git, most: int = MOST_COMMITS, since: str = "", *, check: bool = False
) -> Iterator[Commit]:
    """Yield the newest commits without merges, those since a day, moves followed.

    Without `check` there are none where git can't list them, as in a partial clone without a
    network.
    """
    if git.head() is None:
        return

    options = ["--no-merges", "--find-renames", f"--max-count={most}"]
    if since:
        options.append(f"--since={since}T00:00:00")

    yield from commits(git, *options, "HEAD", "--", check=check)


def commits_since(git: Git, revision: str | None, most: int | None = None) -> list[Commit]:
    """Return the commits after a revision, parents first, of many the newest;
    of a merge the changes in `.orbit` alone.
    """
    revisions = ["HEAD"]
    if revision is not None:
        revisions.append(f"^{revision}")
    options = ["--topo-order", "--reverse", "--no-renames", "--no-abbrev"]
    if most is not None:
        options.append(f"--max-count={most}")

    listed = list(commits(git, *options, "--end-of-options", *revisions, "--"))
    steps = _merged(git, [commit for commit in listed if len(commit.parents) > 1])
    for position, commit in enumerate(listed):
        if commit.name in steps:
            listed[position] = replace(commit, steps=steps[commit.name])

    return listed


def commits_after(git: Git, moment: float) -> list[Commit]:
    """Return the commits made after a moment, in seconds since 1970, the oldest first, no merges;
    of more than `MOST_COMMITS` the newest.
    """
    options = ("--no-merges", "--no-renames", f"--since={int(moment)}")
    listed = commits(git, *options, f"--max-count={MOST_COMMITS}", "HEAD")
    later = [commit for commit in listed if commit.at > moment]
    return sorted(later, key=lambda commit: commit.at)


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
    yield from commits(git, *options, revisions, "--", *names, check=True)


def steps_since(git: Git, revision: str, *options: str, check: bool = True) -> list[FileStep]:
    """Return what the work tree has changed since a commit, moves followed."""
    words = ("-z", "--raw", "--relative", "--find-renames", *options, revision, "--")
    steps, _ = _steps(git.run_fields("diff", *words, check=check), 0)
    return steps


def dates_of(git: Git, paths: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return the times of the first and last commit of files, moves followed;
    nothing in a shallow clone.
    """
    names = {path: [path] for path in paths}
    suffixes = sorted({posixpath.splitext(path)[1] for path in names})

    if not names or git.is_shallow:
        return {}

    patterns = (f"*{suffix}" for suffix in suffixes)
    try:
        listed = list(commits(git, "--root", "--find-renames", "HEAD", "--", *patterns))
    except GitError:
        return {}

    dates: dict[str, tuple[float, float]] = {}
    for commit in listed:  # newest first
        for step in commit.steps:
            files = names.pop(step.after or step.before, [])
            for path in files:
                last = dates[path][1] if path in dates else commit.at
                dates[path] = (commit.at, last)

            if files and step.before:
                names.setdefault(step.before, []).extend(files)

    return dates


def seconds_in(time: str) -> int:
    """Return the time of a commit as git prints it, which may be none or after all calendars."""
    if time.isdecimal():
        return min(int(time), _LATEST)

    return 0


def _commits(texts: Sequence[str]) -> Iterator[Commit]:
    index = 0
    while index + 5 < len(texts):
        if not _HASH.match(texts[index]):
            index += 1
            continue

        name, short, parents, time, author, message = texts[index : index + 6]
        steps, index = _steps(texts, index + 7)
        yield Commit(
            name,
            short,
            tuple(parents.split()),
            seconds_in(time),
            _printable(message.strip()),
            steps,
            _printable(author),
        )


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _steps(texts: Sequence[str], index: int) -> tuple[list[FileStep], int]:
    """Return the files that the fields from a position on list, and the position after them."""
    steps: list[FileStep] = []
    while index + 1 < len(texts) and texts[index].lstrip("\n").startswith(":"):
        mode_before, mode_after, blob_before, blob_after, status = texts[index].split(" ")
        before = after = texts[index + 1]
        index += 2
        if status.startswith(("R", "C")):
            after = texts[index]
            index += 1

        if status.startswith(("A", "C")):
            before = ""
        elif status.startswith("D"):
            after = ""

        step = FileStep(
            before,
            after,
            blob_before if before and mode_before.lstrip("\n:") in _REGULAR else "",
            blob_after if after and mode_after in _REGULAR else "",
        )
        steps.append(step)

    return steps, index


def _merged(git: Git, merges: Sequence[Commit]) -> Mapping[str, list[FileStep]]:
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

    by_commit: dict[str, list[FileStep]] = {merge.name: [] for merge in merges}
    index = 0
    while index < len(texts):
        name = texts[index].strip()[:64].split(" ")[0]
        by_commit[name], index = _steps(texts, index + 1)

    return by_commit
