"""ORB911: something was looked up, nothing was shown, and no reason of the list says why."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.push.context import SKIPS
from orbit_registry.push.events import RETRIEVAL
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each event `retrieval` with neither hits nor a reason of the closed list."""
    for one in context.loop.of(RETRIEVAL) if context.loop is not None else ():
        reason, fault = one.word("skip_reason"), one.word("fault")
        if one.row.get("hits") or reason in SKIPS:
            continue
        said = f"`{reason}` is no reason that is known" if reason else "nothing was shown, and nothing says why"
        yield CHECK.at(one.place, f"{said}{f' (fault: {fault})' if fault else ''}")


CHECK = Check(
    "ORB911",
    "retrieval-without-reason",
    Severity.ERROR,
    "A retrieval showed nothing and gives no reason of the closed list.",
    f"one of: {', '.join(SKIPS)}; where a fault is named, `orbit doctor` says what to do",
    run,
)
