"""ORB910: something was dispatched and nothing was looked up for it."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.loop.log import TURN_END
from orbit_registry.push.events import DISPATCHED, RETRIEVAL
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each session that was dispatched, or that ended a turn, and has no event `retrieval`; once a session."""
    log = context.loop
    if log is None:
        return
    asked = {one.word("session") for one in log.of(RETRIEVAL)}
    told: set[str] = set()
    for one in log.of(DISPATCHED, TURN_END, "subagent stop"):
        session = one.word("session")
        if session and (session in asked or session in told):
            continue
        told.add(session)
        item = one.word("item")
        said = f"session {session}" if session else "a dispatch that names no session"
        yield CHECK.at(one.place, f"{said}{f' ({item})' if item else ''}: nothing was looked up for it")


CHECK = Check(
    "ORB910",
    "dispatch-without-retrieval",
    Severity.ERROR,
    "A dispatch has no retrieval event: nobody knows what it should have known.",
    "put `orbit brief` in front of what is dispatched, with `--session`, or install the hook: `orbit hook install`",
    run,
)
