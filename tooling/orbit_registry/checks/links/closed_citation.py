"""ORB306: a document or code cites a decision that was replaced."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import SUPERSEDED


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each citation of a replaced record outside the documents of decisions, which tell how things came about."""
    homes = context.documents.by_path
    for cited in context.citations:
        if cited.location.path in homes or cited.record is not None:
            continue
        found = context.resolve(cited.id)
        if len(found) == 1 and found[0].status.name == SUPERSEDED:
            old = found[0]
            by = ", ".join(old.superseded_by)
            message = f"{cited.id} ({old.title}) was replaced" + (f" by {by}" if by else "")
            hint = f"cite {by}, if the sentence still holds" if by else None
            yield CHECK.at(cited.location, message, hint=hint, related=[context.at(old, "status")])


CHECK = Check(
    "ORB306",
    "citation-of-replaced",
    Severity.NOTE,
    "A text cites a decision that was replaced.",
    "see whether the sentence still holds, and cite the successor",
    run,
)
