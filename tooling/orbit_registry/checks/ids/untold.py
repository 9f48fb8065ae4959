"""ORB290: git can't answer a question that other checks ask."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what could not be checked, and why."""
    for untold in context.facts.untold:
        yield CHECK.at(Location(".orbit/config.yaml"), f"not checked: {untold.message}", hint=untold.hint)
    for message, hint in context.sight.untold:
        yield CHECK.at(Location(".orbit/config.yaml"), f"not checked: {message}", hint=hint)


CHECK = Check(
    "ORB290",
    "not-checked",
    Severity.NOTE,
    "Something could not be checked here.",
    "run the check in a full clone",
    run,
)
