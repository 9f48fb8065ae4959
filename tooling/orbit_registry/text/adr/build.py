"""Makes one decision out of the facts that the styles found; decides which statement wins, invents none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from orbit_registry.text import is_markdown
from orbit_registry.text.adr.dates import Order, is_of_two_orders, read_date
from orbit_registry.text.adr.header import Header, split_names, visible_lines
from orbit_registry.text.adr.model import AdrDocument, Fact, Rel, Relation, Section, Status
from orbit_registry.text.adr.relations import (
    Phrase,
    find_phrases,
    find_targets,
    opening_phrases,
    target_key,
    wiki_links,
)
from orbit_registry.text.adr.sections import find_cost, read_sections
from orbit_registry.text.adr.statement import normalise_status
from orbit_registry.text.adr.styles import STYLES
from orbit_registry.text.adr.titles import TitleParts, split_title
from orbit_registry.text.markdown import Heading, within
from orbit_registry.text.position import Position, Problem, Span

DATE_PROBLEMS = ("adr-date-unclear", "adr-date-order")
"""The codes of the problems of a date: it can't be read at all, or not without knowing whether the day comes first."""
_RELS = frozenset(get_args(Rel))


def read_facts(header: Header) -> tuple[Fact, ...]:
    """Return every fact of the header, the style that wins first."""
    return tuple(fact for style in STYLES for fact in style.read(header))


def build(
    header: Header,
    *,
    heading: Heading | None,
    parts: TitleParts,
    number: str | None,
    span: Span,
    body: Span,
    named_date: tuple[str, str] | None,
    changelog_date: Fact | None,
) -> AdrDocument:
    """Return the decision that `header` belongs to; `body` is what follows its heading."""
    document = header.document
    facts = read_facts(header)
    sections = read_sections(document, header.headings, body)
    cost = find_cost(document, sections, body)
    relations = tuple(_relations(header, facts, sections, body, number))
    status_fact = _first(facts, "status")
    status, status_raw = _status(facts, relations)
    date, date_raw, date_source, date_span = _date(facts, named_date, changelog_date)
    title_fact = _first(facts, "title")
    titles = tuple(fact.span for fact in facts if fact.key == "title" and fact.raw == (title_fact or fact).raw)
    if heading is None and title_fact is None:
        title_fact = _first(facts, "name")  # beside a heading it names something else
        titles = (title_fact.span,) if title_fact and title_fact.raw else ()
    shown_title = _without_number(title_fact.raw, number) if title_fact and title_fact.raw else parts.title
    position = heading.position if heading else document.lines.position(max(span.start, document.content_start))
    return AdrDocument(
        title=shown_title,
        number=number,
        status_raw=status_raw,
        status=status,
        date=date,
        date_raw=date_raw,
        date_source=date_source,
        deciders=_deciders(facts),
        tasks=_unique(value for fact in facts if fact.key == "tasks" for value in _listed(fact)),
        legacy_ids=_unique(value for fact in facts if fact.key == "legacy_ids" for value in _listed(fact)),
        tags=_unique(value for fact in facts if fact.key == "tags" for value in _listed(fact)),
        relations=relations,
        sections=sections,
        has_cost=cost is not None,
        cost_position=cost,
        format=status_fact.style if status_fact else "none",
        anchor=(heading.id or "") if heading else "",
        position=position,
        span=span,
        heading_span=Span(heading.section.start, heading.body.start) if heading else None,
        title_spans=(*titles, parts.title_span) if heading else titles,
        number_spans=tuple(
            [fact.span for fact in facts if fact.key == "number" and _same_number(fact.raw, number)]
            + ([parts.number_span] if parts.number_span else [])
        ),
        status_span=status_fact.span if status_fact else None,
        superseding_spans=tuple(dict.fromkeys(fact.span for fact in facts if fact.key == "superseding")),
        date_span=date_span,
        facts=facts,
        problems=tuple(_problems(header, facts, date, status, number, parts, position)),
    )


def _without_number(title: str, number: str | None) -> str:
    """Return a title that a key states, without the number that it may have like a heading: `ADR-0042: Use x`."""
    return split_title(title, Span(0, len(title)), title, number).title


