"""ORB502: a glob that matches no file, so what it announces is never shown."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.scope.globs import valid_globs
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


def folders_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the folders in each folder, the root's under the empty name."""
    found: dict[str, list[str]] = {"": []}
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in found:
            found[folder] = []
            folder = folder.rpartition("/")[0]
    for folder in found:
        if folder:
            parent, _, name = folder.rpartition("/")
            found[parent].append(name)
    return found


def nearest(prefix: str, folders: Mapping[str, list[str]]) -> tuple[str, str | None] | None:
    """Return which part of the path is gone, in words, and the folder nearest to it; None where the path is there."""
    if not prefix or prefix in folders:
        return None
    parent, _, name = prefix.rpartition("/")
    while parent and parent not in folders:
        parent, _, name = parent.rpartition("/")
    inside = f"{parent}/" if parent else ""
    near = difflib.get_close_matches(name, folders[parent], n=1, cutoff=0.6)
    return f"`{inside}{name}` is not there", f"{inside}{near[0]}" if near else None


CHECK = Check(
    "ORB502",
    "dead-glob",
    Severity.WARNING,
    "A glob matches no file: the record is never shown for it.",
    "correct the glob, or retire the record when what it was about is gone",
    run,
)
