"""Watchdog: regular checks of records, derived files, event log and queue.

It rebuilds derived files.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_loop.log import LoopLog
from orbit_loop.loop import TURN_END, loop_log, turns
from orbit_loop.retro.failures import KIND as FAILURE
from orbit_loop.retro.failures import open_failures, target_of
from orbit_registry.checks.review.review import queue
from orbit_registry.doors.doctor.examine import Finding, Report
from orbit_registry.errors import OrbitError, listed, plural
from orbit_registry.hook.events import DISPATCHED, RETRIEVAL, SYNCED
from orbit_registry.hook.project import index_file, private_folder
from orbit_registry.matching.index import Index, open_index
from orbit_registry.matching.pack import is_whole
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import time_in
from orbit_registry.repository.reader import read_collection
from orbit_registry.snapshot.sync import sync
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import read_object, write_atomic
from orbit_registry.workspace.workspace import Workspace

SECTION = "watchdog"
MEMORY = "watchdog.json"
MEMORY_SPAN = timedelta(days=7)
"""So long a store is measured by the most records that there were."""
SHRUNKEN = 0.8
"""A store with a smaller share of what it had, and at least three records fewer, has shrunk."""
MOST_LISTED = 3


@dataclass(frozen=True, slots=True)
class Watch(Report):
    """Findings of one run, and when it was."""

    at: datetime

    def as_data(self) -> dict[str, object]:
        """Return the run as JSON data."""
        return {"at": self.at.strftime("%Y-%m-%dT%H:%M:%SZ"), **Report.as_data(self)}


def watch(workspace: Workspace, window: timedelta, now: datetime | None = None) -> Watch:
    """Check once, with the events of a window before `now`.

    Stale or damaged derived files are rebuilt.
    """
    at = now or datetime.now(UTC)
    records = read_collection(workspace, now=at).records
    log, unreadable = _log(workspace, at)
    recent = tuple(log.since(at - window))

    findings = [*_store(workspace, records, at)]
    findings += _derived(workspace, log, at)
    findings += unreadable
    findings += _events(replace(log, events=recent))
    findings += _failures(records, at)
    findings += _waiting(workspace, records, at)
    findings += _unconsolidated(workspace, records)
    return Watch(findings, at)


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
        hint = "git status .orbit, then git restore .orbit"
        if not most:
            hint = f"orbit adr new, or orbit learning new; if there were records {hint}"

        yield Finding("problem", "store-empty", "there is no record", path, hint)
    elif most - count >= 3 and count < SHRUNKEN * most:
        yield Finding(
            "problem",
            "store-shrunken",
            f"{plural(count, 'record')}, and there were {most:,}",
            path,
            "git log --stat -- .orbit",
        )
    else:
        yield Finding("ok", "store", plural(count, "record"), path)

    if count >= most:
        folder = Path(private_folder(str(workspace.root), "log"))
        write_atomic(folder / MEMORY, json.dumps({"records": count, "at": now.timestamp()}))


def _most_records(workspace: Workspace, now: datetime) -> int:
    previous = read_object(workspace.state / "log" / MEMORY, limit=1000)
    at, records = previous.get("at"), previous.get("records")
    if not isinstance(at, int | float) or not isinstance(records, int):
        return 0

    if now.timestamp() - at < MEMORY_SPAN.total_seconds():
        return records

    return 0


def _derived(workspace: Workspace, log: LoopLog, now: datetime) -> Iterator[Finding]:
    index = open_index(workspace)
    path = index_file(str(workspace.root))
    hours = workspace.config.setting(SECTION, "stale_hours")

    missing = ""
    if not isinstance(index, Index):
        missing = f"there is no push index that can be used: {index.reason}"
    elif not is_whole(index):
        missing = "the push index is damaged"

    if missing:
        yield _heal(workspace, Finding("warning", "derived-missing", missing, path))
        return

    last = max([Path(path).stat().st_mtime, *(event.at for event in log.of(SYNCED))])
    age = now - datetime.fromtimestamp(last, UTC)
    if age > timedelta(hours=hours):
        past = age // timedelta(hours=1)
        message = f"the last sync was {plural(past, 'hour')} ago, and {hours} are admitted"
        yield _heal(workspace, Finding("warning", "sync-stale", message, path))
    else:
        yield Finding("ok", "sync", "the push index is there", path)


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
    dispatches = len([*log.of(DISPATCHED, TURN_END, "subagent stop")])
    retrievals = len([*log.of(RETRIEVAL)])
    if dispatches and not retrievals:
        yield Finding(
            "problem",
            "retrieval-zero",
            f"{plural(dispatches, 'dispatch or turn', 'dispatches and turns')}, "
            "and nothing was looked up for any",
            path,
            "orbit hook status",
        )
    else:
        yield Finding(
            "ok",
            "retrieval",
            f"{plural(retrievals, 'retrieval')}, "
            f"{plural(dispatches, 'dispatch or turn', 'dispatches and turns')}",
            path,
        )

    missing = [ended for ended, note in turns(log) if note is None]
    if missing:
        count = len([*log.of(TURN_END)])
        message = f"{len(missing)} of {plural(count, 'turn')} without a note or a reason"
        yield Finding("warning", "turn-drift", message, path, "orbit check --loop")


def _failures(records: RecordSet, now: datetime) -> Iterator[Finding]:
    waiting = list(open_failures(records, now))
    live = [failure for failure in records.of_kind(FAILURE) if failure.phase == "live"]
    over = [failure for failure in live if failure not in waiting]

    if waiting:
        yield _failed_targets("failure-open", "left alone", waiting)
    if over:
        yield _failed_targets("failure-expired", "over, to be tried again", over)


def _failed_targets(topic: str, state: str, failures: Sequence[Record]) -> Finding:
    targets = listed([str(target_of(failure)) for failure in failures], MOST_LISTED)
    count = plural(len(failures), "failed target is", "failed targets are")
    return Finding(
        "ok",
        topic,
        f"{count} {state}: {targets}",
        next_step=f"orbit show {failures[0].id}",
    )


def _waiting(workspace: Workspace, records: RecordSet, now: datetime) -> Iterator[Finding]:
    days = workspace.config.setting(SECTION, "queue_days")
    limit = now - timedelta(days=days)
    old = []
    for entry in queue(records):
        created = time_in(entry.text("created_at"))
        if created is not None and created < limit:
            old.append(entry.id)

    if old:
        names = listed(old, MOST_LISTED)
        count = plural(len(old), "record has", "records have")
        message = f"{count} waited for review for more than {plural(days, 'day')}: {names}"
        yield Finding("warning", "queue-old", message, "", "orbit review")


def _unconsolidated(workspace: Workspace, records: RecordSet) -> Iterator[Finding]:
    most = workspace.config.setting(SECTION, "learnings")
    consolidated: set[str] = set()
    for record in records:
        if record.phase != "closed":
            consolidated |= record.linked("derived_from")

    live = [record for record in records.of_kind("learning") if record.phase == "live"]
    alone = [record for record in live if record.id not in consolidated]
    if len(alone) > most:
        yield Finding(
            "warning",
            "learnings-many",
            f"{plural(len(alone), 'unconsolidated learning')}; the limit is {most}",
            next_step="orbit propose",
        )
