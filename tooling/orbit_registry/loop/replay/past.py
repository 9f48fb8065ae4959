"""What a replay walks over: commits in order, from a file of JSON lines too, versions of records, which stood when."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from orbit_registry.errors import UnreadableFileError, UsageError
from orbit_registry.records.record import Record

GIT, DATES = "git history of the records", "dates in the records"
"""By what a record counts as being there: what git held before a commit, or what the records say themselves."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One commit: its name, its message, the files it touched (from the root), and its time in seconds since 1970."""

    name: str
    message: str
    files: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Version:
    """A record as it stood for a while, None where its file held none; `has_body`: a file beside it held its prose."""

    record: Record | None
    has_body: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A commit, and the versions that stood before it: a bit for each, by their places in `Past.versions`."""

    touch: Touch
    standing: int


@dataclass(frozen=True, slots=True)
class Past:
    """A history to replay: by what records count as being there, and what was left out of it, in words."""

    records_by: str
    versions: Sequence[Version]
    steps: Sequence[Step]
    notes: Sequence[str] = ()

    @property
    def latest(self) -> dict[str, Record]:
        """Return the last version of each record, by its lasting id."""
        return {one.uid: one for version in self.versions if (one := version.record) is not None}


LONGEST_LINE = 4_000_000
MOST_NAMED = 20
"""So many lines that are no commits are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class CommitFile:
    """The commits of a file, in its order, and the lines that are none: (line, why), counted in full."""

    commits: tuple[Touch, ...]
    skipped: tuple[tuple[int, str], ...]
    skipped_count: int


def read_commits(path: Path, since: str | None = None) -> CommitFile:
    """Return the commits in a file; with `since`, those after the commit of that name (its start is enough).

    Raises:
        UnreadableFileError: the file can't be read.
        UsageError: no commit is named so.
    """
    found: list[Touch] = []
    skipped: list[tuple[int, str]] = []
    count = 0
    after = since is None
    for number, line in _lines(path):
        touch = _touch(line)
        if isinstance(touch, str):
            count += 1
            if len(skipped) < MOST_NAMED:
                skipped.append((number, touch))
        elif after:
            found.append(touch)
        elif since and touch.name.startswith(since):
            after = True
    if not after:
        raise UsageError(f"no commit of {path} is named {since!r}", hint="name one as its `commit` field does")
    return CommitFile(tuple(found), tuple(skipped), count)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers; of one that is too long its start."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                whole = line
                while whole and not whole.endswith(b"\n") and len(whole) > LONGEST_LINE:
                    whole = file.readline(LONGEST_LINE + 1)
                if line.strip():
                    yield number, line
    except OSError as error:
        said = (error.strerror or "").lower()
        raise UnreadableFileError(f"{path} can't be read: {said}", hint="name a file of JSON lines") from None


def _touch(line: bytes) -> Touch | str:
    """Return the commit that a line holds, or why it holds none."""
    if len(line) > LONGEST_LINE:
        return "longer than any commit"
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return "torn or not JSON"
    if not isinstance(row, dict):
        return "not an object"
    name, said = row.get("commit"), row.get("message", row.get("subject"))
    if not isinstance(name, str) or not name or not isinstance(said, str):
        return "`commit` and `subject` are texts"
    files = row.get("files", [])
    if not isinstance(files, list) or not all(isinstance(file, str) and file for file in files):
        return "`files` is a list of paths"
    try:
        at = began(str(row.get("date")))
    except (ValueError, OverflowError):
        return "`date` is no day and no time with a zone"
    return Touch(name, said, tuple(dict.fromkeys(files)), at)


def began(text: str) -> float:
    """Return when a commit was made, in seconds since 1970; of a bare day its start, so that nothing of it is foreseen.

    Raises:
        ValueError: it is no day and no time with a zone.
    """
    if len(text) == len("2026-01-01"):
        day = date.fromisoformat(text)
        return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time needs a zone")
    return at.timestamp()
