"""ORB402: a decision lacks its context, decision or consequences, or has the heading and nothing below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.checks.prose import decision_of, text_of
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument, Section

NEEDED = ("context", "decision", "consequences")
_STANDS_FOR = {"consequences": ("positive", "negative", "neutral", "pros_cons"), "context": ("drivers",)}
_NOTHING = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t].*)?|[-*+]|<!--.*-->|[-*_]{3,})?[ \t]*")
"""A line that says nothing: blank, a heading, an empty bullet, a comment, a rule."""


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each needed part that is missing or empty; in adopted documents only empty ones, as notes."""
    for record in context.records:
        if not record.kind.in_document or record.phase == "closed":
            continue
        entry = decision_of(context, record)
        if entry is None or not entry.sections:
            continue
        text = text_of(context, record)
        for key in NEEDED:
            held = [one for one in entry.sections if one.key == key and (is_ours(record) or not one.run_in)]
            instead = [one for one in entry.sections if one.key in _STANDS_FOR.get(key, ())]
            if held and all(_is_empty(text, entry, one) for one in (*held, *instead)):
                severity = Severity.ERROR if record.phase == "live" else Severity.WARNING
                yield _finding(context, record, held[0], f"{held[0].heading} of {record.id} is empty", severity)
            elif not held and not instead and is_ours(record):
                message = f"{record.id} has no part called {key.capitalize()}"
                yield _finding(context, record, None, message, Severity.WARNING)


def _is_empty(text: str, entry: AdrDocument, section: Section) -> bool:
    """Say whether nothing stands below a heading, parts of its own included."""
    inner = [one for one in entry.sections if section.body.start <= one.body.start < section.body.end]
    bodies = [section.body, *(one.body for one in inner)]
    return all(_NOTHING.fullmatch(line) for body in bodies for line in body.of(text).splitlines())


def _finding(
    context: CheckContext, record: Record, section: Section | None, message: str, severity: Severity
) -> Diagnostic:
    where = context.in_entry(record, section)
    return CHECK.at(where, message, severity=severity if is_ours(record) else Severity.NOTE, record=record)


CHECK = Check(
    "ORB402",
    "empty-section",
    Severity.ERROR,
    "A decision lacks one of its parts, or has the heading without a text.",
    "say in a sentence or two why a decision was needed, what it is, and what follows from it",
    run,
)
