"""What a replay walks over: commits in order, versions of records, and which of them stood when; it reads no file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
