"""Derives the freshness of whole collections, in the gate and outside it; what is stale, `records.freshness` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from orbit_registry.errors import GitError
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.model.freshness import FilesystemView, Freshness, derive, expiry_moments, has_expiry
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.probe import Dependencies, evidence_kinds, probe, volatility_windows
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.repository.vcs_state import missing_files
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FreshnessReport:
    """How records stand outside the gate."""

    freshness: Mapping[str, Freshness]
    """By the record's path; those left out are fresh or closed."""
    filesystem: FilesystemView
    files: tuple[str, ...] = ()
    """Tracked files, and those that git would add."""
    tracked: tuple[str, ...] = ()
    """The tracked ones of `files`."""
    dependencies: Dependencies = field(default_factory=Dependencies)
    """What was looked at."""
    scoped: Sequence[tuple[Record, tuple[str, ...]]] = ()
    """The records that wait or hold and have a scope, each with its globs."""
    counts: Mapping[str, int] | None = None
    """How many of the files each glob matches; None where git lists none."""
    lost: frozenset[str] = frozenset()
    """The files of records whose scope matches no file."""

    @property
    def relevant_untracked(self) -> tuple[str, ...] | None:
        """The files that git would add, where one that comes or goes can change what is said; None where none can.

        A record that a file speaks for stays what it is when another comes.
        """
        untracked = self.files[len(self.tracked) :]
        hangs = self.counts is not None and (untracked or self.lost or self.filesystem.missing)
        return untracked if hangs else None

    @property
    def dead(self) -> dict[str, tuple[str, ...]]:
        """Globs that include and match no file, by the record's path."""
        counts = self.counts
        if counts is None:
            return {}
        return {record.path: globs for record, paths in self.scoped if (globs := dead_globs(paths, counts))}


def _needs_judging(record: Record, filesystem: FilesystemView, missing_documents: Collection[str]) -> bool:
    """Say whether something that a record rests on is gone, or it says itself how long it holds, so that it has to be
    judged; quicker than judging it, which nearly all pass.
    """
    data = record.data
    if record.kind.in_file or has_expiry(record):
        return True
    if "evidence" in data and not filesystem.missing.isdisjoint(record.evidence):
        return True
    return "source" in data and bool(missing_documents)


def dead_globs(paths: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the globs of a scope that include and match no file."""
    new = (text for text in paths if text not in counts)
    return tuple(text for text in new if isinstance(glob := parse_glob(text), Glob) and not glob.exclude)


def unmatched_scopes(scoped: Iterable[tuple[Record, tuple[str, ...]]], counts: Mapping[str, int]) -> frozenset[str]:
    """Return the files of records whose scope has globs that include, none of which matches a file."""
    return frozenset(
        record.path
        for record, paths in scoped
        if not any(text in counts for text in paths) and dead_globs(paths, counts)
    )


def stale_records(
    records: Iterable[Record],
    filesystem: FilesystemView,
    now: datetime,
    config: Config,
    lost: Collection[str],
    missing_documents: Collection[str],
) -> dict[str, Freshness]:
    """Return the freshness of records that wait or hold and are not fresh, by path; see `records.freshness.derive`."""
    windows = volatility_windows(config)
    by_path: dict[str, Freshness] = {}
    for record in records:
        if (record.path in lost or _needs_judging(record, filesystem, missing_documents)) and record.phase != "closed":
            freshness = derive(
                record, filesystem, now, windows, unmatched_scopes=lost, missing_documents=missing_documents
            )
            if freshness.reasons:
                by_path[record.path] = freshness
    return by_path


def evaluate_freshness(
    workspace: Workspace,
    records: Sequence[Record],
    now: datetime | None = None,
    count: Callable[[Collection[str], Sequence[str]], Mapping[str, int]] = count_matches,
    *,
    without: Sequence[str] = (),
) -> FreshnessReport:
    """Return how records stand, asked of disk and git anew; `count` is `matching.count_matches` or remembers it.

    `without` are folders, from the root, whose untracked files are nobody's: what we write ourselves.
    """
    tracked, untracked = _files(workspace, without)
    dependencies = Dependencies.of(records, evidence_kinds(workspace.config))
    filesystem = probe(workspace, dependencies, tracked, untracked)
    scoped = [
        (record, paths)
        for record in records
        if "scope" in record.data and record.phase != "closed" and (paths := record.globs)
    ]
    files = (*(tracked or ()), *untracked)
    counts: Mapping[str, int] | None = None
    if tracked is not None:
        counts = count({text for _, paths in scoped for text in paths}, files) if scoped else {}
    lost = unmatched_scopes(scoped, counts) if counts is not None else frozenset()
    sources = (record.source for record in records if "source" in record.data or record.kind.in_file)
    documents = {source.path for source in sources if source is not None}
    missing_documents = frozenset(missing_files(workspace.root, documents))
    freshness = stale_records(records, filesystem, now or datetime.now(UTC), workspace.config, lost, missing_documents)
    return FreshnessReport(freshness, filesystem, files, tuple(tracked or ()), dependencies, scoped, counts, lost)


def _files(workspace: Workspace, without: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Return the tracked files, None where git lists none, and those that it would add."""
    try:
        tracked = workspace.git.tracked()
        if tracked is None:
            return None, []
        return tracked, workspace.git.untracked(without=without)
    except GitError:
        return None, []


def expiring_today(records: Iterable[Record], now: datetime, config: Config) -> set[str]:
    """Return the paths of the records of which the clock alone changes what is said before the day (UTC) ends."""
    now, windows = now.astimezone(UTC), volatility_windows(config)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    stating = (record for record in records if has_expiry(record))
    day = timedelta(days=1)
    return {
        record.path
        for record in stating
        if any(now < at and at - midnight <= day for at in expiry_moments(record, windows))
    }
