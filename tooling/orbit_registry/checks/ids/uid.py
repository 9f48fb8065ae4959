"""ORB203: two records share a uid, which tells records apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield every record but the first that has a uid."""
    by_uid: dict[str, list[Record]] = defaultdict(list)
    for record in context.records:
        by_uid[record.uid].append(record)
    for uid, held in by_uid.items():
        for record in held[1:]:
            first = context.at(held[0], "uid")
            yield CHECK.at(
                context.at(record, "uid"),
                f"the uid {uid} is also that of {held[0].id} ({first.path})",
                record=record,
                related=[first],
            )


CHECK = Check(
    "ORB203",
    "duplicate-uid",
    Severity.ERROR,
    "Two records share a uid.",
    "a record was copied by hand: give the copy 32 random hexadecimal digits of its own",
    run,
)
