"""ORB902: a line of the log is no event, or one of a name that nobody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.push.events import NAMES
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield how many lines hold no event, by why, and the first event of each unknown name."""
    log = context.loop
    if log is None:
        return
    for why, count in sorted(log.skipped.items()):
        yield CHECK.at(log.place, f"{count} {'line' if count == 1 else 'lines'} of the log: {why}")
    unknown = [one for one in log.events if one.name not in NAMES]
    counts = Counter(one.name for one in unknown)
    for one in {one.name: one for one in reversed(unknown)}.values():
        yield CHECK.at(one.place, f"`{one.name}` is no event that is known ({counts[one.name]} of them)")


CHECK = Check(
    "ORB902",
    "no-event",
    Severity.WARNING,
    "A line of the event log is torn, foreign or of an unknown name, and counts for nothing.",
    "whoever writes it should keep to docs/schemas/event.schema.json; a torn line is the trace of a killed process",
    run,
)
