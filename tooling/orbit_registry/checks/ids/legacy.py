"""ORB202: an earlier name leads to more than one record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield once each set of records that share legacy ids, or whose legacy id is another one's own id."""
    shared: dict[tuple[str, ...], list[tuple[Record, int, str]]] = defaultdict(list)
    for record in (one for one in context.records if "legacy_ids" in one.data):
        for index, name in enumerate(record.legacy_ids):
            uids = {other.uid for other in (*context.records.with_id(name), *context.records.with_legacy_id(name))}
            if len(uids) > 1:
                shared[tuple(sorted(uids))].append((record, index, name))
    for held in shared.values():
        record, index, _ = held[-1]
        names = list(dict.fromkeys(name for _, _, name in held))
        owners = [other for other in context.records.with_id(names[0]) if other.uid != record.uid]
        others = owners or [one for one in context.records.with_legacy_id(names[0]) if one is not record]
        verb = "is the id of" if owners else "was also the name of"
        named = ", ".join(f"{other.id} ({other.title})" for other in others)
        said = (
            f"{', '.join(names)} can mean several: it was the name of {record.id} ({record.title}), and {verb} {named}"
        )
        places = [context.at(other, "id") for other in others]
        yield CHECK.at(context.at(record, "legacy_ids", index), said, record=record, related=places)


CHECK = Check(
    "ORB202",
    "ambiguous-legacy-id",
    Severity.NOTE,
    "An earlier name leads to more than one record.",
    "cite the records by their own ids; remove the legacy id where it is wrong",
    run,
)
