"""ORB305: a document, code or a record's text cites an id that no record has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.records.diagnostic import Diagnostic, Severity

_OWN_FORM = re.compile(r"[A-Z][A-Z0-9]*-[0-9a-z]{4,}\Z")


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each cited id in our own form that means nothing here; local numbers (`ADR-12`) are let be."""
    adopted = context.documents.by_path.keys() - context.our_documents
    known = {f"ADR-{entry.number}": True for _, entry in context.unclaimed}  # those are ORB702's
    for cited in context.citations:
        if not _OWN_FORM.match(cited.id):
            continue
        if cited.id not in known:
            known[cited.id] = context.knows(cited.id)
        if known[cited.id]:
            continue
        severity = Severity.NOTE if cited.location.path in adopted else Severity.ERROR
        if cited.record is not None:
            severity = binding(cited.record, Severity.ERROR)
        message = f"{cited.id} is cited, but no record has that id"
        yield CHECK.at(cited.location, message, severity=severity, record=cited.record)


CHECK = Check(
    "ORB305",
    "unknown-citation",
    Severity.ERROR,
    "A text cites an id that no record has.",
    "correct the id, or put an example into a code block; `citations` in .orbit/config.yaml says which files are read",
    run,
)
