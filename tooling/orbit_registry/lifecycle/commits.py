"""What git's history says of decisions: one reading of the log, remembered by the commit read last.

It holds facts of commits alone; which of them are evidence is for others to say.
"""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.sources import is_source
from orbit_registry.workspace.git import Git, seconds_in
from orbit_registry.workspace.workspace import ORBIT, Workspace

MOST_COMMITS = 20_000
MOST_NAMED = 4
"""A message that names more decisions is about their documents."""
MOST_ISSUES = 6
MOST_FILES = 6
"""Files of a commit that are kept."""
LONGEST_MESSAGE = 3_000
"""Characters of a message that are read: what a longer one lists are many changes."""
_FORMAT = "--format=%x00%x01%H%x00%ct%x00%P%x00%B%x00"
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
_PROSE_FOLDER = re.compile(r"(?:^|/)(?:docs?|documentation|website|site|node_modules|vendor)/")
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
        return self._oldest_first[0].at if self.commits else 0.0

    def before(self, moment: float) -> PastCommit | None:
        """Return the last commit up to a moment."""
        commits = self._oldest_first
        position = bisect_right(commits, moment, key=lambda commit: commit.at)
        return commits[position - 1] if position else None

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
        return None if self.born is None else self.born.get(path)


def is_code(path: str) -> bool:
    """Say whether a file that a commit changes may follow a decision: no page, no lock, no list."""
    if _PROSE_FOLDER.search(path) or _GENERATED.search(path) or path.startswith(f"{ORBIT}/"):
        return False

    return is_source(path) is True


def history_of(workspace: Workspace) -> History:
    """Return the history up to HEAD; the cache keeps it, and reads what came since."""
    git = workspace.git
    head = git.head() if git.top is not None else None
    if head is None:
        return History()

    stored: Any = workspace.cache.recall("history", git.prefix) or [None, [], {}, {}]
    earlier, rows, born, moved = stored
    if earlier != head:
        is_behind = earlier is not None and git.ask("merge-base", earlier, head) == earlier
        if not is_behind:
            earlier, rows, born, moved = None, [], {}, {}

        rows = [*_read(git, earlier, head, born, moved), *rows][:MOST_COMMITS]
        workspace.cache.remember("history", git.prefix, [head, rows, born, moved])

    is_whole = not git.is_shallow and len(rows) < MOST_COMMITS
    commits = [PastCommit(*row) for row in rows]
    return History(commits, born if is_whole else None, moved)


def _read(
    git: Git, since: str | None, head: str, born: dict[str, int], moved: dict[str, str]
) -> list[list[object]]:
    """Return the rows of new commits, the newest first; what became of files goes into `born` and
    `moved`.
    """
    revisions = [head] if since is None else [head, f"^{since}"]
    # Moves are told by their content: git's own way would read each file.
    options = ("--no-renames", "-z", "--raw", "--relative", f"--max-count={MOST_COMMITS}", _FORMAT)
    texts = git.run_fields("log", *options, "--end-of-options", *revisions, "--", check=False)

    rows: list[list[object]] = []
    changes: list[_Change] = []
    for at, commit, of_commit in _commits(texts):
        rows.append(commit)
        changes.append((at, of_commit))

    for change in reversed(changes):
        _follow(*change, born, moved)

    return rows


class _FileChange(NamedTuple):
    letter: str
    before: str
    after: str
    path: str


_Change = tuple[int, Sequence[_FileChange]]


def _follow(
    at: int, changes: Sequence[_FileChange], born: dict[str, int], moved: dict[str, str]
) -> None:
    """Bring the times of files up to date with a commit; a moved file keeps its own.

    A file is moved if another one with its content or its name comes in the same commit.
    """
    gone: dict[str, str] = {}
    times: dict[str, int] = {}
    for change in changes:
        if change.letter == "D" and change.path in born:
            times[change.path] = born.pop(change.path)
            gone[change.before] = change.path
            gone.setdefault(posixpath.basename(change.path), change.path)

    for change in changes:
        if change.letter == "A":
            origin = gone.get(change.after) or gone.get(posixpath.basename(change.path), "")
            born[change.path] = times.get(origin, at)
            if origin:
                moved[origin] = change.path


def _commits(texts: Sequence[str]) -> Iterator[tuple[int, list[object], list[_FileChange]]]:
    index = 0
    while index + 4 < len(texts):
        mark = texts[index].lstrip("\n")
        if not mark.startswith("\x01"):
            index += 1
            continue

        time, parents, message = texts[index + 1 : index + 4]
        changes, index = _changes(texts, index + 4)
        is_merge = " " in parents
        at = seconds_in(time)
        row = _row(mark[1:], at, message.strip(), [] if is_merge else changes)
        row.append(not parents)
        yield at, row, changes


def _changes(texts: Sequence[str], index: int) -> tuple[list[_FileChange], int]:
    changes: list[_FileChange] = []
    while index + 1 < len(texts):
        head = texts[index].lstrip("\n")
        if head.startswith("\x01"):
            break
        if head.startswith(":"):
            _, _, before, after, letter = head.split(" ")
            changes.append(_FileChange(letter[:1], before, after, texts[index + 1]))
            index += 1

        index += 1

    return changes, index


def _row(name: str, at: int, message: str, changes: Sequence[_FileChange]) -> list[object]:
    subject = message.partition("\n")[0].strip()
    message = message[:LONGEST_MESSAGE]
    mentions = {
        f"{match['word'].lower()}-{match['number']}" for match in _MENTION.finditer(message)
    }
    mentions = {re.sub(r"^adrs-", "adr-", text) for text in mentions}
    slugs = {match[0].lower() for match in _SLUG.finditer(message)}
    if len(mentions) > MOST_NAMED or _DOCUMENTS.search(subject):
        mentions, slugs = set(), set()

    issues = {int(match["number"]) for match in _ISSUE.finditer(message)}
    code = [change.path for change in changes if change.letter != "D" and is_code(change.path)]
    added = [change.path for change in changes if change.letter == "A"]
    documents = [path for path in added if is_markdown(path)]

    reverts = _REVERTED.findall(message)
    quoted = _REVERTED_SUBJECT.match(subject)
    if quoted is not None:
        reverts.append(_PULL_REQUEST.sub("", quoted["subject"]))

    return [
        name,
        at,
        subject[:120],
        sorted(mentions | slugs),
        sorted(issues) if len(issues) <= MOST_ISSUES else [],
        code[:MOST_FILES],
        len(code),
        documents[:3] if len(documents) <= MOST_NAMED else [],
        reverts,
    ]