def _first(facts: Iterable[Fact], key: str) -> Fact | None:
    """Return the winning fact: the first one with a value, else the first one."""
    found = [fact for fact in facts if fact.key == key]
    return next((fact for fact in found if fact.raw.strip()), found[0] if found else None)


def _status(facts: Sequence[Fact], relations: Sequence[Relation]) -> tuple[Status, str]:
    fact = _first(facts, "status")
    superseding = _first(facts, "superseding")
    if fact is None:
        return ("superseded", superseding.raw) if superseding else ("unknown", "")
    status, _ = normalise_status(fact.raw)
    raw = fact.values[0] if fact.style == "front-matter" and fact.values else fact.raw
    # `Deprecated`, and below it `Superseded by …`: the header says both, the second says more.
    if status in ("accepted", "deprecated") and superseding is not None:
        return "superseded", raw
    return status, raw


def _date(
    facts: Sequence[Fact], named: tuple[str, str] | None, changelog: Fact | None
) -> tuple[str | None, str, str | None, Span | None]:
    """Return (date, as written, source, span) of the best statement of a date."""
    fact, beside = _first(facts, "date"), _first(facts, "status_date")
    for candidate in (fact, beside, changelog):
        if candidate is None:
            continue
        iso = read_date(candidate.raw)
        if iso is not None:
            source = "changelog" if candidate is changelog else candidate.style
            own = candidate.key == "date" and candidate is not changelog
            return iso, candidate.raw, source, candidate.span if own else None
    raw, span = (fact.raw, fact.span) if fact else ("", None)
    if named:
        return named[0], raw or named[0], named[1], span
    other = beside or changelog
    return None, raw or (other.raw if other else ""), None, span


def with_date_order(entry: AdrDocument, order: Order | None) -> AdrDocument:
    """Return a decision with the date that others settle: they say whether its day or its month comes first."""
    date = read_date(entry.date_raw, order) if entry.date is None else None
    if date is None:
        return entry
    stated = _first(entry.facts, "date") or _first(entry.facts, "status_date")
    problems = tuple(problem for problem in entry.problems if problem.code not in DATE_PROBLEMS)
    return replace(entry, date=date, date_source=stated.style if stated else None, problems=problems)


def _listed(fact: Fact) -> tuple[str, ...]:
    if len(fact.values) == 1 and fact.style != "front-matter" and fact.key == "tags":
        return tuple(part.strip().strip("`*_") for part in fact.values[0].split(",") if part.strip())
    return fact.values


def _people(facts: Sequence[Fact], role: str) -> tuple[str, ...]:
    fact = _first(facts, role)
    if fact is None:
        return ()
    return _unique(name for value in (fact.values or (fact.raw,)) for name in split_names(value))


def _deciders(facts: Sequence[Fact]) -> tuple[str, ...]:
    return _people(facts, "deciders") or _people(facts, "authors") or _people(facts, "owner")


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _same_number(raw: str, number: str | None) -> bool:
    digits = raw.rpartition("-")[2]
    return number is not None and digits.isdigit() and number.isdigit() and int(digits) == int(number)


def _relations(
    header: Header, facts: Sequence[Fact], sections: Sequence[Section], body: Span, number: str | None
) -> Iterator[Relation]:
    """Yield what the header and the sections of links state, then what the text merely mentions."""
    own = {value for fact in facts if fact.key == "legacy_ids" for value in fact.values}
    seen: dict[tuple[str, str], set[str | None]] = {}
    for relation in (*_stated(header, facts), *_linked(header, sections), *_mentioned(header, body, number, own)):
        key = target_key(relation.target_raw)
        # A mere reference says nothing new of a decision that was named before, in whatever relation.
        rel = "" if relation.rel == "references" else relation.rel
        if key.is_among(seen.get((rel, key.name), frozenset())):
            continue
        for name in {rel, ""}:
            seen.setdefault((name, key.name), set()).add(key.file)
        yield relation


def _stated(header: Header, facts: Sequence[Fact]) -> Iterator[Relation]:
    lines = header.document.lines
    winner = _first(facts, "status")
    for fact in facts:
        if fact.key == "statement" and winner is not None and fact.style == winner.style:
            if fact.style == "front-matter":
                for rel, target in normalise_status(fact.raw)[1]:
                    yield Relation(rel, target, lines.position(fact.span.start), fact.span, target)
                continue
            for phrase in find_phrases(header.text, fact.span.start, fact.span.end):
                position = lines.position(phrase.span.start)
                yield Relation(phrase.rel, _target(header, phrase), position, phrase.span, phrase.text)
        elif fact.key in _RELS:
            yield from _targets_of(header, fact)


