"""The gate of the loop: reads the event log, or the file of a run, and asks the 9xx checks; it looks at no record."""

from __future__ import annotations

import time
from pathlib import Path

from orbit_registry.checks.check import all_checks, run_checks
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.rules.loop import Logged, LoopLog
from orbit_registry.formats.position import Position
from orbit_registry.hook.context import TRIAL
from orbit_registry.hook.events import NAME
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record_set import RecordSet
from orbit_registry.workspace.event_log import LogScan, log_files, rows_in
from orbit_registry.workspace.workspace import Workspace

FAMILY = "ORB9"
DAY = 86_400


def check_loop(workspace: Workspace, events: Path | None = None, days: int | None = None) -> CheckOutcome:
    """Return whether the loop was kept to, by the workspace's log or a file of events, of the last so many days.

    Raises:
        UnreadableFileError: the log or the file can't be read; one that is not there is a finding.
    """
    now = time.time()
    log = loop_log(workspace, events, now - days * DAY if days is not None else 0.0, now)
    context = CheckContext(RecordSet(()), workspace.kinds, workspace.config, loop=log)
    checks = [check for check in all_checks() if check.code.startswith(FAMILY)]
    return CheckOutcome(tuple(run_checks(context, checks=checks)), checked_count=len(log.events), subject="event")


def loop_log(workspace: Workspace, events: Path | None = None, since: float = 0.0, now: float | None = None) -> LoopLog:
    """Return the events since a time, in seconds since 1970, with their places; see `check_loop`."""
    now = time.time() if now is None else now
    log = workspace.state / "log" / NAME
    files = [events] if events is not None else log_files(workspace.state)
    names = {file.name: _name(workspace, file) for file in (*files, log)}
    met = LogScan()
    found = [
        Logged(said.at, row, Location(names[met.files[-1]], Position(met.line)))
        for said, row in rows_in(files, now, met)
        if said.at >= since and not said.session.startswith(TRIAL)  # `doctor` asked, and nobody who works
    ]
    return LoopLog(Location(names[files[-1].name if files else NAME]), tuple(found), dict(met.skipped))


def _name(workspace: Workspace, file: Path) -> str:
    """Return a file as findings name it: from the root where it is below it."""
    try:
        return file.resolve().relative_to(workspace.root).as_posix()
    except ValueError:
        return file.as_posix()
