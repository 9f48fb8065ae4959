"""ORB407: a decision has no text anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each decision that names no document and has no body.md; one whose document is gone is another finding."""
    for record in context.records:
        if record.kind.in_document and record.source is None and not record.prose.strip():
            severity = Severity.ERROR if is_ours(record) and record.phase == "live" else Severity.WARNING
            message = f"{record.id} has no text: it names no document, and no body.md stands beside it"
            yield CHECK.at(context.at(record, "id"), message, severity=severity, record=record)


CHECK = Check(
    "ORB407",
    "no-text",
    Severity.ERROR,
    "A decision has no text anywhere.",
    "write the text as body.md beside the record, or name its document in `source.path`",
    run,
)
