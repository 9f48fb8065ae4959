"""ORB290: git can't answer a question that other checks ask."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what could not be checked, and why; an error where the comparison that was asked for is among it."""
    place = Location(".orbit/config.yaml")
    weight = Severity.ERROR if context.facts.is_unanswered else Severity.NOTE
    for untold in context.facts.untold:
        yield CHECK.at(place, f"not checked: {untold.message}", hint=untold.hint, severity=weight)
    for message, hint in context.sight.untold:
        yield CHECK.at(place, f"not checked: {message}", hint=hint, severity=Severity.NOTE)


CHECK = Check(
    "ORB290",
    "not-checked",
    Severity.ERROR,
    "Something could not be checked here.",
    "run the check in a full clone",
    run,
)
