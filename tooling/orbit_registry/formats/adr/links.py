"""Other decisions that a decision names: in its header, in sections of links, in its text."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from orbit_registry.formats.adr.facts import Facts, Outline, is_same_number
from orbit_registry.formats.adr.header import Header, visible_lines
from orbit_registry.formats.adr.model import (
    RELS,
    Fact,
    Rel,
    Relation,
    Section,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import (
    Phrase,
    find_phrases,
    opening_phrases,
    target_key,
    value_phrases,
    wiki_links,
)
from orbit_registry.formats.adr.status_line import is_open_choice, normalise_status
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import within
from orbit_registry.formats.position import Position, Span

_CODE = pattern("code")
DECISIONS = IdForms(("ADR-",))  # how decision documents refer to each other, in any repository


def relations_of(
    header: Header, facts: Facts, sections: Sequence[Section], outline: Outline
) -> Iterator[Relation]:
    """Yield the relations of a decision, each decision once for each relation."""
    known_files: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    mentions = _mentioned_relations(header, facts, outline)
    for relation in (
        *_stated_relations(header, facts),
        *_linked_relations(header, facts, sections),
        *mentions,
    ):
        name, file = target_key(relation.target_raw)
        # A mere reference says nothing new of a decision that was named before, in whatever
        # relation.
        rel = "" if relation.rel == "references" else relation.rel
        files = known_files[rel, name]
        # Two files are two decisions; a file adds to a bare number that was met before it.
        if file in files or (file is None and files):
            continue

        for key in {rel, ""}:
            known_files[key, name].add(file)

        yield relation


def _stated_relations(header: Header, facts: Facts) -> Iterator[Relation]:
    lines = header.document.lines
    winner = facts.first("status")
    for fact in facts.all:
        if fact.key == "statement" and is_open_choice(fact.raw):
            continue

        if fact.key == "statement" and winner is not None and fact.style == winner.style:
            # What a page shows, where its text has it in another form.
            is_shown = fact.raw != fact.span.of(header.text)
            if fact.style == "front-matter" or is_shown:
                for rel, target in normalise_status(fact.raw)[1]:
                    yield Relation(rel, target, lines.position(fact.span.start), fact.span, target)
                continue

            for phrase in find_phrases(header.text, fact.span.start, fact.span.end):
                position = lines.position(phrase.span.start)
                yield _relation(phrase, _target(header, phrase), position, phrase.span)
        elif fact.key in RELS:
            yield from _fact_relations(header, fact)


def _target(header: Header, phrase: Phrase) -> str:
    """Return the target of a phrase; of `[text][label]` and `[label]` the target of the label."""
    links = within(header.document.links, phrase.span, lambda link: link.span.start)
    return next((link.target for link in links if link.kind == "reference"), phrase.target)


def _fact_relations(header: Header, fact: Fact) -> Iterator[Relation]:
    rel = cast(Rel, fact.key)
    for relation in _value_relations(header, fact, rel):
        if rel != "references" or "://" not in relation.target_raw:
            yield replace(relation, stated=True)


def _value_relations(header: Header, fact: Fact, rel: Rel) -> Iterator[Relation]:
    lines = header.document.lines
    if fact.style not in ("front-matter", "html"):
        for phrase in value_phrases(rel, header.text, fact.span.start, fact.span.end):
            if phrase.is_sure:
                position = lines.position(phrase.span.start)
                yield _relation(phrase, phrase.target, position, phrase.span)
        return

    position = lines.position(fact.span.start)
    for value in fact.values:
        if _CODE.fullmatch(value) is not None:  # `KEP-18`, which only that series gives a meaning
            yield Relation(rel, value, position, fact.span, value)
            continue

        for phrase in value_phrases(rel, value, 0, len(value)):
            if phrase.is_sure:
                yield _relation(phrase, phrase.target, position, fact.span)


def _relation(phrase: Phrase, target: str, position: Position, span: Span) -> Relation:
    return Relation(phrase.rel, target, position, span, phrase.text, of_part=phrase.of_part)


def _linked_relations(
    header: Header, facts: Facts, sections: Sequence[Section]
) -> Iterator[Relation]:
    """Yield `- Supersedes [x](x.md)` from sections of links, and from lines of the header that are
    no fact.
    """
    document = header.document
    facts_read = sorted((fact.span for fact in facts.of(*RELS)), key=lambda span: span.start)
    zones = [section.body for section in sections if section.key == "references"] + list(
        header.zone
    )
    for zone in zones:
        for line in visible_lines(document, zone, document.hidden):
            if within(facts_read, line, lambda span: span.start):
                continue

            for phrase in opening_phrases(header.text, line.start, line.end):
                if "://" in phrase.target and phrase.rel in ("implements", "related_to"):
                    continue  # an issue or a page, not a decision
                position = document.lines.position(phrase.span.start)
                yield _relation(phrase, _target(header, phrase), position, phrase.span)


def _mentioned_relations(header: Header, facts: Facts, outline: Outline) -> Iterator[Relation]:
    document, body = header.document, outline.body
    own_ids = facts.values("legacy_ids")

    for link in within(document.links, body, lambda link: link.span.start):
        target = link.target.partition("#")[0]
        if link.kind != "image" and "://" not in target and is_markdown(target):
            yield Relation("references", link.target, link.position, link.span, link.text, False)

    for line in (
        visible_lines(document, body, document.hidden) if "[[" in body.of(header.text) else ()
    ):
        for target, label, span in wiki_links(header.text, line.start, line.end):
            yield Relation(
                "references", f"{target}.md", document.lines.position(span.start), span, label
            )

    for citation in within(header.citations, body, lambda citation: citation.span.start):
        is_own_number = is_same_number(citation.id, outline.number) and "/" not in citation.id
        if citation.id in own_ids or is_own_number:
            continue
        yield Relation(
            "references", citation.id, citation.position, citation.span, citation.id, citation.weak
        )
