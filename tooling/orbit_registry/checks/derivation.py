"""Derives the freshness of whole collections, in the gate and outside it; what is stale, `records.freshness` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from orbit_registry.checks.matching import count_matches, parsed
from orbit_registry.errors import GitError
from orbit_registry.records.freshness import Freshness, Sight, derive, turns
from orbit_registry.records.record import Record
from orbit_registry.store.config import Config
from orbit_registry.store.facts import gone
from orbit_registry.store.freshness import Ground, look, windows_of
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.glob_syntax import Glob

_RESTING = frozenset({"freshness", "evidence", "source"})
"""Fields without which a record, whose scope matches something, is fresh."""


def nowhere(scoped: Iterable[tuple[Record, tuple[str, ...]]], counts: Mapping[str, int]) -> frozenset[str]:
    """Return the files of records whose scope has globs that include, none of which matches a file."""
    found: set[str] = set()
    for record, paths in scoped:
        if any(text in counts for text in paths):
            continue
        globs = [glob for text in paths if isinstance(glob := parsed(text), Glob)]
        if any(not glob.exclude for glob in globs):
            found.add(record.path)
    return frozenset(found)


def not_fresh(
    records: Iterable[Record],
    sight: Sight,
    now: datetime,
    config: Config,
    lost: Collection[str],
    homeless: Collection[str],
) -> dict[str, Freshness]:
    """Return the freshness of records that wait or hold and are not fresh, by path; see `records.freshness.derive`."""
    windows = windows_of(config)
    found: dict[str, Freshness] = {}
    for record in records:
        if (record.path in lost or not _RESTING.isdisjoint(record.data)) and record.phase != "closed":
            freshness = derive(record, sight, now, windows, nowhere=lost, homeless=homeless)
            if freshness.reasons:
                found[record.path] = freshness
    return found


def freshness_of(
    workspace: Workspace,
    records: Sequence[Record],
    now: datetime | None = None,
    count: Callable[[Collection[str], Sequence[str]], Mapping[str, int]] = count_matches,
) -> tuple[dict[str, Freshness], Sight]:
    """Return the same for records anywhere outside the gate, and what was seen; every record counts as fresh else."""
    tracked, untracked = _files(workspace)
    sight = look(workspace, Ground.of(records), tracked, untracked)
    scoped = [
        (one, paths) for one in records if "scope" in one.data and one.phase != "closed" and (paths := one.scope.paths)
    ]
    lost: frozenset[str] = frozenset()
    if tracked is not None and scoped:
        lost = nowhere(scoped, count({text for _, paths in scoped for text in paths}, (*tracked, *untracked)))
    documents = {source.path for one in records if "source" in one.data and (source := one.source) is not None}
    homeless = frozenset(gone(workspace.root, documents))
    found = not_fresh(records, sight, now or datetime.now(UTC), workspace.config, lost, homeless)
    return found, sight


def _files(workspace: Workspace) -> tuple[list[str] | None, list[str]]:
    """Return the tracked files, None where git lists none, and those that it would add."""
    try:
        tracked = workspace.git.tracked()
        if tracked is None:
            return None, []
        listed = workspace.git.run("ls-files", "-z", "--others", "--exclude-standard")
    except GitError:
        return None, []
    return tracked, sorted(name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name)


def turns_today(records: Iterable[Record], now: datetime, config: Config) -> bool:
    """Say whether the clock alone changes before the day (UTC) ends what is said of a record."""
    now, windows = now.astimezone(UTC), windows_of(config)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    stating = (record for record in records if "freshness" in record.data)
    return any(now < at <= midnight for record in stating for at in turns(record, windows))
