"""One decision, put together from the facts of its header, its sections and its heading."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orbit_registry.formats.adr.facts import Facts, Outline, is_same_number, people, read_facts
from orbit_registry.formats.adr.head_style import FRONT_MATTER
from orbit_registry.formats.adr.header import Header, whole_line
from orbit_registry.formats.adr.headings import (
    NO_TITLES,
    find_cost,
    read_sections,
    split_title,
)
from orbit_registry.formats.adr.links import relations_of
from orbit_registry.formats.adr.model import AdrDocument, Fact, Relation, Status
from orbit_registry.formats.adr.problems import DATE_PROBLEMS, problems_of
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.unread import unread_status
from orbit_registry.formats.adr.vocabulary import Order, read_date
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain


def assemble(header: Header, outline: Outline, row: Sequence[Fact] = ()) -> AdrDocument:
    """Return the decision of an outline; `row` are facts that the row of a table states."""
    document, heading, parts = header.document, outline.heading, outline.parts
    facts = read_facts(header, row)
    sections = read_sections(document, header.headings, outline.body)
    relations = tuple(relations_of(header, facts, sections, outline))
    title, title_spans = _title(facts, outline)
    status_fact = facts.first("status")
    text = outline.span.of(document.text)
    status, status_raw, status_syntax = _status(facts, relations, text)
    date = _date(facts, outline)
    updated = _updated(facts)
    start = max(outline.span.start, document.content_start)
    position = heading.position if heading else document.lines.position(start)

    entry = AdrDocument(
        title=title,
        number=outline.number,
        status_raw=status_raw,
        status=status,
        status_syntax=status_syntax,
        date=date.iso,
        date_raw=date.raw,
        date_source=date.source,
        relations=relations,
        sections=sections,
        cost_position=find_cost(document, sections, outline.body),
        position=position,
        span=outline.span,
        title_spans=title_spans,
        date_span=date.span,
        facts=facts.all,
    )
    entry = replace(
        entry,
        updated=updated.iso if updated is not None else None,
        deciders=_deciders(facts),
        tasks=facts.values("tasks"),
        legacy_ids=facts.values("legacy_ids"),
        tags=facts.values("tags"),
        paths=facts.values("paths"),
    )
    superseding = dict.fromkeys(_superseding_spans(document.text, facts, relations))
    numbers = [f.span for f in facts.of("number") if is_same_number(f.raw, outline.number)]
    if parts.number_span:
        numbers.append(parts.number_span)

    entry = replace(entry, number_spans=tuple(numbers), superseding_spans=tuple(superseding))
    if heading is not None:
        heading_span = Span(heading.section.start, heading.body.start)
        entry = replace(entry, anchor=heading.id or "", heading_span=heading_span)

    if status_fact is not None:
        entry = replace(entry, format=status_fact.style, status_span=status_fact.span)

    return replace(entry, problems=tuple(problems_of(header, facts, outline, entry)))


def _deciders(facts: Facts) -> tuple[str, ...]:
    roles = ("deciders", "authors", "owner", "reviewers")  # who of them decided, in doubt
    return next(filter(None, (people(facts, role) for role in roles)), ())


def _title(facts: Facts, outline: Outline) -> tuple[str, tuple[Span, ...]]:
    fact = facts.first("title")
    spans = tuple(other.span for other in facts.of("title") if other.raw == (fact or other).raw)
    if outline.heading is None and fact is None:
        fact = facts.first("name")
        spans = (fact.span,) if fact and fact.raw else ()

    title = outline.parts.title
    if fact and fact.raw:  # `ADR-0042: Use x`
        parts = split_title(fact.raw, Span(0, len(fact.raw)), fact.raw, outline.number)
        is_bare = parts.number is not None and parts.title == fact.raw
        if outline.heading is None or not (is_bare or plain(fact.raw) in NO_TITLES):
            title = parts.title

    return title, (*spans, outline.parts.title_span) if outline.heading else spans


def _status(facts: Facts, relations: Sequence[Relation], text: str) -> tuple[Status, str, str]:
    """Return the status, the words that state it, and the syntax of these if it is not read."""
    fact, superseding = facts.first("status"), facts.first("superseding")
    status: Status = "unknown"
    raw = superseding.raw if fact is None and superseding is not None else ""
    if fact is not None:
        status, _ = normalise_status(fact.raw)
        raw = fact.values[0] if fact.style == "front-matter" and fact.values else fact.raw

    # `Accepted`, and anywhere `Superseded by …`: the second says more.
    successors = list(filter(_states_successor, relations))
    if status == "deprecated" and fact is not None:  # in favor of another one
        successors = [
            each for each in successors if not fact.span.start <= each.span.start < fact.span.end
        ]

    if successors and status in ("accepted", "deprecated", "unknown"):
        return "superseded", raw, ""

    if status == "unknown" and not raw.strip():
        return status, *unread_status(text)

    return status, raw, ""


def _superseding_spans(text: str, facts: Facts, relations: Sequence[Relation]) -> Iterator[Span]:
    """Yield the other lines that say what replaces the decision."""
    yield from (fact.span for fact in facts.of("superseding"))
    if any(map(_states_successor, relations)):
        of_front_matter = (
            fact for fact in facts.of("superseded_by") if fact.style == FRONT_MATTER.name
        )
        yield from (whole_line(text, fact.span) for fact in of_front_matter)


def _states_successor(relation: Relation) -> bool:
    return relation.rel == "superseded_by" and not (relation.weak or relation.of_part)


class _Date(NamedTuple):
    iso: str | None = None
    raw: str = ""
    source: str | None = None
    span: Span | None = None


def _updated(facts: Facts) -> _Date | None:
    return _date_of(facts.first("updated"), is_own=False)


def _date_of(fact: Fact | None, *, is_own: bool) -> _Date | None:
    iso = read_date(fact.raw) if fact is not None else None
    if fact is None or iso is None:
        return None

    return _Date(iso, fact.raw, fact.style, fact.span if is_own else None)


def _date(facts: Facts, outline: Outline) -> _Date:
    fact, status_date = facts.first("date"), facts.first("status_date")
    # Of a page, not of its decision: `published: true` is no date at all.
    of_page = facts.first("page_date")
    for candidate in (fact, status_date, outline.changelog_date, of_page):
        date = _date_of(candidate, is_own=candidate in (fact, of_page))
        if date is not None:
            return date

    raw, span = (fact.raw, fact.span) if fact else ("", None)
    if outline.named_date:
        iso, source = outline.named_date
        return _Date(iso, raw or iso, source, span)

    updated = _updated(facts)
    if updated is not None:
        return updated

    other = status_date or outline.changelog_date
    return _Date(None, raw or (other.raw if other else ""), None, span)


def with_date_order(entry: AdrDocument, order: Order | None) -> AdrDocument:
    """Return a decision with its ambiguous date resolved by the order that other documents use."""
    date = read_date(entry.date_raw, order) if entry.date is None else None
    if date is None:
        return entry
    fact = Facts(entry.facts).first("date", "status_date")
    problems = tuple(problem for problem in entry.problems if problem.code not in DATE_PROBLEMS)
    return replace(entry, date=date, date_source=fact.style if fact else None, problems=problems)
