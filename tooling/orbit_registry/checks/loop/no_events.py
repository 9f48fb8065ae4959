"""ORB901: there is no event to tell by, so nothing shows that the loop was kept to."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield a finding where the log is missing or holds no event of the time that is asked about."""
    if context.loop is not None and not context.loop.events:
        yield CHECK.at(context.loop.place, "no event is there to tell by")


CHECK = Check(
    "ORB901",
    "no-events",
    Severity.ERROR,
    "The event log is missing or empty: what was not written down counts as not done.",
    "see that a hook is installed (`orbit hook status`) and that the log of the run is the one that is named",
    run,
)
