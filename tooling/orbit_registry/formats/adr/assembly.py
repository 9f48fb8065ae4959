"""ADR document assembled from the facts that its header states and the sections below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from orbit_registry.formats.adr.header import Header, split_names, visible_lines
from orbit_registry.formats.adr.headings import TitleParts, find_cost, read_sections, split_title
from orbit_registry.formats.adr.model import AdrDocument, Fact, Rel, Relation, Section, Status
from orbit_registry.formats.adr.relations import (
    Phrase,
    find_phrases,
    find_targets,
    opening_phrases,
    target_key,
    wiki_links,
)
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.style_front_matter import FRONT_MATTER
from orbit_registry.formats.adr.style_lines import BULLETS, LINES
from orbit_registry.formats.adr.style_section import SECTIONS
from orbit_registry.formats.adr.style_table import BADGE, TABLE
from orbit_registry.formats.adr.vocabulary import Order, is_of_two_orders, read_date
from orbit_registry.formats.markdown import Heading, is_markdown, within
from orbit_registry.formats.position import Position, Problem, Span

STYLES = (FRONT_MATTER, BULLETS, LINES, TABLE, SECTIONS, BADGE)
"""The first style that states a fact wins."""
DATE_PROBLEMS = ("adr-date-unclear", "adr-date-order")
"""Codes of the problems of a date: unreadable, or ambiguous between day and month."""
_RELS = frozenset(get_args(Rel))


@dataclass(frozen=True, slots=True)
class Outline:
    """Name and extent of a decision, apart from the facts of its header."""

    heading: Heading | None
    parts: TitleParts
    number: str | None
    span: Span
    body: Span
    """The text below the heading."""
    named_date: tuple[str, str] | None
    """The date in the heading or the path, and which of the two."""
    changelog_date: Fact | None = None


class _Facts:
    """Facts of a header by key, those of the winning style first."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = tuple(facts)
        self._by_key: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.all:
            self._by_key[fact.key].append(fact)

    def of(self, *keys: str) -> list[Fact]:
        return [fact for key in keys for fact in self._by_key.get(key, ())]

    def first(self, *keys: str) -> Fact | None:
        """Return the winning fact of the first key that has one: the first with a value, else the first."""
        for key in keys:
            if facts := self._by_key.get(key):
                return next((fact for fact in facts if fact.raw.strip()), facts[0])
        return None

    def values(self, key: str) -> tuple[str, ...]:
        return _unique(value for fact in self.of(key) for value in _listed(fact))


def assemble(header: Header, outline: Outline) -> AdrDocument:
    """Return the decision that `header` belongs to."""
    document, heading, number, parts = header.document, outline.heading, outline.number, outline.parts
    facts = _Facts(fact for style in STYLES for fact in style.read(header))
    sections = read_sections(document, header.headings, outline.body)
    status_fact = facts.first("status")
    status, status_raw = _status(facts)
    date, date_raw, date_source, date_span = _date(facts, outline)
    title, titles = _title(facts, outline)
    start = max(outline.span.start, document.content_start)
    position = heading.position if heading else document.lines.position(start)
    numbers = [fact.span for fact in facts.of("number") if _same_number(fact.raw, number)]
    return AdrDocument(
        title=title,
        number=number,
        status_raw=status_raw,
        status=status,
        date=date,
        date_raw=date_raw,
        date_source=date_source,
        deciders=_people(facts, "deciders") or _people(facts, "authors") or _people(facts, "owner"),
        tasks=facts.values("tasks"),
        legacy_ids=facts.values("legacy_ids"),
        tags=facts.values("tags"),
        relations=tuple(_relations(header, facts, sections, outline)),
        sections=sections,
        cost_position=find_cost(document, sections, outline.body),
        format=status_fact.style if status_fact else "none",
        anchor=(heading.id or "") if heading else "",
        position=position,
        span=outline.span,
        heading_span=Span(heading.section.start, heading.body.start) if heading else None,
        title_spans=titles,
        number_spans=(*numbers, parts.number_span) if parts.number_span else tuple(numbers),
        status_span=status_fact.span if status_fact else None,
        superseding_spans=tuple(dict.fromkeys(fact.span for fact in facts.of("superseding"))),
        date_span=date_span,
        facts=facts.all,
        problems=tuple(_problems(header, facts, outline, is_dated=date is not None, status=status, position=position)),
    )


