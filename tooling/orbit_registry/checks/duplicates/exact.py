"""ORB601: two records say the same, word for word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.duplicates.wording import blamed_first, groups, settled, wording
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.search.similarity import normalised


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the record of each pair that changed, or the later one; an error only where it changed."""
    for held in groups(context.records).values():
        by_text: dict[str, list[Record]] = defaultdict(list)
        for record in held:
            by_text[normalised(wording(record))].append(record)
        for same in by_text.values():
            for index, record in enumerate(same[1:], start=1):
                for other in same[:index]:
                    if not settled(context, other, record):
                        yield _pair(context, other, record)
                        break


def _pair(context: CheckContext, first: Record, second: Record) -> Diagnostic:
    blamed, other = blamed_first(context, first, second)
    name = blamed.kind.headline
    replace = f"`orbit {blamed.kind.name} supersede {other.id} --by {blamed.id}`"
    return CHECK.at(
        context.at(blamed, name),
        f"{blamed.id} says the same as {other.id}, word for word: {other.title}",
        severity=Severity.ERROR if context.is_changed(blamed) else Severity.WARNING,
        record=blamed,
        related=[context.at(other, name)],
        hint=f"delete one of them, or let it replace the other: {replace}",
    )


CHECK = Check(
    "ORB601",
    "same-text",
    Severity.ERROR,
    "Two records say the same, word for word.",
    "delete one of them, or let one replace the other",
    run,
)
