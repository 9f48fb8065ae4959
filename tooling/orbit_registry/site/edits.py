"""Edits of records' texts, as git has them: when, by whom, and the subject of the commit."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from orbit_registry.errors import GitError
from orbit_registry.model.record import Record
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.git_log import Commit, commits_touching

MOST_COMMITS = 200
BULK = 12
"""A commit that touches more records moves or formats them: it is no edit of one."""


class Edit(NamedTuple):
    """One edit: its day, who made it, and what its commit is called."""

    day: str
    person: str
    subject: str


Row = tuple[str, str, str, list[str]]
"""A commit: day, person, subject, and the files that it touches."""


def edits_of(publication: Publication, records: Sequence[Record]) -> dict[str, Edit]:
    """Return the newest edit of each record that has one, by the record's path; none outside git.

    A text that may not be read is left out of the subject.
    """
    files = {_file(record): record.path for record in records}
    rows = _rows(publication, sorted(files))
    edits: dict[str, Edit] = {}
    commits: Counter[str] = Counter()
    for day, person, subject, changed in rows:
        touched = [files[file] for file in changed if file in files]
        commits.update(touched)
        if len(touched) > BULK:
            continue

        edit = Edit(day, person, publication.text(subject))
        for path in touched:
            edits.setdefault(path, edit)

    # The oldest commit of a file added it, if all were read.
    fewest = 1 if len(rows) >= MOST_COMMITS else 2
    return {path: edit for path, edit in edits.items() if commits[path] >= fewest}


def built_from(publication: Publication) -> tuple[str, str]:
    """Return the commit that the site is built from, and its day; two empty texts outside git."""
    line = publication.workspace.git.ask("log", "-1", "--format=%H %cs") or ""
    commit, _, day = line.strip().partition(" ")
    return commit, day


def _file(record: Record) -> str:
    if record.source:
        return record.source.path

    return record.path


def _rows(publication: Publication, files: Sequence[str]) -> list[Row]:
    """Return the newest commits of some files, from the cache while the head is the same."""
    workspace = publication.workspace
    head = workspace.git.head()
    if head is None or not files:
        return []

    def read() -> list[Row]:
        folders = sorted({_folder(file) for file in files})
        try:
            commits = commits_touching(
                workspace.git, folders, "HEAD", is_first_parent=False, most=MOST_COMMITS
            )
            return [_row(commit) for commit in commits]
        except GitError:
            return []

    return list(workspace.cache.memo("edits of records", repr((head, files)), read))


def _folder(file: str) -> str:
    """Return what has a file and those like it: of a record the folder of its kind."""
    parts = file.split("/")
    depth = 2 if file.startswith(".orbit/") else len(parts) - 1
    return "/".join(parts[:depth]) or file


def _row(commit: Commit) -> Row:
    lines = commit.message.strip().splitlines()
    day = f"{datetime.fromtimestamp(commit.at, UTC):%Y-%m-%d}"
    subject = lines[0] if lines else ""
    return day, commit.author.partition(" <")[0], subject, list(commit.files)