def _title(facts: _Facts, outline: Outline) -> tuple[str, tuple[Span, ...]]:
    """Return the title and its spans; the key `name` counts only without a heading."""
    fact = facts.first("title")
    spans = tuple(other.span for other in facts.of("title") if other.raw == (fact or other).raw)
    if outline.heading is None and fact is None:
        fact = facts.first("name")
        spans = (fact.span,) if fact and fact.raw else ()
    title = outline.parts.title
    if fact and fact.raw:  # `ADR-0042: Use x`
        title = split_title(fact.raw, Span(0, len(fact.raw)), fact.raw, outline.number).title
    return title, (*spans, outline.parts.title_span) if outline.heading else spans


def _status(facts: _Facts) -> tuple[Status, str]:
    fact, superseding = facts.first("status"), facts.first("superseding")
    if fact is None:
        return ("superseded", superseding.raw) if superseding else ("unknown", "")
    status, _ = normalise_status(fact.raw)
    raw = fact.values[0] if fact.style == "front-matter" and fact.values else fact.raw
    # `Deprecated`, and below it `Superseded by …`: the header says both, the second says more.
    if status in ("accepted", "deprecated") and superseding is not None:
        return "superseded", raw
    return status, raw


def _date(facts: _Facts, outline: Outline) -> tuple[str | None, str, str | None, Span | None]:
    """Return (date, as written, source, span) of the best statement of a date."""
    fact, changelog = facts.first("date"), outline.changelog_date
    status_date = facts.first("status_date")
    for candidate in (fact, status_date, changelog):
        iso = read_date(candidate.raw) if candidate is not None else None
        if candidate is not None and iso is not None:
            return iso, candidate.raw, candidate.style, candidate.span if candidate is fact else None
    raw, span = (fact.raw, fact.span) if fact else ("", None)
    if outline.named_date:
        date, source = outline.named_date
        return date, raw or date, source, span
    other = status_date or changelog
    return None, raw or (other.raw if other else ""), None, span


def with_date_order(entry: AdrDocument, order: Order | None) -> AdrDocument:
    """Return a decision with its ambiguous date resolved by the order that other documents use."""
    date = read_date(entry.date_raw, order) if entry.date is None else None
    if date is None:
        return entry
    fact = _Facts(entry.facts).first("date", "status_date")
    problems = tuple(problem for problem in entry.problems if problem.code not in DATE_PROBLEMS)
    return replace(entry, date=date, date_source=fact.style if fact else None, problems=problems)


def _listed(fact: Fact) -> tuple[str, ...]:
    if len(fact.values) == 1 and fact.style != "front-matter" and fact.key == "tags":
        return tuple(part.strip().strip("`*_") for part in fact.values[0].split(",") if part.strip())
    return fact.values


def _people(facts: _Facts, role: str) -> tuple[str, ...]:
    fact = facts.first(role)
    if fact is None:
        return ()
    return _unique(name for value in (fact.values or (fact.raw,)) for name in split_names(value))


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _same_number(raw: str, number: str | None) -> bool:
    digits = raw.rpartition("-")[2]
    return number is not None and digits.isdigit() and number.isdigit() and int(digits) == int(number)


def _relations(header: Header, facts: _Facts, sections: Sequence[Section], outline: Outline) -> Iterator[Relation]:
    known_files: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    mentions = _mentioned_relations(header, facts, outline)
    for relation in (*_stated_relations(header, facts), *_linked_relations(header, sections), *mentions):
        name, file = target_key(relation.target_raw)
        # A mere reference says nothing new of a decision that was named before, in whatever relation.
        rel = "" if relation.rel == "references" else relation.rel
        files = known_files[rel, name]
        # Two files are two decisions; a file adds to a bare number that was met before it.
        if file in files or (file is None and files):
            continue
        for key in {rel, ""}:
            known_files[key, name].add(file)
        yield relation


def _stated_relations(header: Header, facts: _Facts) -> Iterator[Relation]:
    lines = header.document.lines
    winner = facts.first("status")
    for fact in facts.all:
        if fact.key == "statement" and winner is not None and fact.style == winner.style:
            if fact.style == "front-matter":
                for rel, target in normalise_status(fact.raw)[1]:
                    yield Relation(rel, target, lines.position(fact.span.start), fact.span, target)
                continue
            for phrase in find_phrases(header.text, fact.span.start, fact.span.end):
                position = lines.position(phrase.span.start)
                yield Relation(phrase.rel, _target(header, phrase), position, phrase.span, phrase.text)
        elif fact.key in _RELS:
            yield from _fact_relations(header, fact)


