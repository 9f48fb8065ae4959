"""ORB712: two records have their text in one entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record but the first that points at an entry."""
    held: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in context.records:
        home = context.homes.get(record.path)
        if home is not None:
            held[home[0].path, home[1].span.start].append(record)
    for (path, _), records in held.items():
        for record in records[1:]:
            message = f"{record.id} and {records[0].id} have their text in the same entry of {path}"
            where = context.at(record, "source", "path")
            yield CHECK.at(where, message, record=record, related=[context.at(records[0], "source", "path")])


CHECK = Check(
    "ORB712",
    "shared-entry",
    Severity.ERROR,
    "Two records have their text in one entry of a document.",
    "give each record its own entry, or delete the record that should not be",
    run,
)
