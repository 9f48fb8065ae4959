"""Reads the history of the branch checked out: its commits with their messages and files; it judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orbit_registry.errors import GitError
from orbit_registry.store.git import Git

MOST_COMMITS = 5000
_RECORD, _FIELD = "\x1e", "\x1f"


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
            f"--format={_RECORD}%h{_FIELD}%B{_FIELD}", "HEAD", check=False,
        )  # fmt: skip
    except GitError:
        return
    for part in answer.decode("utf-8", "surrogateescape").split(_RECORD)[1:]:
        name, message, files = part.split(_FIELD, 2)
        named = (file.strip("\n") for file in files.split("\0"))
        yield Commit(name, message.strip(), tuple(file for file in named if file))
