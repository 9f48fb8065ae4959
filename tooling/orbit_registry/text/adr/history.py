"""Finds which of several dated statements of a status holds: the one with the last date. It knows no style."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.text.adr.dates import find_date
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.relations import find_phrases
from orbit_registry.text.adr.statement import normalise_status, read_statement
from orbit_registry.text.markdown import Table
from orbit_registry.text.position import Span

_LONGEST = 1000
"""Characters of a paragraph that may be an entry of a history."""
_PENDING = ("proposed", "accepted")
_BEFORE = re.compile(r"[*_`]*(?P<said>[^\W\d_].*?)(?:[ \t]+(?:on|am|le|el|em|as of|since))?[ \t*_`:,(\[–—-]*")
_AFTER = re.compile(r"[ \t*_`:,)\]–—-]*(?P<said>.*?)[ \t*_`]*", re.DOTALL)
"""The status before its date, or after it, without what stands between the two."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement of a status, and the date beside it."""

    date: str
    status: str
    statement: Span
    dated: Span


def dated_line(text: str, span: Span) -> Dated | None:
    """Return what `2026-05-01 Accepted` or `Accepted (1 May 2026)` states; what it does to another is no status."""
    raw = span.of(text)
    found = find_date(raw) if len(raw) <= _LONGEST else None
    status, _ = normalise_status(raw)
    if found is None or status == "unknown":
        return None
    date, at = found
    part = _BEFORE.fullmatch(raw, 0, at.start) or _AFTER.fullmatch(raw, at.end)
    own = Span(*part.span("said")) if part is not None else Span(0, len(raw))
    said = own.of(raw)
    first = next(find_phrases(said), None)
    if normalise_status(said)[0] != status or (first and first.verb.start == 0 and first.rel != "superseded_by"):
        return None
    statement = Span(span.start + own.start, span.start + own.end)
    return Dated(date, status, statement, Span(span.start + at.start, span.start + at.end))


def dated_rows(text: str, table: Table) -> list[Dated]:
    """Return the rows of a table that have a date in one cell and a known status in another."""
    found: list[Dated] = []
    for row in table.rows[1:]:
        cells = [(cell.span, cell.span.of(text).strip("*_` ")) for cell in row if cell.span is not None]
        dates = [(day[0], span) for span, raw in cells if (day := find_date(raw[:40])) and day[1].start == 0]
        statuses = [(said, span) for span, raw in cells if (said := normalise_status(raw)[0]) != "unknown"]
        if dates and statuses:
            found.append(Dated(dates[0][0], statuses[0][0], statuses[0][1], dates[0][1]))
    return found


def read_history(text: str, entries: Sequence[Dated], style: str) -> Iterator[Fact]:
    """Yield what the entry with the last date states, and what the older ones say of other decisions.

    The date is that of the decision: the last on which it was accepted, once it is out of force.
    """
    newest_first = entries[0].date > entries[-1].date
    ordered = sorted(reversed(entries) if newest_first else entries, key=lambda entry: entry.date)
    last = ordered[-1]
    accepted = [entry for entry in ordered if entry.status == "accepted"]
    decided = accepted[-1] if accepted and last.status in ("superseded", "deprecated") else last
    yield Fact("status_date", decided.dated.of(text), decided.dated, style)
    yield from read_statement(text, last.statement, style)
    for entry in ordered[:-1]:
        said = find_phrases(text, entry.statement.start, entry.statement.end)
        if last.status not in _PENDING or all(phrase.rel != "superseded_by" for phrase in said):
            yield Fact("statement", entry.statement.of(text), entry.statement, style)
