"""ORB505: a symbol in a scope that names none: it has to be `path::name`."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.scope import symbol_problem


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each symbol that has another form, or a path that leads out of the root."""
    for record in context.records:
        if record.phase != "closed" and "scope" in record.data:
            for index, symbol in enumerate(record.symbols):
                problem = symbol_problem(symbol)
                if problem is not None:
                    place = context.at(record, "scope", "symbols", index)
                    yield CHECK.at(place, f"`{symbol[:80]}` is no symbol: {problem}", record=record)


CHECK = Check(
    "ORB505",
    "invalid-symbol",
    Severity.WARNING,
    "A symbol in a record's scope is not of the form path::name.",
    "write the file from the root and the name in it: src/app/session.py::open_session",
    run,
)
