"""ORB503: a scope that matches a large part of the project, so the record is left to briefs."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.matching import count_covered
from orbit_registry.push.breadth import FEWEST_FILES, SHARE
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose scope matches more than a fifth of the tracked files."""
    tracked = context.facts.tracked
    if tracked is None or len(tracked) < FEWEST_FILES:
        return
    most = SHARE * len(tracked)
    counts = context.glob_counts
    suspects = [
        (record, paths) for record, paths in context.scoped if sum(counts.get(text, 0) for text in paths) > most
    ]
    covered = count_covered([paths for _, paths in suspects], tracked)
    for record, paths in suspects:
        count = covered[paths]
        if count > most:
            yield _finding(context, record, count, len(tracked))


def _finding(context: CheckContext, record: Record, count: int, total: int) -> Diagnostic:
    share = f"{count:,} of {total:,} tracked files"
    message = f"the scope of {record.id} matches {share}; it is shown in briefs, not at single edits"
    return CHECK.at(context.at(record, "scope", "paths"), message, record=record)


CHECK = Check(
    "ORB503",
    "broad-scope",
    Severity.NOTE,
    "A scope matches more than a fifth of the project.",
    "narrow the globs to where the record really helps, or leave it to briefs",
    run,
)
