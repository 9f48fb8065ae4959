"""What agents were shown and what it cost, counted from the event log."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from orbit_measure.tables import tables
from orbit_registry.hook import render
from orbit_registry.hook.session import tokens
from orbit_registry.matching.match import current_index
from orbit_registry.model import fields
from orbit_registry.model.votes import format_time
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import LoggedEvent, LogScan, log_files, logged_events
from orbit_registry.workspace.workspace import Workspace

DAY = 86_400
_EXACT_MS = 1000.0
_FRAME = "\n".join((render.START, render.INTRODUCTION, render.END))
_logged = attrgetter(
    "at",
    "kind",
    "surface",
    "session",
    "agent",
    "shown",
    "opened",
    "failed",
    "omitted",
    "skip_reason",
    "fault",
    "ms",
    "tokens",
)
Record = tuple[str, str, int, bool, bool]
"""Id, title and tokens of a record, whether it can be shown, and whether it describes an error."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts of the event log, and how many records can be shown."""

    data: dict[str, Any]
    can_be_shown: int

    def as_data(self) -> dict[str, Any]:
        """Return the counts for JSON; the schema is docs/schemas/stats.schema.json."""
        return self.data


def stats(workspace: Workspace, days: int | None = None) -> Usage:
    """Count the events of the last days; the index is brought up to date."""
    now = time.time()
    since = None if days is None else now - days * DAY
    scan = LogScan()
    records = _records(workspace)
    data = counts(logged_events(log_files(workspace.state), now, scan), records, since)

    log = {
        "files": scan.files,
        "bytes": scan.size,
        "lines": scan.lines,
        "older": data.pop("older"),
        "skipped": dict(scan.skipped),
        "clock_set_back": scan.backwards,
    }
    times = {name: stamp(data.pop(name)) for name in ("first", "last")}
    return Usage(
        {"since": stamp(since), **times, "log": log, **data}, sum(record[3] for record in records)
    )


def counts(
    events: Iterable[LoggedEvent], records: Sequence[Record], since: float | None = None
) -> dict[str, Any]:
    """Return the counts of events, with the titles and costs of today's records."""
    with tables("sessions") as log:
        log.fill("logged", ((n, *_logged(event)) for n, event in enumerate(events)))
        log.fill("records", records)
        earliest = float("-inf") if since is None else since
        (whole,) = log.ask("log", since=earliest, frame=tokens(_FRAME))
        parts: dict[str, list[dict[str, Any]]] = {}
        for row in log.ask("usage"):
            parts.setdefault(row.pop("part"), []).append(_shortened(row))

        met, unseen = log.ask("met"), log.ask("unseen")

    (total,) = parts["total"]
    del total["name"]
    times = {name: whole.pop(name) for name in ("older", "first", "last")}
    days: list[dict[str, Any]] = []
    for row in sorted(parts.get("days", ()), key=lambda row: str(row["name"])):
        counted = {name: row[name] for name in ("calls", "speaking", "shown")}
        days.append({"day": row["name"], **counted})

    return {
        **times,
        **total,
        **whole,
        "surfaces": [{"surface": row.pop("name"), **row} for row in parts.get("surfaces", ())],
        "agents": [{"agent": row.pop("name") or None, **row} for row in parts.get("agents", ())],
        "days": days,
        "records": met,
        "never_shown": unseen,
    }


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its reasons counted, the most frequent first, and times of 3 digits."""
    for name in ("skip_reasons", "faults"):
        row[name] = dict(Counter(row[name] or ()).most_common())

    for name, ms in row["ms"].items():
        if ms is not None:
            row["ms"][name] = round(ms, 1) if ms < _EXACT_MS else float(f"{ms:.3g}")

    return row


def _records(workspace: Workspace) -> list[Record]:
    index = current_index(workspace)
    described = {
        record.id for record in read_collection(workspace).records if record.text("error_pattern")
    }
    records: dict[str, Record] = {}
    for row in map(index.row, reversed(range(index.records))):
        record_id = row.values[fields.ID]
        title = row.teaser.partition("\n")[0].removeprefix(f"- [{record_id}] ")
        cost, pushed = tokens(row.teaser) + 1, row.number < index.pushed
        records[record_id] = record_id, title, cost, pushed, record_id in described

    return list(records.values())


def stamp(at: float | None) -> str | None:
    """Return a time of the event log as JSON shows it."""
    if at is None:
        return None

    return format_time(datetime.fromtimestamp(at, UTC))
