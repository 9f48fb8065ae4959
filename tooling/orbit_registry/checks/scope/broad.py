"""ORB503: a scope that matches a large part of the project, so the record is left to briefs."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.scope.globs import FEWEST_FILES, SHARE, applying, valid_globs
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.text.globs import match_any


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose scope matches more than a fifth of the tracked files."""
    tracked = context.facts.tracked
    if tracked is None or len(tracked) < FEWEST_FILES:
        return
    counts = context.glob_counts
    for record in applying(context):
        globs = [glob for _, glob in valid_globs(record)]
        most = SHARE * len(tracked)
        if sum(counts.get(glob.text, 0) for glob in globs if not glob.exclude) <= most:
            continue
        matched = sum(1 for file in tracked if match_any(globs, file) is not None)
        if matched > most:
            share = f"{matched:,} of {len(tracked):,} tracked files"
            message = f"the scope of {record.id} matches {share}; it is shown in briefs, not at single edits"
            yield CHECK.at(context.at(record, "scope", "paths"), message, record=record)


CHECK = Check(
    "ORB503",
    "broad-scope",
    Severity.NOTE,
    "A scope matches more than a fifth of the project.",
    "narrow the globs to where the record really helps, or leave it to briefs",
    run,
)
