"""Reads the history of the branch checked out: its commits with their messages and files; it judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orbit_registry.errors import GitError
from orbit_registry.store.git import Git

MOST_COMMITS = 5000


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its short name, its whole message, and the files it touched, from the workspace's root."""

    name: str
    message: str
    files: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.partition("\n")[0]


def commits(git: Git, most: int = MOST_COMMITS) -> Iterator[Commit]:
    """Yield the newest commits, merges left out; none outside a repository and before the first commit."""
    try:
        answer = git.run(
            "log", "--no-merges", f"--max-count={most}", "--relative", "--name-only", "-z",
            "--format=%x00%h%x00%B%x00", "HEAD", check=False,
        )  # fmt: skip
    except GitError:
        return
    # Messages and names of files hold any character but NUL, and no name is empty: an empty text ends a list of files.
    texts = answer.decode("utf-8", "surrogateescape").split("\0")
    at = 0
    while at + 3 < len(texts):
        name, message, first = texts[at + 1], texts[at + 2], at + 4
        at = first
        while at < len(texts) and texts[at]:
            at += 1
        files = [texts[first].removeprefix("\n"), *texts[first + 1 : at]] if at > first else []
        yield Commit(name, message.strip(), tuple(files))
