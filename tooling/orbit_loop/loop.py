"""Checks of the loop's event log (9xx)."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from orbit_loop.log import LoopContext, LoopEvent, LoopLog
from orbit_registry.checks.check import all_checks, check, run_checks
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.errors import plural
from orbit_registry.formats.position import Position
from orbit_registry.hook.events import (
    BRIEF_PLAN,
    DISPATCHED,
    NAME,
    NAMES,
    NOTE_SKIPS,
    NOTED,
    PITCHED,
    RETRIEVAL,
    RETRO,
)
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.reach import SKIPS, TRIAL
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events
from orbit_registry.workspace.workspace import Workspace

DAY = 86_400


def _events(context: CheckContext, *names: str) -> Iterator[LoopEvent]:
    """Yield the events of some names; none where the loop is not what is checked."""
    log = _log(context)
    if log is not None:
        yield from log.of(*names)


def _log(context: CheckContext) -> LoopLog | None:
    if isinstance(context, LoopContext):
        return context.log

    return None


@check(
    "ORB901",
    Severity.ERROR,
    "see that a hook is installed (`orbit hook status`) and that the log of the run is the one "
    "that is named",
)
def no_events(context: CheckContext) -> Iterator[Diagnostic]:
    """The event log is missing or empty: what was not written down counts as not done."""
    log = _log(context)
    if log is not None and not log.events:
        yield no_events.at(log.location, "no event is there to tell by")


# How many lines, by reason, and the first event of each unknown name.
@check(
    "ORB902",
    Severity.WARNING,
    "the program that writes it has to follow docs/schemas/event.schema.json; a killed process "
    "leaves a torn line",
)
def no_event(context: CheckContext) -> Iterator[Diagnostic]:
    """A line of the event log is torn, foreign or of an unknown name, and counts for nothing."""
    log = _log(context)
    if log is None:
        return

    for reason, count in sorted(log.skipped.items()):
        yield no_event.at(log.location, f"{plural(count, 'line')} of the log: {reason}")

    unknown = [event for event in log.events if event.name not in NAMES]
    counts = Counter(event.name for event in unknown)
    for event in {event.name: event for event in reversed(unknown)}.values():
        yield no_event.at(
            event.location, f"`{event.name}` is not a known event ({counts[event.name]} of them)"
        )


# A turn's end is a dispatch too.
@check(
    "ORB910",
    Severity.ERROR,
    "put `orbit brief` in front of what is dispatched, with `--session`, or install the hook: "
    "`orbit hook install`",
)
def dispatch_without_retrieval(context: CheckContext) -> Iterator[Diagnostic]:
    """A dispatch has no retrieval event, so its agent got no records."""
    with_retrieval = {event.word("session") for event in _events(context, RETRIEVAL)}
    reported: set[str] = set()
    for event in _events(context, DISPATCHED, TURN_END, "subagent stop"):
        session = event.word("session")
        item = event.word("item")
        if session and (session in with_retrieval or session in reported):
            continue
        reported.add(session)
        subject = f"session {session}" if session else "a dispatch that names no session"
        if item:
            subject += f" ({item})"
        message = f"{subject}: nothing was looked up for it"
        yield dispatch_without_retrieval.at(event.location, message)


@check(
    "ORB911",
    Severity.ERROR,
    "write a reason that docs/reference/push.md in Orbit's documentation lists; for a fault, "
    "run `orbit doctor`",
)
def retrieval_without_reason(context: CheckContext) -> Iterator[Diagnostic]:
    """A retrieval showed nothing and gives no reason of the closed list."""
    for event in _events(context, RETRIEVAL):
        reason = event.word("skip_reason")
        fault = event.word("fault")
        if event.row.get("hits") or reason in SKIPS:
            continue

        problem = "nothing was shown, and no reason is given"
        if reason:
            problem = f"`{reason}` is not a known reason"
        if fault:
            problem += f" (fault: {fault})"
        yield retrieval_without_reason.at(event.location, problem)


@check("ORB920", Severity.ERROR, f"one of: {', '.join(NOTE_SKIPS)}")
def turn_without_note(context: CheckContext) -> Iterator[Diagnostic]:
    """A turn ended with neither a note nor a reason of the closed list for there being none."""
    log = _log(context)
    if log is None:
        return

    for ended, note in turns(log):
        turn = _turn_of(ended)
        if note is None:
            hint = f'orbit note "…" --turn {turn}, or with --skip-reason'
            yield turn_without_note.at(ended.location, f"turn {turn} has no note", hint=hint)
            continue

        reason = note.word("skip_reason")
        if reason and reason not in NOTE_SKIPS:
            message = f"turn {turn}: `{reason}` is not a known reason"
            yield turn_without_note.at(note.location, message)


@check(
    "ORB930",
    Severity.ERROR,
    "no retro, no next item: run `orbit retro` when an item ends, and this check before the "
    "next one",
)
def item_without_retro(context: CheckContext) -> Iterator[Diagnostic]:
    """The next item of a loop was dispatched before a retro of the one before it."""
    before: dict[str, LoopEvent] = {}
    for event in _events(context, DISPATCHED, RETRO):
        if event.name == RETRO:
            trigger, _, about = event.word("trigger").partition(":")
            # A retro is about one loop, named with its project or without, or about all.
            names = ("", about, about.rpartition(":")[2])
            if trigger != "loop" or not about:
                before.clear()
            before = {loop: item for loop, item in before.items() if loop not in names}
            continue

        item = event.word("item")
        loop = event.word("loop")
        other = before.get(loop)
        if item and other is not None and other.word("item") != item:
            message = f"{item} was dispatched before a retro of {other.word('item')}"
            yield item_without_retro.at(event.location, message, related=(other.location,))

        if item:
            before[loop] = event


# A verdict on a pitch is none.
@check("ORB931", Severity.ERROR, "no brief, no pitch: run `orbit brief --for plan` first")
def pitch_without_brief(context: CheckContext) -> Iterator[Diagnostic]:
    """Something was pitched without a brief for planning made in the day before."""
    last = None
    for event in _events(context, BRIEF_PLAN, PITCHED):
        if event.name == BRIEF_PLAN:
            last = event
        elif event.word("verdict") or event.row.get("pitched") == 0:
            continue  # it was decided on, or nothing was pitched
        elif last is None:
            yield pitch_without_brief.at(event.location, "it was pitched without a brief")
        elif event.at - last.at > DAY:
            hours = int((event.at - last.at) // 3600)
            message = f"it was pitched by a brief of {plural(hours, 'hour')} ago"
            yield pitch_without_brief.at(event.location, message, related=(last.location,))


TURN_END = "stop"


def turn_id(source: str, agent: str, channel: str, session: str, turn: str) -> str:
    """Return the id of a turn: equal parts give the same id,
    and no part can contain the separator.
    """
    return ":".join(
        re.sub(r"[: \t\n\r]", "-", part) or "-" for part in (source, agent, channel, session, turn)
    )


def _turn_of(ended: LoopEvent) -> str:
    """Return the id of the turn that an event ended:
    by its time, so that a cut log changes no id.
    """
    return turn_id(
        "hook",
        ended.word("agent"),
        ended.word("surface").rpartition(":")[2],
        ended.word("session"),
        str(int(ended.at)),
    )


def turns(log: LoopLog) -> Iterator[tuple[LoopEvent, LoopEvent | None]]:
    """Yield each turn's end, and its note: one that names it,
    else the last that its session made in it.
    """
    by_turn = {event.word("turn"): event for event in log.of(NOTED) if event.word("turn")}
    noted: dict[str, LoopEvent] = {}
    for event in log.of(NOTED, TURN_END):
        session = event.word("session")
        if event.name == NOTED:
            if session:
                noted[session] = event
        else:
            yield event, by_turn.get(_turn_of(event)) or noted.pop(session, None)
            noted.pop(session, None)


def check_loop(
    workspace: Workspace, events: Path | None = None, days: int | None = None
) -> CheckOutcome:
    """Return whether the loop was kept to, by the workspace's log or a file of events,
    of the last so many days.
    """
    now = time.time()
    log = loop_log(workspace, events, now - days * DAY if days is not None else 0.0, now)
    context = LoopContext(workspace, Reading(workspace), config=workspace.config, log=log)
    checks = [check for check in all_checks() if check.code.startswith("ORB9")]

    return CheckOutcome(
        tuple(run_checks(context, checks=checks)), checked_count=len(log.events), subject="event"
    )


def loop_log(
    workspace: Workspace, events: Path | None = None, since: float = 0.0, now: float | None = None
) -> LoopLog:
    """Return the events since a time, in seconds since 1970, with their places;
    see `check_loop`.
    """
    now = time.time() if now is None else now
    log = workspace.state / "log" / NAME
    files = [events] if events is not None else log_files(workspace.state)
    names = {file.name: _name(workspace, file) for file in (*files, log)}
    scan = LogScan()
    logged = [
        LoopEvent(event.at, event.row, Location(names[scan.files[-1]], Position(scan.line)))
        for event in logged_events(files, now, scan)
        if event.at >= since and not event.session.startswith(TRIAL)  # a trial of `doctor`
    ]

    newest = files[-1].name if files else NAME
    return LoopLog(Location(names[newest]), tuple(logged), dict(scan.skipped))


def _name(workspace: Workspace, file: Path) -> str:
    try:
        return file.resolve().relative_to(workspace.root).as_posix()
    except ValueError:
        return file.as_posix()
