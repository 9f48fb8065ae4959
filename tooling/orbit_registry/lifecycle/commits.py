"""What git's history says of decisions: one reading of the log, remembered by the commit read last.

It holds facts of commits alone; which of them are evidence is for others to say.
"""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.sources import Purpose, is_source, purposes
from orbit_registry.workspace.git_log import Commit, commits_since
from orbit_registry.workspace.workspace import ORBIT, Workspace

MOST_COMMITS = 20_000
MOST_NAMED = 4
"""A message that names more decisions is about their documents."""
MOST_ISSUES = 6
MOST_FILES = 6
"""Files of a commit that are kept."""
LONGEST_MESSAGE = 3_000
"""Characters of a message that are read: what a longer one lists are many changes."""
_MENTION = re.compile(
    r"(?<![\w-])(?P<word>[A-Za-z][A-Za-z0-9]{1,11})(?:-|(?<=adr)[ _:#/]{0,2}#?|(?<=adrs)[ ]#?)"
    r"0*(?P<number>[0-9]{1,6})(?![0-9]|\.[0-9])",
    re.IGNORECASE,
)
"""A name with a number: `ADR-0012`, `ADR 12`, `adr/0012-use-redis`, `OPS-7`."""
_ISSUE = re.compile(r"(?<![\w/])(?:#|GH-|/pull/|/issues/)(?P<number>[0-9]{1,7})\b")
_SLUG = re.compile(r"(?<![\w.-])[0-9]{2,8}[-_][A-Za-z][\w-]{4,200}")
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})")
_REVERTED_SUBJECT = re.compile(r"\A(?:Revert|revert:?) +\"(?P<subject>.+)\"")
_DOCUMENTS = re.compile(
    r"\b(?:renumber\w*|rename adrs?|move adrs?|typos?|dead links?|broken links?)\b", re.IGNORECASE
)
"""Subjects of commits that name a decision for the sake of its document."""
_GENERATED = re.compile(
    r"(?:^|/)(?:mkdocs|sidebars?|nav)\.\w+$|[.-]lock\b|(?:^|/)(?:go\.sum|package-lock\.json)$"
)
_PULL_REQUEST = re.compile(r" \(#\d+\)\Z")


class PastCommit(NamedTuple):
    """One commit without what no decision can be recognised by; the newest come first."""

    name: str
    at: int
    subject: str
    mentions: Sequence[str]
    """Names with numbers in its message, as `adr-12`, and slugs of documents."""
    issues: Sequence[int]
    """Numbers of issues and pull requests in its message."""
    code: Sequence[str]
    """The first files of code that it changes."""
    files: int
    """How many files of code it changes."""
    documents: Sequence[str]
    """Markdown files that it adds."""
    reverts: Sequence[str]
    """Hashes, or the subject, of what it takes back."""
    is_first: bool = False
    """Whether it has no parent: it has all there was."""

    @property
    def short(self) -> str:
        """The abbreviated hash."""
        return self.name[:7]

    @property
    def plain_subject(self) -> str:
        """The subject without the number of its pull request."""
        return _PULL_REQUEST.sub("", self.subject)


@dataclass(frozen=True)
class History:
    """The commits before HEAD, and when each file came that is there now."""

    commits: Sequence[PastCommit] = ()
    born: dict[str, int] | None = None
    """Seconds since 1970 by path, moves followed; None without a whole history."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Where files went that were moved, by their paths before that."""

    @cached_property
    def _oldest_first(self) -> Sequence[PastCommit]:
        return sorted(self.commits, key=lambda commit: commit.at)

    @property
    def start(self) -> float:
        """When the first commit was made."""
        if self.commits:
            return self._oldest_first[0].at

        return 0.0

    def before(self, moment: float) -> PastCommit | None:
        """Return the last commit up to a moment."""
        commits = self._oldest_first
        position = bisect_right(commits, moment, key=lambda commit: commit.at)
        if position:
            return commits[position - 1]

        return None

    def is_there(self, path: str) -> bool:
        """Say whether a file is there, moves followed; unknown counts as there."""
        if self.born is None:
            return True

        visited: set[str] = set()
        while path not in self.born and path not in visited:
            visited.add(path)
            path = self.moved.get(path, path)

        return path in self.born

    def born_at(self, path: str) -> int | None:
        """Return when a file came; None where that is unknown."""
        if self.born is None:
            return None

        return self.born.get(path)


