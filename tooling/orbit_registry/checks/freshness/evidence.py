"""ORB804: a commit, file or task that a record names as evidence is not there."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each piece of evidence that was looked for and not found."""
    gone = context.sight.gone
    for record in context.records if gone else ():
        if "evidence" not in record.data or record.phase == "closed":
            continue
        for index, (kind, reference) in enumerate(record.evidence):
            if (kind, reference) in gone:
                where = context.at(record, "evidence", index, "reference")
                yield CHECK.at(where, f"{_WORDS[kind]} {reference}", record=record)


_WORDS = {
    "commit": "the repository has no such commit:",
    "file": "no such file:",
    "task": "no such task:",
}

CHECK = Check(
    "ORB804",
    "evidence-gone",
    Severity.NOTE,
    "A commit, file or task that a record names as evidence is not there.",
    "name where it is now, take it out of `evidence`, or retire the record when nothing speaks for it any more",
    run,
)
