"""What a whole history decided and no record explains: the strongest, each with its commits."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from orbit_registry.lifecycle.history import first_parents, signs_at, signs_of, steps
from orbit_registry.lifecycle.signs import Sign, SignKind
from orbit_registry.lifecycle.unwritten import (
    Candidate,
    candidate_of,
    key_of,
    name_of,
    unexplained,
)
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.git_log import Commit
from orbit_registry.workspace.workspace import Workspace

MOST_COMMITS = 20_000
"""Commits that are read unless a caller says otherwise: about two minutes."""
MOST_CANDIDATES = 25


@dataclass(frozen=True, slots=True)
class Past:
    """A candidate, and the commits that brought what shows it, the oldest first."""

    candidate: Candidate
    commits: tuple[Commit, ...]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            **self.candidate.as_data(),
            "commits": [
                {"commit": commit.name, "date": day_of(commit), "subject": commit.subject}
                for commit in self.commits
            ],
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """What was read of a history, and the strongest candidates."""

    read: int
    total: int
    """Commits of the first parents that this clone has."""
    begins: str
    """The commit that the history begins after, where it is not whole; else empty."""
    is_shallow: bool
    candidates: tuple[Past, ...]
    more: int
    """Candidates beyond those."""

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "read": self.read,
            "total": self.total,
            "begins_after": self.begins or None,
            "is_shallow": self.is_shallow,
            "candidates": [past.as_data() for past in self.candidates],
            "more": self.more,
        }


def audit(workspace: Workspace, most: int, progress: Callable[[int, int], None]) -> Audit:
    """Return what the history decided, is there still, and no record explains.

    Raises:
        GitError: There is no repository or no commit, or git failed.
    """
    git = workspace.git
    git.require()
    if git.head() is None:
        raise git.names_no_commit("HEAD")

    total = int(git.run("rev-list", "--first-parent", "--count", "HEAD"))
    names = first_parents(git, most + 1)
    begins = ""
    if git.is_shallow or len(names) > most:
        begins, *names = names

    commits: defaultdict[str, list[Commit]] = defaultdict(list)
    signs: dict[tuple[SignKind, str], Sign] = {}
    for step in steps(git, names, begins or None, progress):
        for sign in step.news:
            signs.setdefault(key_of(sign), sign)
        for name in dict.fromkeys(map(name_of, step.news)):
            commits[name].append(step.commit)

    # What is gone needs no record.
    still = set(map(key_of, signs_of(signs_at(git, "HEAD"))))
    current = [sign for key, sign in signs.items() if key in still]
    groups: defaultdict[str, list[Sign]] = defaultdict(list)
    for sign in unexplained(current, Reading(workspace).filled):
        groups[name_of(sign)].append(sign)

    rows = [Past(candidate_of(group), tuple(commits[name])) for name, group in groups.items()]
    rows.sort(key=lambda past: (-past.candidate.weight, past.commits[0].at))
    listed = tuple(rows[:MOST_CANDIDATES])
    return Audit(len(names), total, begins, git.is_shallow, listed, len(rows) - len(listed))


def day_of(commit: Commit) -> str:
    """Return the day of a commit, in UTC."""
    return datetime.fromtimestamp(commit.at, UTC).date().isoformat()
