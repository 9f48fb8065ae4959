"""Watchdog: regular checks of records, derived files, event log and queue;
rebuilds derived files.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_registry.checks.rules.loop import TURN_END, loop_log, turns
from orbit_registry.doctor.examine import Finding, Report
from orbit_registry.errors import OrbitError, listed, plural
from orbit_registry.hook.events import DISPATCHED, RETRIEVAL, SYNCED
from orbit_registry.hook.index import Index
from orbit_registry.hook.project import private_folder
from orbit_registry.matching.pack import is_whole
from orbit_registry.matching.sync import open_index
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.loop_log import LoopLog
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import time_in
from orbit_registry.repository.reader import read_collection
from orbit_registry.retro.failures import KIND as FAILURE
from orbit_registry.retro.failures import target_of
from orbit_registry.review.review import queue
from orbit_registry.snapshot.sync import last_built, sync
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import read_bytes, write_atomic
from orbit_registry.workspace.workspace import Workspace

SECTION = "watchdog"
MEMORY = "watchdog.json"
MEMORY_SPAN = timedelta(
    days=7
)  # so long the most records that there were are what a store is measured by
SHRUNKEN = (
    0.8  # a store with a smaller share of what it had, and at least three records fewer, has shrunk
)
MOST_LISTED = 3


@dataclass(frozen=True, slots=True)
class Watch(Report):
    """Findings of one run, and when it was."""

    at: datetime

    def as_data(self) -> dict[str, object]:
        """Return the run as JSON data."""
        return {"at": self.at.strftime("%Y-%m-%dT%H:%M:%SZ"), **Report.as_data(self)}


def watch(workspace: Workspace, window: timedelta, now: datetime | None = None) -> Watch:
    """Check once, with the events of a window before `now`;
    rebuild stale or damaged derived files.
    """
    at = now or datetime.now(UTC)
    records = read_collection(workspace, now=at).records
    log, unreadable = _log(workspace, at)
    parts: tuple[Iterable[Finding], ...] = (
        _store(workspace, records, at),
        _derived(workspace, log, at),
        unreadable,
        _events(replace(log, events=tuple(log.since(at - window)))),
        _failures(records, at),
        _waiting(workspace, records, at),
        _unconsolidated(workspace, records),
    )
    return Watch([finding for part in parts for finding in part], at)


def _log(workspace: Workspace, now: datetime) -> tuple[LoopLog, list[Finding]]:
    try:
        return loop_log(workspace, now=now.timestamp()), []
    except OrbitError as error:
        path = workspace.relative(workspace.state / "log")
        empty = LoopLog(Location(path))
        return empty, [Finding("problem", "log-unreadable", error.message, path, error.hint)]


def _store(workspace: Workspace, records: RecordSet, now: datetime) -> Iterator[Finding]:
    count, most = len(records), _most_records(workspace, now)
    path = workspace.relative(workspace.orbit)
    if not count:
        had = "git status .orbit, then git restore .orbit"
        hint = had if most else f"orbit adr new, or orbit learning new; if there were records {had}"
        yield Finding("problem", "store-empty", "there is no record", path, hint)
    elif most - count >= 3 and count < SHRUNKEN * most:
        message = f"{plural(count, 'record')}, and there were {most:,}"
        yield Finding("problem", "store-shrunken", message, path, "git log --stat -- .orbit")
    else:
        yield Finding("ok", "store", plural(count, "record"), path)

    if count >= most:
        folder = Path(private_folder(str(workspace.root), "log"))
        write_atomic(folder / MEMORY, json.dumps({"records": count, "at": now.timestamp()}))


def _most_records(workspace: Workspace, now: datetime) -> int:
    try:
        previous = json.loads(read_bytes(workspace.state / "log" / MEMORY, limit=1000))
        recent = now.timestamp() - float(previous["at"]) < MEMORY_SPAN.total_seconds()
        return int(previous["records"]) if recent else 0
    except (OrbitError, ValueError, TypeError, KeyError, RecursionError):
        return 0


def _derived(workspace: Workspace, log: LoopLog, now: datetime) -> Iterator[Finding]:
    index = open_index(workspace)
    built = last_built(workspace)
    path = workspace.relative(workspace.cache_folder)
    hours = workspace.config.setting(SECTION, "stale_hours")
    finding = Finding("ok", "sync", "snapshot and push index are there", path)

    if built is None:
        finding = Finding(
            "warning", "derived-missing", "there is no snapshot, or it is damaged", path
        )
    elif not isinstance(index, Index):
        finding = Finding(
            "warning",
            "derived-missing",
            f"there is no push index that can be used: {index.reason}",
            path,
        )
    elif not is_whole(index):
        finding = Finding("warning", "derived-missing", "the push index is damaged", path)
    else:
        last = max([built, *(event.at for event in log.of(SYNCED))])
        age = now - datetime.fromtimestamp(last, UTC)
        if age > timedelta(hours=hours):
            message = (
                f"the last sync was {age // timedelta(hours=1)} hours ago, and {hours} are admitted"
            )
            finding = Finding("warning", "sync-stale", message, path)

    yield finding if finding.level == "ok" else _heal(workspace, finding)


def _heal(workspace: Workspace, finding: Finding) -> Finding:
    try:
        done = sync(workspace, rebuild=finding.topic == "derived-missing")
    except OrbitError as error:
        message = f"{finding.what}; making it again failed: {error.message}"
        return replace(finding, level="problem", what=message, next_step=error.hint)
    write_event(workspace, SYNCED, [], done.counted())
    return replace(finding, what=f"{finding.what}; it was made again now")


def _events(log: LoopLog) -> Iterator[Finding]:
    path = log.location.path
    dispatches = sum(1 for _ in log.of(DISPATCHED, TURN_END, "subagent stop"))
    retrievals = sum(1 for _ in log.of(RETRIEVAL))
    if dispatches and not retrievals:
        message = f"{dispatches} dispatches and turns, and nothing was looked up for any"
        yield Finding("problem", "retrieval-zero", message, path, "orbit hook status")
    else:
        yield Finding(
            "ok", "retrieval", f"{retrievals} retrievals, {dispatches} dispatches and turns", path
        )

    missing = [ended for ended, note in turns(log) if note is None]
    if missing:
        message = (
            f"{len(missing)} of {sum(1 for _ in log.of(TURN_END))} turns have neither a "
            f"note nor a reason"
        )
        yield Finding("warning", "turn-drift", message, path, "orbit check --loop")


def _failures(records: RecordSet, now: datetime) -> Iterator[Finding]:
    open_ones = [failure for failure in records.of_kind(FAILURE) if failure.phase == "live"]
    over = [
        failure for failure in open_ones if (end := expires_at(failure)) is not None and end <= now
    ]
    waiting = [failure for failure in open_ones if failure not in over]
    for topic, state, ones in (
        ("failure-open", "left alone", waiting),
        ("failure-expired", "over, to be tried again", over),
    ):
        if ones:
            targets = listed([str(target_of(failure)) for failure in ones], MOST_LISTED)
            count = plural(len(ones), "failed target is", "failed targets are")
            yield Finding(
                "ok", topic, f"{count} {state}: {targets}", "", f"orbit show {ones[0].id}"
            )


def _waiting(workspace: Workspace, records: RecordSet, now: datetime) -> Iterator[Finding]:
    days = workspace.config.setting(SECTION, "queue_days")
    limit = now - timedelta(days=days)
    old = [
        entry
        for entry in queue(records)
        if (created := time_in(entry.text("created_at"))) is not None and created < limit
    ]
    if old:
        names = listed([entry.id for entry in old], MOST_LISTED)
        count = plural(len(old), "record has", "records have")
        message = f"{count} waited for review for more than {plural(days, 'day')}: {names}"
        yield Finding("warning", "queue-old", message, "", "orbit review")


def _unconsolidated(workspace: Workspace, records: RecordSet) -> Iterator[Finding]:
    most = workspace.config.setting(SECTION, "learnings")
    open_ones = [record for record in records if record.phase != "closed"]
    consolidated = {
        link.to for record in open_ones for link in record.links if link.rel == "derived_from"
    }
    live = [record for record in records.of_kind("learning") if record.phase == "live"]
    alone = [record for record in live if record.id not in consolidated]

    if len(alone) > most:
        message = f"{plural(len(alone), 'unconsolidated learning')}; the limit is {most}"
        yield Finding("warning", "learnings-many", message, "", "orbit propose")
