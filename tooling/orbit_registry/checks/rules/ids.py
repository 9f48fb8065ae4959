"""Checks of ids and earlier names (2xx)."""

from collections import defaultdict
from collections.abc import Iterator

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, grouped
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.ids import sequence_number
from orbit_registry.model.record import Record
from orbit_registry.workspace.workspace import CONFIG


@check(
    "ORB201",
    Severity.ERROR,
    "keep one: `orbit resolve` renumbers a decision; delete the copy of anything else",
)
def duplicate_id(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records have the same id, or the same number with other zeros before it."""
    by_number = grouped(context.records, _number)
    by_number.pop(None, None)
    same_number = []
    for rows in by_number.values():
        ids = {row.id for row in rows}
        if len(ids) > 1:
            same_number.append(rows)

    for records in (*context.records.collisions.values(), *same_number):
        for record in records:
            others = [context.at(other, "id") for other in records if other is not record]
            paths = ", ".join(location.path for location in others)
            message = f"{record.id} is also the id of {paths}"
            yield duplicate_id.at(context.at(record, "id"), message, record, related=others)


def _number(record: Record) -> tuple[str, int] | None:
    number = sequence_number(record.id, record.kind.prefix)
    if number is None:
        return None

    return (record.kind.name, number)


# Once for each set of records.
@check(
    "ORB202",
    Severity.NOTE,
    "cite the records by their own ids; remove the legacy id if it is wrong",
)
def ambiguous_legacy_id(context: CheckContext) -> Iterator[Diagnostic]:
    """An earlier name leads to more than one record."""
    shared: dict[tuple[str, ...], list[tuple[Record, int, str]]] = defaultdict(list)
    for record in context.records:
        for index, name in enumerate(record.legacy_ids):
            others = [*context.records.with_id(name), *context.records.with_legacy_id(name)]
            uids = {other.uid for other in others}
            if len(uids) > 1:
                shared[tuple(sorted(uids))].append((record, index, name))

    for entries in shared.values():
        record, index, _ = entries[-1]
        names = list(dict.fromkeys(name for _, _, name in entries))
        others = [other for other in context.records.with_id(names[0]) if other.uid != record.uid]
        if not others:
            others = context.records.with_legacy_id(names[0])
            others = [other for other in others if other is not record]

        owners = " and ".join(f"{other.id} ({other.title})" for other in (*others, record))
        subject = f"the earlier name {names[0]} is"
        if len(names) > 1:
            subject = f"the earlier names {', '.join(names)} are"

        message = f"{subject} ambiguous: {owners} have it"
        where = context.at(record, "legacy_ids", index)
        places = [context.at(other, "id") for other in others]
        yield ambiguous_legacy_id.at(where, message, record, related=places)


@check(
    "ORB203",
    Severity.ERROR,
    "a record was copied by hand: give the copy 32 other random hexadecimal digits",
)
def duplicate_uid(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records share a uid."""
    for uid, records in grouped(context.records, lambda record: record.uid).items():
        for record in records[1:]:
            first = context.at(records[0], "uid")
            message = f"the uid {uid} is also that of {records[0].id} ({first.path})"
            where = context.at(record, "uid")
            yield duplicate_uid.at(where, message, record, related=[first])


@check(
    "ORB204",
    Severity.ERROR,
    "take a new number before the merge: `orbit adr renumber ID`, or merge and run `orbit resolve`",
)
def collision_ahead(context: CheckContext) -> Iterator[Diagnostic]:
    """The branch this work goes to has another record under the same id."""
    for record in context.records:
        theirs = context.facts.at_against.get(record.id)
        if theirs is not None and theirs.uid != record.uid:
            message = (
                f"{record.id} is another record on {context.facts.against}; the two will "
                f"meet in a merge"
            )
            hint = (
                f"take a new number before the merge: `orbit adr renumber {record.id}`, "
                "or merge and run `orbit resolve`"
            )
            yield collision_ahead.at(context.at(record, "id"), message, record, hint=hint)


# An error where the comparison that was asked for is among it.
@check("ORB290", Severity.ERROR, "run the check in a full clone")
def not_checked(context: CheckContext) -> Iterator[Diagnostic]:
    """Something could not be checked here."""
    location = Location(CONFIG)
    weight = Severity.ERROR if context.facts.is_unanswered else Severity.NOTE
    for untold in context.facts.unavailable:
        message = f"not checked: {untold.message}"
        yield not_checked.at(location, message, hint=untold.hint, severity=weight)

    for message, hint in context.filesystem.unanswered:
        yield not_checked.at(location, f"not checked: {message}", hint=hint, severity=Severity.NOTE)
