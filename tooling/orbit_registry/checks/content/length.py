"""ORB404: a text is longer than its readers bear: a brief's budget, or a sitting."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.records.diagnostic import Diagnostic, Severity

CHARACTERS_A_TOKEN = 4
MOST_IN_A_DOCUMENT = 40_000
"""Characters; about 6,000 words, half an hour of reading."""


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield records that fit into no brief, and decisions that nobody reads to the end."""
    for record in context.records:
        if record.phase == "closed" or record.kind.in_file:  # a file is shown by its title, and cut for search
            continue
        size = len(record.prose)
        if record.kind.in_document:
            most, why = MOST_IN_A_DOCUMENT, "a decision should be read in one sitting"
        else:
            size += len(record.title)
            most = record.kind.brief.get("budget", 0) * CHARACTERS_A_TOKEN
            why = "it fits into no brief, so no agent is ever shown it whole"
        if most and size > most:
            message = f"{record.id} is {size:,} characters long; above {most:,}, {why}"
            severity = binding(record, Severity.WARNING)
            yield CHECK.at(context.in_prose(record, 0), message, severity=severity, record=record)


CHECK = Check(
    "ORB404",
    "too-long",
    Severity.WARNING,
    "A text is too long to be read, or to be shown to an agent.",
    "split it, or move the detail into a document and link to it",
    run,
)
