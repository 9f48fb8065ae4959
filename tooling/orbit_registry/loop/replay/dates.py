"""Says by the dates in records which of them stood when, where no history of their files tells; it asks no git."""

from __future__ import annotations

import calendar
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from orbit_registry.loop.replay.past import DATES, Past, Step, Touch, Version
from orbit_registry.records.record import Record
from orbit_registry.records.vote import moment

ACCEPTED = ("accepted_at", "x-accepted_at")
"""Fields in which decisions that were taken over keep when they were accepted."""
_CREATED, _DATE, _ACCEPTED, _NONE = "created_at", "date", "accepted_at", "no date"


def past_by_dates(touches: Sequence[Touch], records: Sequence[tuple[Record, bool]]) -> Past:
    """Return a history in which each record stands from when its fields say it did; pairs are records and `has_body`.

    It is the record of today, with today's scope and text: only its times are of then.
    """
    by_id = {record.id: record for record, _ in records}
    versions: list[Version] = []
    turns: list[tuple[float, int]] = []
    used: Counter[str] = Counter()
    for record, has_body in records:
        if record.phase == "pending":
            continue
        start, field = _begin(record)
        used[field] += 1
        if field != _NONE:
            place = len(versions)
            versions.append(Version(_as_live(record), has_body))
            turns += (start, 1 << place), (_end(record, by_id), 1 << place)
    return Past(DATES, versions, _steps(touches, turns), tuple(_notes(used, records)))


def _notes(used: Mapping[str, int], records: Sequence[tuple[Record, bool]]) -> Iterable[str]:
    """Yield what counted as a record's beginning, and what today's state hides."""
    named = [f"{used[field]} by {field}" for field in (_CREATED, _DATE, _ACCEPTED) if used[field]]
    yield f"records begin: {', '.join(named) or 'none'}"
    if used[_NONE]:
        yield f"{used[_NONE]} state no time at all and were left out"
    waiting = sum(record.phase == "pending" for record, _ in records)
    if waiting:
        yield f"{waiting} wait today and were never shown"
    yield "scopes, texts and votes are today's"


def _steps(touches: Sequence[Touch], turns: list[tuple[float, int]]) -> list[Step]:
    """Return the commits with what stood before each; at a turn a version begins or ends."""
    turns.sort()
    times = [at for at, _ in turns]
    masks = [0]
    for _, bit in turns:
        masks.append(masks[-1] ^ bit)
    return [Step(touch, masks[bisect_left(times, touch.at)]) for touch in touches]


def _as_live(record: Record) -> Record:
    """Return a closed record as it was while it held; it stands for a while only."""
    if record.phase == "live":
        return record
    held = next((status.name for status in record.kind.statuses.values() if status.phase == "live"), None)
    return record if held is None else replace(record, data={**record.data, "status": held})


def _begin(record: Record) -> tuple[float, str]:
    """Return from when a record could be shown, and the field that says so; of a bare day its end."""
    for name in ACCEPTED:
        accepted = _time(record.text(name))
        if accepted is not None:
            return accepted, _ACCEPTED
    created, dated = _time(record.text("created_at")), _time(record.text("date"))
    if created is not None and (dated is None or created <= dated):
        return created, _CREATED
    return (dated, _DATE) if dated is not None else (math.inf, _NONE)


def _end(record: Record, by_id: Mapping[str, Record]) -> float:
    """Return until when a record could be shown: its successor's beginning, else its last change."""
    if record.phase == "live":
        return math.inf
    successors = [by_id[one] for one in record.superseded_by if one in by_id]
    begun = [start for start, field in map(_begin, successors) if field != _NONE]
    changed = _time(record.text("updated_at"))
    start = _begin(record)[0]
    return max(start, min([*begun, *([changed] if changed is not None else [])], default=start))


def _time(text: str | None) -> float | None:
    """Return a time in seconds since 1970: a moment as it is, of a day, a month or a year its end; None for others."""
    if text is None:
        return None
    try:
        if "T" in text or " " in text:
            return moment(text).timestamp()
        year, month, day = (*map(int, text.split("-")), 0, 0)[:3]
        month = month or 12
        last = day or calendar.monthrange(year, month)[1]
        return datetime(year, month, last, tzinfo=UTC).timestamp() + 86_400
    except (ValueError, OverflowError):
        return None
