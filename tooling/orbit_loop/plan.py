"""Plan brief for the next run; a source that is missing,
slow or malformed is `unknown` with a warning.
"""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from orbit_loop.retro import failures
from orbit_loop.retro.ensure import refuse_constant
from orbit_loop.retro.form import COMMAND_PURPOSE, COMPLETED, FAILED, Outcome, recorded_outcome
from orbit_loop.retro.keep import KIND as RETRO
from orbit_registry.checks.review.review import queue
from orbit_registry.errors import OrbitError, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line, inert_text
from orbit_registry.formats.values import with_texts
from orbit_registry.hook import events
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.event_log import log_files, logged_events, write_event
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    inside,
    read_object,
    read_text,
    write_atomic,
)
from orbit_registry.workspace.trusted_commands import run_program
from orbit_registry.workspace.workspace import Workspace

UNKNOWN = "unknown"
_FORMS: Mapping[str, type] = {
    "active_loops": list,
    "system_health": dict,
    "capacity": dict,
    "work_items": list,
}
MOST_RETROS, MOST_PITCHES, MOST_EVENTS, MOST_LISTED, MOST_WAITING = 10, 20, 50, 10, 5
SECONDS = 5.0  # timeout of a source; all are asked at once
_NEWS = frozenset(events.DONE) - {
    events.OPENED,
    events.LOADED,
    events.BRIEF_PLAN,
    events.OUTCOME,
    events.SYNCED,
    events.WITHHELD,
}
"""Events that matter for planning."""


@dataclass(slots=True)
class Sources:
    """Values of the project's own sources, and warnings for those without."""

    values: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """Return the value of a source, or `unknown`."""
        return self.values.get(name, UNKNOWN)


_NO_SOURCE = "no source is configured: a file or a command in .orbit/config.yaml"


def ask_sources(workspace: Workspace, names: Sequence[str]) -> Sources:
    """Read the sources in `brief.sources`: the JSON of a file, or of a command's output."""
    configured = workspace.config.setting("brief", "sources")
    answers = Sources()

    def asked(name: str) -> tuple[str, Any, str]:
        source = configured.get(name)
        if not source:
            return name, None, "" if name == "capacity" else _NO_SOURCE

        origin = str(source.get("file", "its command"))
        try:
            text = _text(workspace, name, source)
            value = json.loads(text, parse_float=_finite, parse_constant=refuse_constant)
            value = _sanitised(value)
        except OrbitError as error:
            return name, None, error.message
        except (ValueError, RecursionError):
            return name, None, f"{origin} says no JSON"

        if isinstance(value, Mapping) and name in value:  # one program may print several sections
            value = value[name]
        if not isinstance(value, _FORMS[name]):
            return name, None, f"{origin} says no {'list' if _FORMS[name] is list else 'mapping'}"

        return name, value, ""

    with ThreadPoolExecutor(len(names)) as pool:
        for name, value, fault in pool.map(asked, names):
            if fault:
                answers.warnings.append(f"brief.sources.{name}: {without_secrets(fault)}")
            elif value is not None:
                answers.values[name] = value

    return answers


def _text(workspace: Workspace, name: str, source: Mapping[str, Any]) -> str:
    if "file" in source:
        return read_text(inside(workspace.root, str(source["file"])), limit=DOCUMENT_LIMIT)
    return run_program(workspace, f"brief.sources.{name}", SECONDS)


def _sanitised(value: Any) -> Any:
    return with_texts(
        value,
        lambda text: inert_text(without_secrets(text)),
        lambda name: inert_line(without_secrets(name)),
    )


def _finite(number: str) -> float:
    """Return a number; `1e999` reads as infinity, which JSON can't hold."""
    value = float(number)
    if not isfinite(value):
        raise ValueError(number)

    return value


def plan_brief(
    workspace: Workspace,
    records: RecordSet,
    now: datetime,
    related: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
) -> Mapping[str, Any]:
    """Return what to know before planning, and log the event;
    `related` gives the learnings for the work ahead.
    """
    answers = ask_sources(workspace, ("active_loops", "system_health", "capacity"))
    warnings = list(answers.warnings)
    history, news, watermark = _log(workspace, now, warnings)
    retros = recent_retros(records)

    try:
        learnings = [*related()] if related is not None else _derived(records, retros)
    except OrbitError as error:
        learnings = []
        warnings.append(f"related_learnings: {error.message}")

    data: dict[str, Any] = {"generated_at": format_time(now)}
    data["recent_retros"] = [_retro(retro) for retro in retros]
    data |= _experience(records)
    data["active_loops"] = answers.get("active_loops")
    data["failed_targets"] = failed_targets(records, now)
    data["recent_pitch_history"] = history
    data["system_health"] = answers.get("system_health")
    data["capacity"] = capacity(workspace, answers)
    data["related_learnings"] = learnings
    data["queue"] = _queue(records)
    data["recent_events"] = {"after": watermark, "events": news}
    data["warnings"] = warnings

    availability = {name: data[name] != UNKNOWN for name in ("active_loops", "system_health")}
    details = {"known": availability, "failed_targets": len(data["failed_targets"])}
    write_event(
        workspace, events.BRIEF_PLAN, [retro.id for retro in retros], details, surface="brief:plan"
    )

    cleaned: Mapping[str, Any] = _sanitised(data)
    return cleaned


