"""ORB601: two records say the same, word for word."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.duplicates.pairs import blamed_first, groups, may_err, settled
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
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
    return CHECK.at(
        context.at(blamed, name),
        f"{blamed.id} says the same as {other.id}, word for word: {other.title}",
        severity=Severity.ERROR if may_err(context, blamed) else Severity.WARNING,
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
