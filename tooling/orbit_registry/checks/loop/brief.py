"""ORB931: something was pitched without a brief of what is known and what capacity there is."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.push.events import BRIEF_PLAN, PITCHED
from orbit_registry.records.diagnostic import Diagnostic, Severity

LONGEST = 24 * 3600
"""Seconds for which a brief for planning is worth something."""


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each event `pitched` without a `brief_plan` in the day before it; a verdict on a pitch is none."""
    last = None
    for one in context.loop.of(BRIEF_PLAN, PITCHED) if context.loop is not None else ():
        if one.name == BRIEF_PLAN:
            last = one
        elif one.word("verdict") or one.row.get("pitched") == 0:
            continue  # it was decided on, or nothing was pitched
        elif last is None:
            yield CHECK.at(one.place, "it was pitched without a brief")
        elif one.at - last.at > LONGEST:
            hours = int((one.at - last.at) // 3600)
            yield CHECK.at(one.place, f"it was pitched by a brief of {hours} hours ago", related=(last.place,))


CHECK = Check(
    "ORB931",
    "pitch-without-brief",
    Severity.ERROR,
    "Something was pitched without a brief for planning made in the day before.",
    "no brief, no pitch: run `orbit brief --for plan` first",
    run,
)
