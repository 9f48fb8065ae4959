"""Records that say the same (6xx)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.checks.neighbours import FEWEST_TO_ERR, error_threshold
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.search.contrast import contrast


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


@check(
    "ORB601",
    "same-text",
    Severity.ERROR,
    "Two records say the same, word for word.",
    "delete one of them, or let one replace the other",
)
def same_text(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record that says what an earlier one says; an error only where it changed."""
    for kind, held in groups(context.records).items():
        by_path = {record.path: record for record in held}
        for paths in context.copies[kind]:
            same = [by_path[path] for path in paths]
            for index, record in enumerate(same[1:], start=1):
                other = next((one for one in same[:index] if not settled(context, one, record)), None)
                if other is not None:
                    yield _pair(context, other, record)


def _pair(context: CheckContext, first: Record, second: Record) -> Diagnostic:
    blamed, other = blamed_first(context, first, second)
    name = blamed.kind.headline
    replace = f"`orbit {blamed.kind.name} supersede {other.id} --with {blamed.id}`"
    return same_text.at(
        context.at(blamed, name),
        f"{blamed.id} says the same as {other.id}, word for word: {other.title}",
        severity=Severity.ERROR if may_err(context, blamed) else Severity.WARNING,
        record=blamed,
        related=[context.at(other, name)],
        hint=f"delete one of them, or let it replace the other: {replace}",
    )


@check(
    "ORB602",
    "near-duplicate",
    Severity.ERROR,
    "Two records say nearly the same.",
    "merge them, let one replace the other, or say in `distinct_from` that they differ",
)
def near_duplicate(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each pair from the warning threshold up: an error from the higher one up, where the record changed."""
    upper = context.config.duplicates["error"]
    for kind, held in groups(context.records).items():
        copies = {path for _, *rest in context.copies[kind] for path in rest}  # which are ORB601's
        alone = {record.path: record for record in held if record.path not in copies}
        for one, other, score in context.near(alone):
            if not settled(context, one, other):
                least = error_threshold(upper, is_enough=len(held) >= FEWEST_TO_ERR)
                yield _finding(context, one, other, score, enough=score >= least)


def _finding(context: CheckContext, one: Record, other: Record, score: float, *, enough: bool) -> Diagnostic:
    record, neighbour = blamed_first(context, one, other)
    name = record.kind.headline
    share = f"{score:.0%}"
    differs = contrast(context.wordings[record.path], context.wordings[neighbour.path])
    alone = differs is not None and differs.alone
    but = f"; {'but ' if alone else ''}{differs}" if differs is not None else ""
    # Votes were given to one text: it stays, and takes the other's place.
    kept, replaced = (record, neighbour) if len(record.votes) >= len(neighbour.votes) else (neighbour, record)
    supersede = f"`orbit {record.kind.name} supersede {replaced.id} --with {kept.id}`"
    differ = f"`orbit {record.kind.name} update {record.id} --distinct-from {neighbour.id}`"
    return near_duplicate.at(
        context.at(record, name),
        f"{record.id} says nearly the same as {neighbour.id} ({share} alike{but}): {neighbour.title}",
        severity=Severity.ERROR if enough and not alone and may_err(context, record) else Severity.WARNING,
        hint=f"merge them, or {supersede}; where they differ: {differ}",
        record=record,
        related=[context.at(neighbour, name)],
    )
