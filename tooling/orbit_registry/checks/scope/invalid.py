"""ORB501: a glob that can't be read, or a scope that only excludes."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.text.glob_syntax import Glob, parse_glob
from orbit_registry.text.position import Problem


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each glob that is none, and each scope of excluding globs alone."""
    for record, paths in context.scoped:
        if all(text in context.glob_counts for text in paths):
            continue  # what matches a file is a glob that includes
        read = [parse_glob(text) for text in paths]
        for index, (text, glob) in enumerate(zip(paths, read, strict=True)):
            if isinstance(glob, Problem):
                where = context.at(record, "scope", "paths", index)
                yield CHECK.at(where, f"`{text[:80]}` is no glob: {glob.message}", hint=glob.hint, record=record)
        if all(isinstance(glob, Glob) and glob.exclude for glob in read):
            message = f"the scope of {record.id} only excludes, so it matches nothing"
            hint = "put a glob before them that says what is included: `**` for everything"
            yield CHECK.at(context.at(record, "scope", "paths"), message, hint=hint, record=record)


CHECK = Check(
    "ORB501",
    "invalid-glob",
    Severity.ERROR,
    "A glob in a record's scope can't be read, so the record is never shown where it should be.",
    "globs are *, ?, **, [a-z], {a,b}, a leading ! to exclude, dir/ for everything below",
    run,
)
