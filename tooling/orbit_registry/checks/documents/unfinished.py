"""ORB706: a change of several files was begun and not ended."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each step in the journal."""
    for name in context.facts.journals:
        message = f"the step {name.rpartition('-')[0] or name} was begun and not ended: its process was killed"
        yield CHECK.at(Location(f".orbit/state/journal/{name}"), message, fixable=True)


CHECK = Check(
    "ORB706",
    "unfinished-step",
    Severity.WARNING,
    "A change of several files was begun and not ended.",
    "the next command that writes finishes or undoes it, as does `orbit check --fix`",
    run,
)
