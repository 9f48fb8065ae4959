"""Which records are compared for duplicates, which pairs were settled as different, and which of two is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.records.record import Record


def groups(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    """Return the records that are compared with each other: those of one kind that wait or hold.

    Texts that are files may be versions of one another; what tells them apart is their hash.
    """
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.phase != "closed" and not record.kind.in_file:
            found.setdefault(record.kind.name, []).append(record)
    return found


def settled(context: CheckContext, one: Record, other: Record) -> bool:
    """Say whether the two state that they are distinct or that one replaces the other, or share one text anyway."""
    homes = [context.homes.get(record.path) for record in (one, other)]
    if homes[0] is not None and homes[0] == homes[1]:
        return True
    for left, right in ((one, other), (other, one)):
        for name in ("distinct_from", "supersedes", "superseded_by"):
            if any(found.uid == right.uid for target in left.words(name) for found in context.resolve(target)):
                return True
    return False


def blamed_first(context: CheckContext, one: Record, other: Record) -> tuple[Record, Record]:
    """Return the pair with the record first that a finding is about: the one that changed, else the later one."""
    first, second = sorted((one, other), key=lambda record: record.sort_key)
    return (first, second) if context.is_changed(first) and not context.is_changed(second) else (second, first)


def may_err(context: CheckContext, record: Record) -> bool:
    """Say whether a duplicate is an error: in a record of ours that this change brings, not in what was adopted."""
    return is_ours(record) and context.is_changed(record)