def _queue(records: RecordSet) -> dict[str, Any]:
    waiting = queue(records)
    kinds = Counter(record.kind.name for record in waiting)
    longest = []
    for record in sorted(waiting, key=_since)[:MOST_WAITING]:
        head = {"id": record.id, "kind": record.kind.name, "title": record.title}
        longest.append({**head, "since": _since(record)})

    by_kind = dict(sorted(kinds.items()))
    return {"count": len(waiting), "by_kind": by_kind, "longest_waiting": longest}


def _since(record: Record) -> str:
    return record.text("created_at") or ""


def recent_retros(records: RecordSet) -> list[Record]:
    """Return the live retros, the latest first."""
    retros = [retro for retro in records.of_kind(RETRO) if retro.phase == "live"]
    return sorted(retros, key=lambda retro: (retro.text("date") or "", retro.id), reverse=True)[
        :MOST_RETROS
    ]


def _retro(record: Record) -> dict[str, Any]:
    target = failures.target_from(record.data.get("trigger"))
    results = [outcome.came_to for outcome in outcomes_of(record)]
    return {
        "loop_id": target.id if target.type == "loop" else f"{target.type}:{target.id}",
        "summary": record.text("summary") or record.title,
        "stories_completed": results.count(COMPLETED),
        "stories_failed": results.count(FAILED),
        "date": record.text("date"),
    }


def _experience(records: RecordSet) -> dict[str, list[dict[str, Any]]]:
    tools: dict[str, Counter[str]] = defaultdict(Counter)
    tried: dict[int, Counter[str]] = defaultdict(Counter)
    live = [record for record in records.of_kind(RETRO) if record.phase == "live"]
    for outcome in chain.from_iterable(map(outcomes_of, live)):
        is_command = outcome.target.type == COMMAND_PURPOSE
        if outcome.result not in (COMPLETED, FAILED) or outcome.attempts == 0 or is_command:
            continue

        for tool in outcome.tools:
            tools[tool][outcome.result] += 1

        if outcome.attempts is not None:
            tried[outcome.attempts][outcome.result] += 1

    def rank(name: str) -> tuple[float, int, str]:
        return -tools[name][COMPLETED] / tools[name].total(), -tools[name].total(), name

    return {
        "tools": [
            {"tool": name, **_ended(tools[name])} for name in sorted(tools, key=rank)[:MOST_LISTED]
        ],
        "attempts": [
            {"attempts": many, **_ended(tried[many])} for many in sorted(tried)[:MOST_LISTED]
        ],
    }


def _ended(count: Counter[str]) -> dict[str, int]:
    return {COMPLETED: count[COMPLETED], FAILED: count[FAILED]}


def outcomes_of(record: Record) -> list[Outcome]:
    """Return the outcomes of a recorded retro."""
    data: Mapping[str, Any] = record.data
    return list(map(recorded_outcome, data.get("outcomes", ())))


def failed_targets(records: RecordSet, now: datetime) -> list[dict[str, object]]:
    """Return the targets with an open failure: why, how often it was tried, and until when."""
    states = (failures.state(record, now) for record in failures.open_failures(records, now))
    return sorted(states, key=lambda state: str(state["target"]))


def capacity(workspace: Workspace, sources: Sources) -> dict[str, object]:
    """Return how many loops run, may run, and could be started;
    a source overrides the configuration.
    """
    reported, loops = sources.get("capacity"), sources.get("active_loops")
    limits: Mapping[str, Any] = reported if isinstance(reported, Mapping) else {}
    usual = workspace.config.setting("loop", "max_concurrent_loops")
    most = _count(limits.get("max_concurrent_loops"), usual)
    active = _count(limits.get("active_loops"), len(loops) if isinstance(loops, list) else UNKNOWN)
    free = max(0, most - active) if isinstance(most, int) and isinstance(active, int) else UNKNOWN

    return {"active_loops": active, "max_concurrent_loops": most, "available": free}