def _target(header: Header, phrase: Phrase) -> str:
    """Return the target of a phrase; of `[text][label]` and `[label]` the target of the label."""
    links = within(header.document.links, phrase.span, lambda link: link.span.start)
    return next((link.target for link in links if link.kind == "reference"), phrase.target)


def _fact_relations(header: Header, fact: Fact) -> Iterator[Relation]:
    """Yield the targets of a fact that is a relation (`superseded_by: 0042`)."""
    rel = cast(Rel, fact.key)
    lines = header.document.lines
    if fact.style != "front-matter":
        for target, label, span in find_targets(header.text, fact.span.start, fact.span.end):
            yield Relation(rel, target, lines.position(span.start), span, label)
        return
    for value in fact.values:
        for target, label, _ in find_targets(value, 0, len(value)):
            yield Relation(rel, target, lines.position(fact.span.start), fact.span, label)


def _linked_relations(header: Header, sections: Sequence[Section]) -> Iterator[Relation]:
    """Yield `- Supersedes [x](x.md)` from sections of links, and from lines of the header."""
    document = header.document
    zones = [section.body for section in sections if section.key == "references"] + list(header.zone)
    for zone in zones:
        for line in visible_lines(document, zone, document.hidden):
            for phrase in opening_phrases(header.text, line.start, line.end):
                if "://" in phrase.target and phrase.rel in ("implements", "related_to"):
                    continue  # an issue or a page, not a decision
                position = document.lines.position(phrase.span.start)
                yield Relation(phrase.rel, _target(header, phrase), position, phrase.span, phrase.text)


def _mentioned_relations(header: Header, facts: _Facts, outline: Outline) -> Iterator[Relation]:
    document, body = header.document, outline.body
    own_ids = {value for fact in facts.of("legacy_ids") for value in fact.values}
    for link in within(document.links, body, lambda link: link.span.start):
        target = link.target.partition("#")[0]
        if link.kind != "image" and "://" not in target and is_markdown(target):
            yield Relation("references", link.target, link.position, link.span, link.text, False)
    for line in visible_lines(document, body, document.hidden) if "[[" in body.of(header.text) else ():
        for target, label, span in wiki_links(header.text, line.start, line.end):
            yield Relation("references", f"{target}.md", document.lines.position(span.start), span, label)
    for citation in within(header.citations, body, lambda citation: citation.span.start):
        is_own_number = _same_number(citation.id, outline.number) and "/" not in citation.id
        if citation.id in own_ids or is_own_number:
            continue
        yield Relation("references", citation.id, citation.position, citation.span, citation.id, citation.weak)


def _problems(
    header: Header, facts: _Facts, outline: Outline, *, is_dated: bool, status: Status, position: Position
) -> Iterator[Problem]:
    lines = header.document.lines
    status_fact = facts.first("status")
    if status == "unknown" and status_fact is not None and status_fact.raw.strip():
        yield Problem(
            "adr-status-unknown",
            f"the status {_short(status_fact.raw)} is not recognised",
            lines.position(status_fact.span.start),
            "write proposed, accepted, rejected, deprecated or superseded by ADR-NNNN",
        )
    date_fact = facts.first("date", "status_date")
    if not is_dated and date_fact is not None and date_fact.raw.strip():
        is_open = is_of_two_orders(date_fact.raw)
        fault = "leaves open which number is the month" if is_open else "is not readable"
        yield Problem(
            "adr-date-order" if is_open else "adr-date-unclear",
            f"the date {_short(date_fact.raw)} {fault}",
            lines.position(date_fact.span.start),
            "write YYYY-MM-DD or YYYY-MM",
        )
    number, heading_number = outline.number, outline.parts.number
    if number and heading_number and number.isdigit() and int(number) != int(heading_number):
        yield Problem(
            "adr-number-differs",
            f"the heading says {heading_number}, the file {number}",
            position,
            "make the heading and the file's name agree",
        )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return f"`{flat[:57]}…`" if len(flat) > 58 else f"`{flat}`"
