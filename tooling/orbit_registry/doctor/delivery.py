"""Examines whether what was shown arrived: the event log's own state, and transcripts; it says ids and counts alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orbit_registry.doctor.finding import Finding, Level
from orbit_registry.errors import OrbitError
from orbit_registry.loop.stats.count import Counting, Tally
from orbit_registry.loop.stats.event_log import LogState, Said, log_files, said_in
from orbit_registry.loop.transcripts.delivery import AGENTS, Delivery, claims, deliveries, without_event
from orbit_registry.store.workspace import Workspace

LATE_SHARE = 0.01
NAMED = 5


def examined(workspace: Workspace, agent: str | None, installed: bool, found: list[Delivery]) -> Iterator[Finding]:
    """Yield what is found of the log and of transcripts, of one agent or of all; `found` is filled in on the way."""
    log = str(workspace.state / "log")
    try:
        files, now = log_files(workspace.state), time.time()
        met = LogState()
        tally = Counting(None, {}, 0).add_all(said_in(files, now, met))
        shown = claims(said_in(files, now, LogState()))
    except OrbitError as error:
        yield Finding("problem", "log", error.message, log, error.hint)
        return
    yield from _log(tally, met, log, installed)
    names = [name for name in AGENTS if agent in (None, name)]
    found += deliveries(workspace.root, shown, names)
    yield from _transcripts(workspace.root, shown, found, tally, names)


def _log(tally: Tally, met: LogState, log: str, installed: bool) -> Iterator[Finding]:
    whole = tally.whole
    if not whole.calls:
        level: Level = "warning" if installed else "ok"
        yield Finding(
            level, "log", "no call is in the event log", log, "use the agent once, then ask again" if installed else ""
        )
        return
    quiet = 100 * (whole.calls - whole.speaking) / whole.calls
    yield Finding(
        "ok", "log", f"{whole.calls} calls, {quiet:.0f} % silent, {whole.shown} records shown", log, "orbit stats"
    )
    if met.skipped:
        why = ", ".join(f"{count} × {said}" for said, count in met.skipped.most_common())
        yield Finding("warning", "log", f"lines are no events: {why}", log)
    if whole.faults:
        why = ", ".join(f"{count} × {said}" for said, count in whole.faults.most_common())
        yield Finding("warning", "log", f"calls went wrong: {why}", log, "orbit stats")
    late = whole.skips["deadline"]
    if late > LATE_SHARE * whole.calls:
        said = f"{late} of {whole.calls} calls ran out of time and showed nothing"
        yield Finding("warning", "log", said, log, "set ORBIT_HOOK_DEADLINE_MS, or see what else the machine does")
    unready = whole.skips["no index"]
    if unready > LATE_SHARE * whole.calls:
        yield Finding("warning", "log", f"{unready} of {whole.calls} calls found no index", log, "orbit sync")


def _transcripts(
    root: Path, shown: Mapping[str, Sequence[Said]], found: Sequence[Delivery], tally: Tally, names: Sequence[str]
) -> Iterator[Finding]:
    if not shown:
        yield Finding("ok", "transcript", "no hook has shown anything yet, so there is nothing to read back")
    elif not found:
        some = f"none of {len(shown)} sessions that were" if len(shown) > 1 else "no session that was"
        said = f"{some} shown something has a transcript that can be read here"
        yield Finding("warning", "transcript", said, "", f"transcripts of {' and '.join(AGENTS)} are known")
    for one in found:
        if one.broken:
            said = f"session {one.session}: {one.broken} lines with a block can't be read"
            yield Finding("warning", "transcript", said, str(one.path))
        if one.missing:
            yield _missing(one)
    claimed, there = sum(one.claimed for one in found), sum(one.found for one in found)
    if claimed == there and found:
        more = sum(len(one.unclaimed) for one in found)
        beside = f"; {more} more stand there that the log does not name" if more else ""
        said = f"all {claimed} records that {len(found)} of {len(shown)} sessions were shown stand in their transcripts"
        yield Finding("ok", "transcript", said + beside)
    if "claude" in names and tally.first is not None:
        sessions, known = without_event(root, tally.sessions, tally.first)
        if known < sessions:
            said = f"{sessions - known} of the {sessions} newest sessions of Claude Code here are not in the event log"
            yield Finding(
                "warning", "transcript", said, "", "orbit hook status claude; hooks may be switched off there"
            )


def _missing(one: Delivery) -> Finding:
    more = len(one.missing) - NAMED
    named = ", ".join(one.missing[:NAMED]) + (f" and {more} more" if more > 0 else "")
    counts = f"{one.found} of {one.claimed} records that were shown stand in its transcript"
    said = f"session {one.session} ({one.agent}): {counts}; missing {named}"
    if one.found:
        return Finding(
            "warning", "transcript", said, str(one.path), "orbit stats; the agent may have given up on a call"
        )
    return Finding("problem", "transcript", said, str(one.path), f"orbit hook test {one.agent}; it takes no answer")