def _count(value: object, other: int | str) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value

    return other


def _log(
    workspace: Workspace, now: datetime, warnings: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str | None]:
    history: deque[dict[str, Any]] = deque(maxlen=MOST_PITCHES)
    news: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)
    watermark: str | None = None
    try:
        for event in logged_events(log_files(workspace.state), now.timestamp()):
            row = event.row
            if event.kind == events.PITCHED:
                news.clear()
                watermark = str(row.get("at"))
                if row.get("verdict") in ("approved", "rejected"):
                    names = ("target", "verdict", "by")
                    words = {name: str(row.get(name) or "")[:300] for name in names}
                    history.append({"at": watermark, **words})
            elif event.kind in _NEWS:
                listed, target = row.get("ids"), row.get("target")
                if isinstance(listed, list):
                    ids = [str(record_id)[:100] for record_id in listed[:20]]
                else:
                    ids = []

                details = {"target": target[:300]} if isinstance(target, str) else {}
                news.append({"at": str(row.get("at")), "event": event.kind, "ids": ids, **details})
    except OrbitError as error:
        warnings.append(f"recent_events: {error.message}")

    return [*reversed(history)], [*news], watermark


def _derived(records: RecordSet, retros: Iterable[Record]) -> list[dict[str, Any]]:
    ids = {retro.id for retro in retros}
    live = [learning for learning in records.of_kind("learning") if learning.phase == "live"]
    learnings = [learning for learning in live if ids & learning.linked("derived_from")]
    learnings.sort(
        key=lambda learning: (learning.text("updated_at") or "", learning.id), reverse=True
    )

    return [
        {"id": entry.id, "summary": entry.title, "path": entry.path}
        for entry in learnings[:MOST_LISTED]
    ]


def write_plan(file: Path, data: Mapping[str, Any]) -> bool:
    """Write a plan brief unless only `generated_at` differs; return whether it was written."""
    current = read_object(file, limit=DOCUMENT_LIMIT)
    new = json.loads(json.dumps(data))
    if {**current, "generated_at": ""} == {**new, "generated_at": ""}:
        return False

    write_atomic(file, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    return True


def plan_text(data: Mapping[str, Any], of_work: str = "") -> str:
    """Return a plan brief as text; `of_work` is the brief for the work ahead, which has its
    learnings.
    """
    free, waiting, news = data["capacity"], data["queue"], data["recent_events"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in waiting["by_kind"].items())
    failed = [{**entry, "until": entry["until"] or "cleared"} for entry in data["failed_targets"]]

    retro = (
        "{date:.10}  {loop_id}  {stories_completed} completed, {stories_failed} failed: {summary}"
    )
    ended = "{completed} completed, {failed} failed"
    room = f"{free['available']} of {free['max_concurrent_loops']} free"
    lines = [f"capacity: {room}, {free['active_loops']} active"]
    lines += _section("recent retros", data["recent_retros"], retro)
    lines += _section("tools", data["tools"], f"{{tool}}: {ended}")
    lines += _section("by attempts", data["attempts"], f"{{tries}}: {ended}")
    lines += _section("active loops", data["active_loops"])
    lines += _section("left alone", failed, "{target} ({tries}), until {until}: {reason}")
    pitch = "{at:.10}  {target} {verdict} by {by}"
    lines += _section("pitched before", data["recent_pitch_history"], pitch)
    lines.append(f"system health: {_words(data['system_health'])}")
    if not of_work:
        lines += _section("learnings of these retros", data["related_learnings"], "{id}  {summary}")
    lines.append(f"queue: {waiting['count']} waiting" + (f" ({kinds})" if kinds else ""))
    lines.append(f"events since {news['after'] or 'the log began'}: {len(news['events'])}")
    if of_work:
        lines += ["", of_work]
    return "\n".join(lines)


def _section(name: str, entries: Any, form: str = "") -> list[str]:
    if not isinstance(entries, list) or not entries:
        return [f"{name}: {entries or 'none'}"]
    lines = []
    for entry in entries:
        tries = plural(entry["attempts"], "attempt") if "{tries}" in form else ""
        lines.append(form.format(**entry, tries=tries) if form else _words(entry))
    return [f"{name}:", *(f"  {line}" for line in lines)]


def _words(content: Any) -> str:
    is_mapping = isinstance(content, Mapping)
    if is_mapping:
        return ", ".join(f"{name} {value}" for name, value in content.items())

    return str(content)
