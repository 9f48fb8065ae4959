"""ORB502: a glob that matches no file, so what it announces is never shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.scope.globs import folders_of, nearest, valid_globs
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each including glob that matches neither a tracked file nor one that git would add."""
    if context.facts.tracked is None:
        return
    counts = context.glob_counts
    folders: Mapping[str, list[str]] | None = None
    for record, paths in context.scoped:
        if all(text in counts for text in paths):
            continue
        for index, glob in valid_globs(paths):
            if glob.exclude or glob.text in counts:
                continue
            if folders is None:
                folders = folders_of((*context.facts.tracked, *context.facts.untracked))
            where = context.at(record, "scope", "paths", index)
            near = nearest(glob.literal_prefix, folders)
            hint = None
            if near is not None:
                gone, other = near
                hint = (
                    f"{gone}; did you mean `{other}`?" if other else f"{gone}; correct the glob, or retire the record"
                )
            yield CHECK.at(where, f"`{glob.text}` matches no tracked file", hint=hint, record=record)


CHECK = Check(
    "ORB502",
    "dead-glob",
    Severity.WARNING,
    "A glob matches no file: the record is never shown for it.",
    "correct the glob, or retire the record when what it was about is gone",
    run,
)
