"""Retro from the event log, failures and transcripts of a run.

A loop is what was dispatched with its name and the sessions of that; an incident is a failure and
the sessions that met it. Targets are those of events, and the purposes of commands that failed.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from orbit_loop.capture.findings import Attempt, Pattern
from orbit_loop.capture.project import Project
from orbit_loop.capture.run import EVENTS, SourcedLesson, read_session, transcripts_of
from orbit_loop.retro import failures
from orbit_loop.retro.form import COMMAND_PURPOSE, COMPLETED, FAILED, REQUEUED, Outcome, Retro
from orbit_registry.errors import UsageError, plural
from orbit_registry.hook import events
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.event_log import log_files, logged_events
from orbit_registry.workspace.workspace import Workspace

_TARGET_EVENTS = (events.NOTED, events.FAILED, events.CLEARED, events.REQUEUED, events.DISPATCHED)
_NAME = re.compile(r"[\w.:/#@+~,-]{1,200}")
_MOST_ATTEMPTS = 100_000
_OR_SAY = "or say what came of it: --outcome story:S-1=failed"
_HINTS = {
    "loop": f"a loop is known by what was dispatched with its name; {_OR_SAY}",
    "session": f"`orbit events tail` names sessions; {_OR_SAY}",
    "incident": (
        f"an incident is known by a failure: its id, its target, or its evidence; {_OR_SAY}"
    ),
}


@dataclass(slots=True)
class GatheredRetro:
    """Retro of a run, its lessons, and lines that its sessions were shown."""

    retro: Retro
    lessons: list[SourcedLesson] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def summaries(self, *patterns: Pattern) -> tuple[str, ...]:
        """Return the summaries of lessons by pattern, each once."""
        return tuple(
            dict.fromkeys(
                lesson.summary for lesson, _ in self.lessons if lesson.pattern in patterns
            )
        )


def gather(workspace: Workspace, records: RecordSet, run: failures.Target) -> GatheredRetro:
    """Return the retro of a run from the event log, failures and transcripts."""
    gathered = GatheredRetro(Retro(run))
    failed = _failures(records, run) if run.type == "incident" else []
    rows, sessions = _events_of_run(
        workspace, run, {failures.target_of(failure) for failure in failed}
    )
    sources = _Sessions(ended=max((str(row["at"]) for _, row in rows), default=""))
    for agent, path in transcripts_of(workspace, EVENTS, None, sessions):
        sources.read(workspace, gathered, agent, path, sessions)

    if not (rows or sources.agents or failed):
        name = str(run).partition(":")[2]
        raise UsageError(
            f"nothing is known here of the {run.type} {name[:80]!r}", hint=_HINTS[run.type]
        )

    outcomes = {outcome.target: outcome for outcome in map(_failure_outcome, failed)}
    for outcome in _target_outcomes(records, rows, sources.agents, sources.accepted):
        outcomes[outcome.target] = outcome

    last = max((str(failure.data["updated_at"]) for failure in failed), default="")
    gathered.retro = replace(
        gathered.retro,
        date=sources.ended or last,
        summary=_summary(run, sources),
        outcomes=tuple(chain(outcomes.values(), _purpose_outcomes(sources.tried))),
        recommendations=_advice(sources.tried),
        struggled=gathered.summaries("recovery"),
        durable_behavior=gathered.summaries("sequence"),
        worked=gathered.summaries("fact", "discovery", "command"),
    )

    return gathered


@dataclass(slots=True)
class _Sessions:
    """What the sessions of a run tell: their agents, those that were accepted, and commands."""

    ended: str
    agents: dict[str, str] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    tried: list[Attempt] = field(default_factory=list)
    turns: int = 0

    def read(
        self,
        workspace: Workspace,
        gathered: GatheredRetro,
        agent: str,
        path: Path,
        sessions: Iterable[str],
    ) -> None:
        """Read a transcript, and add what it teaches to what was gathered."""
        read, observer, lessons = read_session(
            workspace, Project(workspace), agent, path, gathered.warnings
        )
        if read.skipped:
            return

        gathered.lessons += lessons
        gathered.recalled += read.session.recalled
        self.tried += observer.attempts()
        self.turns += read.session.turns

        name = next(session for session in sessions if session in path.name)
        self.agents[name] = agent
        if not read.session.rejected:
            self.accepted.add(name)

        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        self.ended = self.ended or format_time(changed)


def _advice(tried: Iterable[Attempt]) -> tuple[str, ...]:
    """Return what to write down for the purposes for which nothing worked."""
    advice: dict[str, None] = {}
    for attempt in tried:
        if not attempt.worked:
            way = f"Say how `{attempt.purpose}` is done here"
            advice[f"{way}: `{attempt.tools[0]}` failed, and nothing worked after it"] = None

    return tuple(advice)


def _failures(records: RecordSet, run: failures.Target) -> list[Record]:
    target = ":".join(filter(None, (run.project, run.id)))
    matches = []
    for failure in records.of_kind(failures.KIND):
        names = {failure.id, *(reference for _, reference in failure.evidence)}
        if run.id in names or str(failures.target_of(failure)) == target:
            matches.append(failure)

    return sorted(matches, key=lambda failure: str(failure.data["updated_at"]))


Row = tuple[str, Mapping[str, Any]]  # session, and the JSON object of an event in it


def _events_of_run(
    workspace: Workspace, run: failures.Target, failed: Collection[failures.Target]
) -> tuple[list[Row], list[str]]:
    """Return the events of a run and its sessions;
    an item belongs to the loop that dispatched it last.
    """
    items: dict[str, str] = {}
    served: dict[str, str] = {}
    run_rows: list[Row] = []
    sessions = {run.id: None} if run.type == "session" else {}

    for event in logged_events(log_files(workspace.state)):
        row = event.row
        session, item = event.session.partition(".")[0], _target_name(row)

        if event.kind not in (events.RETRIEVAL, *_TARGET_EVENTS, *events.MOMENTS):
            continue

        if run.type == "session":
            is_of_run = session == run.id
        elif run.type == "incident":
            is_of_run = event.kind in _TARGET_EVENTS and _parse_target(item) in failed
        else:
            loop = str(row.get("loop") or items.get(item) or served.get(session) or "")
            if event.kind == events.DISPATCHED and loop:
                items[item] = loop
                served |= {session: loop} if session else {}
            is_of_run = loop == run.id

        if is_of_run:
            run_rows.append((session, row))
            sessions |= {session: None} if session else {}

    return run_rows, [*sessions]


def _target_name(row: Mapping[str, Any]) -> str:
    return str(row.get("target") or row.get("item") or row.get("task") or "")


def _parse_target(name: str) -> failures.Target | None:
    """Return the target of an event; None if the name is unsafe: any program may append events."""
    if not _NAME.fullmatch(name):
        return None
    try:
        return failures.read_target(name if ":" in name else f"task:{name}")
    except UsageError:
        return None


def _summary(run: failures.Target, sessions: _Sessions) -> str:
    if not sessions.agents:
        by = "its events" if run.type != "incident" else "failures and events"
        return f"known by {by} alone"

    counted = plural(sessions.turns, "turn")
    if run.type == "session":
        return f"{counted}, {'accepted' if sessions.accepted else 'the last turned down'}"

    rejected = len(sessions.agents) - len(sessions.accepted)
    return f"{plural(len(sessions.agents), 'session')} of {counted}, {rejected} turned down"


def _purpose_outcomes(tried: Iterable[Attempt]) -> Iterable[Outcome]:
    outcomes: dict[str, Outcome] = {}
    for attempt in tried:
        result, target = (
            COMPLETED if attempt.worked else FAILED,
            failures.Target(COMMAND_PURPOSE, "", attempt.purpose),
        )
        previous = outcomes.get(attempt.purpose, Outcome(target, result))
        attempts, tools = (
            attempt.attempts + (previous.attempts or 0),
            dict.fromkeys((*previous.tools, *attempt.tools)),
        )
        outcomes[attempt.purpose] = Outcome(target, result, attempts, tuple(tools), attempt.fault)

    return outcomes.values()


def _failure_outcome(failure: Record) -> Outcome:
    """Return the outcome in a failure record, in case the log was rotated."""
    result = FAILED if failure.phase == "live" else COMPLETED
    reason = failure.text("reason") or "" if result == FAILED else ""
    attempts = failure.data.get("attempts")

    return Outcome(
        failures.target_of(failure),
        result,
        attempts if isinstance(attempts, int) else 1,
        (),
        reason,
    )


def _target_outcomes(
    records: RecordSet, rows: Iterable[Row], agents: Mapping[str, str], accepted: Collection[str]
) -> Iterable[Outcome]:
    """Return the last outcome of each target; a dispatched item is completed if its session was
    accepted.
    """
    reasons = {
        failure.id: failure.text("reason") or "" for failure in records.of_kind(failures.KIND)
    }
    outcomes: dict[failures.Target, Outcome] = {}
    for session, row in rows:
        kind, target = row["event"], _parse_target(_target_name(row))
        if target is None or kind not in _TARGET_EVENTS:
            continue
        if kind == events.DISPATCHED and (target in outcomes or session not in accepted):
            continue

        previous, counted = outcomes.get(target, Outcome(target, COMPLETED, 1)), row.get("attempts")
        before = previous.attempts or 1
        if isinstance(counted, int) and counted <= _MOST_ATTEMPTS:
            attempts = max(before, counted)
        else:
            attempts = before

        failed = kind == events.FAILED or (kind == events.NOTED and row.get("failed") is True)
        result = FAILED if failed else COMPLETED
        if kind == events.REQUEUED:
            result = REQUEUED

        messages = (
            reasons[record_id]
            for record_id in row.get("ids") or ()
            if failed and record_id in reasons
        )

        tools = dict.fromkeys(previous.tools)
        if session in agents:
            tools[agents[session]] = None

        outcomes[target] = Outcome(target, result, attempts, tuple(tools), next(messages, ""))

    return outcomes.values()