def is_code(path: str) -> bool:
    """Say whether a file that a commit changes may follow a decision: no page, no lock, no list."""
    if _GENERATED.search(path) or path.startswith(f"{ORBIT}/"):
        return False
    if Purpose.PROSE in purposes(path):
        return False

    return is_source(path) is True


def history_of(workspace: Workspace) -> History:
    """Return the history up to HEAD; the cache keeps it, and reads what came since."""
    git = workspace.git
    head = git.head() if git.top is not None else None
    if head is None:
        return History()

    stored: Any = workspace.cache.recall("history", git.prefix) or [None, [], {}, {}]
    earlier, rows, files, moved = stored
    if earlier != head:
        is_behind = earlier is not None and git.ask("merge-base", earlier, head) == earlier
        if not is_behind:
            earlier, rows, files, moved = None, [], {}, {}

        commits = commits_since(git, earlier, MOST_COMMITS)
        new_rows = [_row(commit, _follow(commit, files, moved)) for commit in commits]
        rows = [*reversed(new_rows), *rows][:MOST_COMMITS]
        # Names of files and hashes of their contents look like secrets and their values.
        value = [head, rows, files, moved]
        workspace.cache.remember("history", git.prefix, value, is_clean=True)

    is_whole = not git.is_shallow and len(rows) < MOST_COMMITS
    born = {path: at for path, (at, _) in files.items()} if is_whole else None
    return History([PastCommit(*row) for row in rows], born, moved)


_Files = dict[str, list[Any]]
"""When each file came and the hash of its content, by its path, as JSON."""


def _follow(commit: Commit, files: _Files, moved: dict[str, str]) -> list[str]:
    """Bring the files up to date with a commit, and return those that it adds.

    A file that comes as another one with its content or its name goes was moved: it keeps its time.
    """
    gone: dict[str, tuple[str, int]] = {}
    for path, blob in commit.changes:
        if not blob and path in files:
            at, before = files.pop(path)
            gone[before] = path, at
            gone.setdefault(posixpath.basename(path), (path, at))

    added: list[str] = []
    for path, blob in commit.changes:
        if blob and path in files:
            files[path][1] = blob
        elif blob:
            origin, at = gone.get(blob) or gone.get(posixpath.basename(path), ("", int(commit.at)))
            files[path] = [at, blob]
            added.append(path)
            if origin:
                moved[origin] = path

    return added


def _row(commit: Commit, added: Sequence[str]) -> list[object]:
    """Return the fields of a `PastCommit`, as JSON."""
    subject = commit.subject
    message = commit.message[:LONGEST_MESSAGE]
    mentions = {
        f"{match['word'].lower()}-{match['number']}" for match in _MENTION.finditer(message)
    }
    mentions = {re.sub(r"^adrs-", "adr-", text) for text in mentions}
    slugs = {match[0].lower() for match in _SLUG.finditer(message)}
    if len(mentions) > MOST_NAMED or _DOCUMENTS.search(subject):
        mentions, slugs = set(), set()

    issues = {int(match["number"]) for match in _ISSUE.finditer(message)}
    is_merge = len(commit.parents) > 1
    changes = () if is_merge else commit.changes
    code = [path for path, blob in changes if blob and is_code(path)]
    documents = [path for path in added if is_markdown(path)]

    reverts = _REVERTED.findall(message)
    quoted = _REVERTED_SUBJECT.match(subject)
    if quoted is not None:
        reverts.append(without_secrets(_PULL_REQUEST.sub("", quoted["subject"])))

    # Lists of many name nothing in particular.
    few_issues = sorted(issues) if len(issues) <= MOST_ISSUES else []
    few_documents = documents[:3] if len(documents) <= MOST_NAMED else []
    mentioned = [sorted(mentions | slugs), few_issues]
    files = [code[:MOST_FILES], len(code), few_documents]
    return [
        commit.name,
        int(commit.at),
        without_secrets(subject[:120]),
        *mentioned,
        *files,
        reverts,
        not commit.parents,
    ]
