"""What a session came to, from its events and transcripts: a retro in our own words; it keeps nothing.

A target is what events name (a task that was noted, a failure, an item that was dispatched), or a purpose for which a
way of the project failed. What nobody knows is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from orbit_registry.errors import UsageError
from orbit_registry.loop import failures
from orbit_registry.loop.capture.patterns import Pattern, Tried
from orbit_registry.loop.capture.project import Project
from orbit_registry.loop.capture.run import EVENTS, Found, read_session, transcripts_of
from orbit_registry.loop.retro_form import COMPLETED, FAILED, REQUEUED, WAY, Outcome, Retro, trigger_of
from orbit_registry.loop.stats.event_log import LogState, log_files, rows_in
from orbit_registry.push import events
from orbit_registry.records.record_set import RecordSet
from orbit_registry.records.vote import stamp
from orbit_registry.store.workspace import Workspace

_TOLD = (events.NOTED, events.FAILED, events.CLEARED, events.REQUEUED, events.DISPATCHED)


@dataclass(slots=True)
class Gathered:
    """The retro that a session comes to, the findings behind it, and lines that the session was shown."""

    retro: Retro
    found: list[Found] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def said(self, *patterns: Pattern) -> tuple[str, ...]:
        """Return what was found by some patterns."""
        return tuple(one.summary for one, _ in self.found if one.pattern in patterns)


def gather(workspace: Workspace, records: RecordSet, session: str, project: str = "") -> Gathered:
    """Return what the event log and the transcripts of a session tell of it.

    Raises:
        UsageError: neither knows the session.
        UnreadableFileError: a transcript or the log can't be read.
    """
    told = Gathered(Retro(trigger_of("session", session, project)))
    rows = [row for said, row in rows_in(log_files(workspace.state), time.time(), LogState())
            if said.session.partition(".")[0] == session
            and said.kind in (events.RETRIEVAL, *_TOLD, *events.MOMENTS)]  # fmt: skip
    ended = max((str(row["at"]) for row in rows), default="")
    agents: list[str] = []
    tried: list[Tried] = []
    count, accepted = 0, False
    for agent, path in transcripts_of(workspace, EVENTS, None, [session]):
        read, observer, found = read_session(workspace, Project(workspace), agent, path, told.warnings)
        if read.skipped:
            continue
        told.found += found
        told.recalled += read.session.recalled
        tried += observer.tried()
        agents.append(agent)
        count, accepted = count + read.session.turns, not read.session.rejected
        ended = ended or stamp(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    if not rows and not agents:
        hint = "`orbit events tail` names sessions; a transcript is found by its name; or say it: --outcome"
        raise UsageError(f"nothing is known here of the session {session[:80]!r}", hint=hint)
    outcomes = [*_targets(records, rows, tuple(agents), accepted=accepted), *map(_way, tried)]
    turns = f"{count} turn{'' if count == 1 else 's'}, {'accepted' if accepted else 'the last turned down'}"
    told.retro = replace(
        told.retro,
        date=ended,
        summary=turns if agents else "known by its events alone",
        outcomes=tuple(outcomes),
        recommendations=tuple(
            f"Say how `{one.purpose}` is done here: `{one.tools[0]}` failed, and nothing worked after it"
            for one in tried if not one.worked
        ),
        struggled=told.said("recovery"),
        durable_behavior=told.said("sequence"),
        worked=told.said("fact", "discovery", "command"),
    )  # fmt: skip
    return told


def _way(one: Tried) -> Outcome:
    result = COMPLETED if one.worked else FAILED
    return Outcome(failures.Target(WAY, "", one.purpose), result, one.attempts, one.tools, one.said)


def _targets(
    records: RecordSet, rows: Iterable[Mapping[str, Any]], agents: tuple[str, ...], *, accepted: bool
) -> Iterable[Outcome]:
    """Return what the events say of each target, the last word of each.

    An item that was dispatched is completed where the session was accepted; else nobody knows.
    """
    reasons = {one.id: one.text("reason") or "" for one in records.of_kind(failures.KIND)}
    found: dict[failures.Target, Outcome] = {}
    for row in rows:
        kind, named = row["event"], row.get("target") or row.get("item") or row.get("task")
        try:
            target = failures.read_target(str(named) if ":" in str(named) else f"task:{named}")
        except UsageError:
            continue
        held = found.get(target)
        if not named or kind not in _TOLD or (kind == events.DISPATCHED and (held is not None or not accepted)):
            continue
        said, before = row.get("attempts"), (held.attempts or 1) if held is not None else 1
        attempts = max(before, said) if isinstance(said, int) else before
        failed = kind == events.FAILED or (kind == events.NOTED and row.get("failed") is True)
        result = FAILED if failed else REQUEUED if kind == events.REQUEUED else COMPLETED
        reason = next((reasons[one] for one in row.get("ids") or () if one in reasons), "") if failed else ""
        found[target] = Outcome(target, result, attempts, agents, reason)
    return found.values()