def _target(header: Header, phrase: Phrase) -> str:
    """Return what a phrase leads to: of `[text][label]` and `[label]` what the label stands for in the document."""
    links = within(header.document.links, phrase.span, lambda link: link.span.start)
    return next((link.target for link in links if link.kind == "reference"), phrase.target)


def _targets_of(header: Header, fact: Fact) -> Iterator[Relation]:
    """Yield the targets of a fact that is itself a relation (`superseded_by: 0042`)."""
    rel: Rel = next(name for name in get_args(Rel) if name == fact.key)
    lines = header.document.lines
    if fact.style != "front-matter":
        for target, shown, span in find_targets(header.text, fact.span.start, fact.span.end):
            yield Relation(rel, target, lines.position(span.start), span, shown)
        return
    for value in fact.values:
        for target, shown, _ in find_targets(value, 0, len(value)):
            yield Relation(rel, target, lines.position(fact.span.start), fact.span, shown)


def _linked(header: Header, sections: Sequence[Section]) -> Iterator[Relation]:
    """Yield `- Supersedes [x](x.md)` from the sections that hold links, and from lines of the header."""
    document = header.document
    places = [section.body for section in sections if section.key == "references"] + list(header.zone)
    for place in places:
        for line in visible_lines(document, place, document.hidden):
            for phrase in opening_phrases(header.text, line.start, line.end):
                if "://" in phrase.target and phrase.rel in ("implements", "related_to"):
                    continue  # an issue or a page, not a decision
                position = document.lines.position(phrase.span.start)
                yield Relation(phrase.rel, _target(header, phrase), position, phrase.span, phrase.text)


def _mentioned(header: Header, body: Span, number: str | None, own: Collection[str]) -> Iterator[Relation]:
    """Yield links to other documents and ids named in the text."""
    document = header.document
    for link in within(document.links, body, lambda link: link.span.start):
        target = link.target.partition("#")[0]
        if link.kind != "image" and "://" not in target and is_markdown(target):
            yield Relation("references", link.target, link.position, link.span, link.text, False)
    for place in visible_lines(document, body, document.hidden) if "[[" in body.of(header.text) else ():
        for target, shown, span in wiki_links(header.text, place.start, place.end):
            yield Relation("references", f"{target}.md", document.lines.position(span.start), span, shown)
    for citation in within(header.citations, body, lambda citation: citation.span.start):
        if citation.id in own or (_same_number(citation.id, number) and "/" not in citation.id):
            continue
        yield Relation("references", citation.id, citation.position, citation.span, citation.id, citation.weak)


def _problems(
    header: Header,
    facts: Sequence[Fact],
    date: str | None,
    status: Status,
    number: str | None,
    parts: TitleParts,
    position: Position,
) -> Iterator[Problem]:
    """Yield what a reader of the document would want to know about it."""
    lines = header.document.lines
    stated = _first(facts, "status")
    if status == "unknown" and stated is not None and stated.raw.strip():
        yield Problem(
            "adr-status-unknown",
            f"the status {_short(stated.raw)} is none that is known",
            lines.position(stated.span.start),
            "write proposed, accepted, rejected, deprecated or superseded by ADR-NNNN",
        )
    dated = _first(facts, "date") or _first(facts, "status_date")
    if date is None and dated is not None and dated.raw.strip():
        is_open = is_of_two_orders(dated.raw)
        yield Problem(
            "adr-date-order" if is_open else "adr-date-unclear",
            f"the date {_short(dated.raw)} {'leaves open which number is the month' if is_open else 'is not readable'}",
            lines.position(dated.span.start),
            "write YYYY-MM-DD or YYYY-MM",
        )
    if number and parts.number and number.isdigit() and int(number) != int(parts.number):
        yield Problem(
            "adr-number-differs",
            f"the heading says {parts.number}, the file {number}",
            position,
            "make the heading and the file's name agree",
        )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return f"`{flat[:57]}…`" if len(flat) > 58 else f"`{flat}`"
