"""ORB707 to ORB711: what is wrong with the entries of a document, as its reader found it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from orbit_registry.checks.check import Check, Run
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity, from_problem
from orbit_registry.store.decisions.documents import Document
from orbit_registry.store.decisions.paths import LOG_NAME
from orbit_registry.text.position import Problem

_GLOBAL_DIGITS = 4
"""Shorter numbers in logs are local to their document, so they may come again elsewhere."""


def run_twice(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each heading after the first that carries a number, within a log and across all logs."""
    ours = context.our_documents
    seen: dict[tuple[str, str], list[tuple[str, Location]]] = defaultdict(list)
    for path, document in context.documents.by_path.items():
        if document.file.format != "log":
            continue
        for entry in document.file.entries:
            number = entry.number or ""
            if number:
                scope = "" if len(number) >= _GLOBAL_DIGITS else path
                seen[scope, number].append((entry.title, Location(path, entry.position)))
    for (_, number), places in seen.items():
        first_title, first = places[0]
        for title, place in places[1:]:
            if title.casefold().split() == first_title.casefold().split():
                message = f"ADR-{number} ({title}) is written down twice: here and at {first}"
                hint = "keep the entry that is right and delete the other; after a merge: `orbit resolve`"
            else:
                message = f"ADR-{number} is the number of two decisions: `{title}` here and `{first_title}` at {first}"
                hint = "give one of the two headings a number that is free; after a merge: `orbit resolve`"
            severity = Severity.ERROR if {place.path, first.path} & ours else Severity.WARNING
            yield TWICE.at(place, message, severity=severity, hint=hint, record=f"ADR-{number}", related=[first])


def run_order(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each entry below one with a higher number; numbers of a log's own are not compared with global ones.

    A log of the project's own that has its newest entry on top is in order too.
    """
    ours = context.our_documents
    for path, document in context.documents.by_path.items():
        above = {True: "0", False: "0"}
        for entry in document.file.entries if document.file.format == "log" and not _is_falling(document) else ():
            if not entry.number or not entry.number.isdigit():
                continue
            number, is_global = int(entry.number), len(entry.number) >= _GLOBAL_DIGITS
            if number < int(above[is_global]):
                message = (
                    f"ADR-{entry.number} stands below ADR-{above[is_global]}; the entries of a log ascend by number"
                )
                severity = Severity.WARNING if path in ours else Severity.NOTE
                yield ORDER.at(Location(path, entry.position), message, severity=severity)
            above[is_global] = max(above[is_global], entry.number, key=int)


def _is_falling(document: Document) -> bool:
    """Say whether a log has its newest entry on top, as some do that are not ours."""
    numbers = [int(entry.number) for entry in document.entries if entry.number and entry.number.isdigit()]
    falls = all(upper > lower for upper, lower in pairwise(numbers))
    return falls and document.path.rpartition("/")[2] != LOG_NAME


def run_dates(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each date that can't be read; one of an open order only where no record states which it is."""
    yield from _reader("ORB711", "adr-date-unclear")(context)
    for path, document in context.documents.by_path.items():
        for entry in document.file.entries:
            for problem in entry.problems:
                if problem.code == "adr-date-order" and not _is_dated(context, path, entry.span.start):
                    severity = Severity.WARNING if path in context.our_documents else Severity.NOTE
                    yield replace(from_problem(problem, path, severity), code="ORB711")


def _is_dated(context: CheckContext, path: str, start: int) -> bool:
    """Say whether the record of the entry that starts there states a date."""
    homes = ((record, context.homes.get(record.path)) for record in context.records if record.text("date"))
    return any(home is not None and (home[0].path, home[1].span.start) == (path, start) for _, home in homes)


def _reader(code: str, problem_code: str) -> Run:
    """Return a check's function that passes on what the reader of documents found under one of its codes."""

    def run(context: CheckContext) -> Iterator[Diagnostic]:
        ours = context.our_documents
        for path, document in context.documents.by_path.items():
            found: set[Problem] = {*document.file.problems}
            for entry in document.file.entries:
                found |= {*entry.problems}
            for problem in found:
                if problem.code == problem_code:
                    severity = Severity.WARNING if path in ours else Severity.NOTE
                    yield replace(from_problem(problem, path, severity), code=code)

    return run


TWICE = Check(
    "ORB707",
    "heading-twice",
    Severity.ERROR,
    "Two headings carry one number.",
    "give one of the two headings a number that is free, or delete the entry that is written down twice",
    run_twice,
)
ORDER = Check(
    "ORB708",
    "entry-order",
    Severity.WARNING,
    "The entries of a log don't ascend by number.",
    "move the whole entry, heading and text, above the first one with a higher number",
    run_order,
)
NUMBER = Check(
    "ORB709",
    "number-differs",
    Severity.WARNING,
    "A document's heading and its file's name carry different numbers.",
    "make the heading and the file's name agree",
    _reader("ORB709", "adr-number-differs"),
)
STATUS = Check(
    "ORB710",
    "status-unclear",
    Severity.WARNING,
    "A document states a status that is none.",
    "write proposed, accepted, rejected, deprecated, or superseded by ADR-NNNN",
    _reader("ORB710", "adr-status-unknown"),
)
DATE = Check(
    "ORB711",
    "date-unclear",
    Severity.WARNING,
    "A document states a date that can't be read.",
    "write YYYY-MM-DD or YYYY-MM",
    run_dates,
)
