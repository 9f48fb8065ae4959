"""ORB705: a decision's text stands in two places."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.documents.unrecorded import earlier_names
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.record import BODY
from orbit_registry.text.position import Position


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each text file beside a record whose text stands in a document, and those an import put aside."""
    for record in context.records:
        for name in (BODY, "imported-body.md"):
            path = f"{record.folder}/{name}"
            if path not in context.facts.beside or (name == BODY and record.source is None):
                continue
            home = record.source.path if record.source is not None else record.body_path
            message = f"{record.id} has two texts: {home}, which counts, and {name} beside the record"
            hint = f"move into {home} what only {name} says, then delete {path}"
            where = Location(path, Position(1))
            yield CHECK.at(where, message, hint=hint, record=record, related=[context.in_entry(record)])
    yield from _under_earlier_names(context)


def _under_earlier_names(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each entry of a log under a name that a record had, where that record has its text elsewhere."""
    for document, entry in context.unclaimed:
        for record in earlier_names(context, document, entry):
            if record.source is not None and record.source.path == document.path:
                continue
            home = record.source.path if record.source is not None else record.body_path
            message = (
                f"ADR-{entry.number} ({entry.title}) is an earlier name of {record.id}, which has its text in {home}"
            )
            hint = f"let `source` of {record.id} name this entry, or remove the entry"
            where = Location(document.path, entry.position)
            yield CHECK.at(where, message, severity=Severity.NOTE, hint=hint, record=record)


CHECK = Check(
    "ORB705",
    "two-texts",
    Severity.WARNING,
    "A decision's text stands in two places.",
    "keep the one in the document, and delete the other",
    run,
)
