"""ORB703 and ORB704: the file with a record's text, or its entry in it, is not there."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run_document(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose document is not there, or stands outside the project."""
    for record in context.records if context.facts.documents_gone else ():
        source = record.source
        if source is not None and source.path in context.facts.documents_gone:
            message = f"{record.id} has its text in {source.path}, which is not there"
            pointer = ("source", "path") if record.kind.in_document else ("file" if "file" in record.data else "path",)
            yield DOCUMENT.at(context.at(record, *pointer), message, record=record)


def run_entry(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose document holds no entry for it."""
    for record in context.records:
        source = context.sources.get(record.path)
        if source is None or record.path in context.homes or source.path not in context.documents.by_path:
            continue
        document = context.documents.by_path[source.path]
        count = len(document.file.entries)
        if source.heading is not None:
            message = f"{source.path} has no entry {source.heading}, where {record.id} has its text"
        elif count > 1:
            message = f"{source.path} holds {count} decisions, and {record.id} does not say which one it is"
        else:
            why = document.file.skipped_reason
            message = f"{source.path} holds no decision{f' ({why})' if why else ''}, and {record.id} has its text there"
        step = "path" if source.heading is None else "heading"
        yield ENTRY.at(context.at(record, "source", step), message, record=record)


DOCUMENT = Check(
    "ORB703",
    "document-missing",
    Severity.ERROR,
    "The file that holds a record's text is not there.",
    "bring the file itself back (links are not followed); where it moved, correct a decision's `source.path`, or "
    "import the new file and retire this record",
    run_document,
)
ENTRY = Check(
    "ORB704",
    "entry-missing",
    Severity.ERROR,
    "A document holds no entry for the decision that has its text there.",
    "bring the entry back, or correct `source.heading`: ADR-0042, or the title as the heading has it",
    run_entry,
)
CHECKS = (DOCUMENT, ENTRY)
