"""ORB602: two records say nearly the same."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.duplicates.pairs import blamed_first, groups, may_err, settled
from orbit_registry.checks.neighbours import FEWEST_TO_ERR
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.search.contrast import contrast
from orbit_registry.search.similarity import Pair


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each pair from the warning threshold up: an error above the higher one, where the record changed."""
    lower, upper = context.config.duplicates["warning"], context.config.duplicates["error"]
    for kind, held in groups(context.records).items():
        texts = {record.path: context.wordings[record.path] for record in held}
        for _, *rest in context.copies[kind]:  # which are ORB601's
            for path in rest:
                del texts[path]
        by_path = {record.path: record for record in held}
        for pair in context.near(kind, texts, lower):
            one, other = by_path[pair.a], by_path[pair.b]
            if not settled(context, one, other):
                enough = context.sizes.get(kind, len(held)) >= FEWEST_TO_ERR
                yield _finding(context, pair, one, other, enough=enough and pair.score >= upper)


def _finding(context: CheckContext, pair: Pair, one: Record, other: Record, *, enough: bool) -> Diagnostic:
    record, neighbour = blamed_first(context, one, other)
    name = record.kind.headline
    share = f"{pair.score:.0%}"
    differs = contrast(context.wordings[record.path], context.wordings[neighbour.path])
    alone = differs is not None and differs.alone
    but = f"; {'but ' if alone else ''}{differs}" if differs is not None else ""
    # Votes were given to one text: it stays, and takes the other's place.
    kept, replaced = (record, neighbour) if len(record.votes) >= len(neighbour.votes) else (neighbour, record)
    supersede = f"`orbit {record.kind.name} supersede {replaced.id} --with {kept.id}`"
    differ = f"`orbit {record.kind.name} update {record.id} --distinct-from {neighbour.id}`"
    return CHECK.at(
        context.at(record, name),
        f"{record.id} says nearly the same as {neighbour.id} ({share} alike{but}): {neighbour.title}",
        severity=Severity.ERROR if enough and not alone and may_err(context, record) else Severity.WARNING,
        hint=f"merge them, or {supersede}; where they differ: {differ}",
        record=record,
        related=[context.at(neighbour, name)],
    )


CHECK = Check(
    "ORB602",
    "near-duplicate",
    Severity.ERROR,
    "Two records say nearly the same.",
    "merge them, let one replace the other, or say in `distinct_from` that they differ",
    run,
)
