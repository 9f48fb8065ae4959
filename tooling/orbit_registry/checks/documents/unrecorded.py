"""ORB702: a decision stands in a document and has no record; the registry's backfill is its fix."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each entry of a decision document that no record points at."""
    claimed = {(document.path, entry.span.start) for document, entry in context.homes.values()}
    named = {record.source.path for record in context.records if record.source is not None}
    whole = {record.source.path for record in context.records if record.source and record.source.heading is None}
    for path, document in context.documents.by_path.items():
        if path in named and document.file.format == "file" and path in whole:
            continue
        for entry in document.file.entries:
            if (path, entry.span.start) not in claimed:
                name = f"ADR-{entry.number} ({entry.title})" if entry.number else f"`{entry.title}`"
                message = f"{name} has no record"
                hint = f"`orbit check --fix` adds one, as does `orbit adr backfill {path}`"
                yield CHECK.at(Location(path, entry.position), message, hint=hint, fixable=True)


CHECK = Check(
    "ORB702",
    "entry-without-record",
    Severity.WARNING,
    "A decision stands in a document and has no record.",
    "`orbit check --fix` adds a record beside it and leaves the document as it is",
    run,
)
