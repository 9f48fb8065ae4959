"""ORB504: a record in force that names neither a path nor a tag."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield live records of scoped kinds without a scope; decisions are read as pages too and may go without."""
    for record in context.records:
        if record.is_never_shown:
            message = f"{record.id} names no path and no tag: it is found by search, and never shown at an edit"
            if record.kind.gate != "scoped":
                message += " unless a record that is shown links to it"
            place = context.at(record, "scope" if "scope" in record.data else "id")
            hint = f"say where it applies: `orbit {record.kind.name} update {record.id} --path 'src/**'`"
            yield CHECK.at(place, message, hint=hint, record=record)


CHECK = Check(
    "ORB504",
    "empty-scope",
    Severity.NOTE,
    "A record in force names neither a path nor a tag.",
    "say where it applies: `orbit KIND update ID --path 'src/**'`",
    run,
)
