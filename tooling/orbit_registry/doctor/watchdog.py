"""Looks again and again at what nobody looks at: the store, its derived files, the log, what waits; heals the derived.

Each finding has a topic of its own, which scripts can ask for. It changes no record; what it remembers between two
looks is how many there were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_registry.checks.compliance import loop_log
from orbit_registry.checks.rules.loop import TURN_END, LoopLog, turns
from orbit_registry.doctor.examine import LEVELS, Finding
from orbit_registry.errors import OrbitError
from orbit_registry.hook.events import DISPATCHED, RETRIEVAL, SYNCED
from orbit_registry.hook.index import Index
from orbit_registry.hook.pack import is_whole
from orbit_registry.hook.project import private_folder
from orbit_registry.matching.sync import open_index
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import parse_time
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
REMEMBERED = timedelta(days=7)
"""So long the most records that there were are what a store is measured by."""
SHRUNKEN = 0.8
"""A store with a smaller share of what it had, and at least three records fewer, has shrunk."""
NAMED = 3


@dataclass(frozen=True, slots=True)
class Watch:
    """One look."""

    at: datetime
    findings: Sequence[Finding]

    def failed(self, *, strict: bool) -> bool:
        """Say whether something is a problem; with `strict` also whether something is a warning."""
        return any(one.level == "problem" or (strict and one.level == "warning") for one in self.findings)

    def as_data(self) -> dict[str, object]:
        """Return the look as JSON shows it."""
        return {
            "at": self.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "counts": {level: sum(one.level == level for one in self.findings) for level in LEVELS},
            "findings": [one.as_data() for one in self.findings],
        }

    def text(self) -> str:
        """Return the look as people read it."""
        return "\n".join(line for one in self.findings for line in one.lines())


def watch(workspace: Workspace, window: timedelta, now: datetime | None = None) -> Watch:
    """Look once, at the events of a window before `now`; derived files that are old or damaged are made anew."""
    at = now or datetime.now(UTC)
    records = read_collection(workspace, explain=False, now=at).records
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
    return Watch(at, [one for part in parts for one in part])


def _log(workspace: Workspace, now: datetime) -> tuple[LoopLog, list[Finding]]:
    """Return the event log, or an empty one and what keeps it from being read."""
    try:
        return loop_log(workspace, now=now.timestamp()), []
    except OrbitError as error:
        place = workspace.relative(workspace.state / "log")
        empty = LoopLog(Location(place))
        return empty, [Finding("problem", "log-unreadable", error.message, place, error.hint)]


def _store(workspace: Workspace, records: RecordSet, now: datetime) -> Iterator[Finding]:
    """Yield whether there are records, and whether there are far fewer than there were."""
    count, most = len(records), _most(workspace, now)
    place = workspace.relative(workspace.orbit)
    if not count:
        had = "git status .orbit, then git restore .orbit"
        hint = had if most else f"orbit adr add, or orbit learning add; where there were records {had}"
        yield Finding("problem", "store-empty", "there is no record", place, hint)
    elif most - count >= 3 and count < SHRUNKEN * most:
        said = f"{count} records, and there were {most}"
        yield Finding("problem", "store-shrunken", said, place, "git log --stat -- .orbit")
    else:
        yield Finding("ok", "store", f"{count} records", place)
    if count >= most:
        folder = Path(private_folder(str(workspace.root), "log"))
        write_atomic(folder / MEMORY, json.dumps({"records": count, "at": now.timestamp()}))


def _most(workspace: Workspace, now: datetime) -> int:
    """Return how many records there were at most within the last days; 0 where nobody looked."""
    try:
        said = json.loads(read_bytes(workspace.state / "log" / MEMORY, limit=1000))
        recent = now.timestamp() - float(said["at"]) < REMEMBERED.total_seconds()
        return int(said["records"]) if recent else 0
    except (OrbitError, ValueError, TypeError, KeyError, RecursionError):
        return 0


def _derived(workspace: Workspace, log: LoopLog, now: datetime) -> Iterator[Finding]:
    """Yield whether snapshot and push index are there, whole and young; heals them where they are not."""
    index = open_index(workspace)
    built = last_built(workspace)
    place = workspace.relative(workspace.cache)
    hours = workspace.config.setting(SECTION, "stale_hours")
    found = Finding("ok", "sync", "snapshot and push index are there", place)
    if built is None:
        found = Finding("warning", "derived-missing", "there is no snapshot, or it is damaged", place)
    elif not isinstance(index, Index):
        found = Finding("warning", "derived-missing", f"there is no push index that can be used: {index.reason}", place)
    elif not is_whole(index):
        found = Finding("warning", "derived-missing", "the push index is damaged", place)
    else:
        last = max([built, *(one.at for one in log.of(SYNCED))])
        age = now - datetime.fromtimestamp(last, UTC)
        if age > timedelta(hours=hours):
            said = f"the last sync was {age // timedelta(hours=1)} hours ago, and {hours} are admitted"
            found = Finding("warning", "sync-stale", said, place)
    yield found if found.level == "ok" else _healed(workspace, found)


def _healed(workspace: Workspace, found: Finding) -> Finding:
    """Bring the derived files up to date, anew where one was missing, and return what came of it."""
    try:
        done = sync(workspace, rebuild=found.topic == "derived-missing")
    except OrbitError as error:
        said = f"{found.what}; making it anew failed: {error.message}"
        return replace(found, level="problem", what=said, next_step=error.hint)
    write_event(workspace, SYNCED, [], done.counted())
    return replace(found, what=f"{found.what}; it was made anew now")


def _events(log: LoopLog) -> Iterator[Finding]:
    """Yield whether what was dispatched was looked up for, and whether turns left notes."""
    place = log.place.path
    dispatches = sum(1 for _ in log.of(DISPATCHED, TURN_END, "subagent stop"))
    retrievals = sum(1 for _ in log.of(RETRIEVAL))
    if dispatches and not retrievals:
        said = f"{dispatches} dispatches and turns, and nothing was looked up for any"
        yield Finding("problem", "retrieval-zero", said, place, "orbit hook status")
    else:
        yield Finding("ok", "retrieval", f"{retrievals} retrievals, {dispatches} dispatches and turns", place)
    missing = [ended for ended, note in turns(log) if note is None]
    if missing:
        said = f"{len(missing)} of {sum(1 for _ in log.of(TURN_END))} turns have neither a note nor a reason"
        yield Finding("warning", "turn-drift", said, place, "orbit check --loop")


def _failures(records: RecordSet, now: datetime) -> Iterator[Finding]:
    """Yield the targets that are left alone, and those that may be tried again."""
    open_ones = [one for one in records.of_kind(FAILURE) if one.phase == "live"]
    over = [one for one in open_ones if (end := expires_at(one)) is not None and end <= now]
    held = [one for one in open_ones if one not in over]
    for topic, said, ones in (
        ("failure-open", "left alone", held),
        ("failure-expired", "over, to be tried again", over),
    ):
        if ones:
            named = _named([str(target_of(one)) for one in ones])
            count = "1 failed target is" if len(ones) == 1 else f"{len(ones)} failed targets are"
            yield Finding("ok", topic, f"{count} {said}: {named}", "", f"orbit show {ones[0].id}")


def _waiting(workspace: Workspace, records: RecordSet, now: datetime) -> Iterator[Finding]:
    """Yield what has waited for review for longer than it should."""
    days = workspace.config.setting(SECTION, "queue_days")
    limit = now - timedelta(days=days)
    old = [one for one in queue(records) if (made := _made(one)) is not None and made < limit]
    if old:
        said = f"{len(old)} records have waited for review for more than {days} days: {_named([one.id for one in old])}"
        yield Finding("warning", "queue-old", said, "", "orbit queue")


def _unconsolidated(workspace: Workspace, records: RecordSet) -> Iterator[Finding]:
    """Yield whether more learnings than admitted stand alone: nothing in force or waiting was derived from them."""
    most = workspace.config.setting(SECTION, "learnings")
    open_ones = [one for one in records if one.phase != "closed"]
    consolidated = {link.to for one in open_ones for link in one.links if link.rel == "derived_from"}
    alone = [one for one in open_ones if _is_learning(one) and one.id not in consolidated]
    if len(alone) > most:
        said = f"{len(alone)} learnings are unconsolidated, and {most} are admitted"
        yield Finding("warning", "learnings-many", said, "", "orbit propose")


def _made(record: Record) -> datetime | None:
    try:
        return parse_time(record.text("created_at") or "")
    except ValueError:
        return None


def _is_learning(record: Record) -> bool:
    return record.kind.name == "learning" and record.phase == "live"


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
