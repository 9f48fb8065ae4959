"""ORB920: a turn ended without a note and without a reason for there being none."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.loop.log import turn_of, turns
from orbit_registry.push.events import NOTE_SKIPS
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each turn's end that no note belongs to, or one whose reason is made up."""
    for ended, note in turns(context.loop) if context.loop is not None else ():
        turn = turn_of(ended)
        reason = note.word("skip_reason") if note is not None else ""
        if note is None:
            hint = f'orbit note "…" --turn {turn}, or with --skip-reason'
            yield CHECK.at(ended.place, f"turn {turn} has no note", hint=hint)
        elif reason and reason not in NOTE_SKIPS:
            yield CHECK.at(note.place, f"turn {turn}: `{reason}` is no reason that is known")


CHECK = Check(
    "ORB920",
    "turn-without-note",
    Severity.ERROR,
    "A turn ended with neither a note nor a reason of the closed list for there being none.",
    f"one of: {', '.join(NOTE_SKIPS)}",
    run,
)
