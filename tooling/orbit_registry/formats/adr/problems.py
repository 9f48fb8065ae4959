"""What a decision leaves open: a status, a date or a relation that is not clear."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from orbit_registry.formats.adr.facts import Facts, Outline
from orbit_registry.formats.adr.header import (
    Header,
    visible_lines,
)
from orbit_registry.formats.adr.headings import STRIKE
from orbit_registry.formats.adr.links import DECISIONS
from orbit_registry.formats.adr.model import (
    RELS,
    AdrDocument,
    Fact,
    Relation,
    Status,
)
from orbit_registry.formats.adr.relations import (
    find_phrases,
    is_superseding,
    target_key,
    unsure_phrases,
    without_label,
)
from orbit_registry.formats.adr.status_line import normalise_status, states_status
from orbit_registry.formats.adr.unread import title_status
from orbit_registry.formats.adr.vocabulary import (
    is_of_two_orders,
)
from orbit_registry.formats.citations import find_citations
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.position import Position, Problem
from orbit_registry.formats.untrusted import cut

DATE_PROBLEMS = ("adr-date-unclear", "adr-date-order")
"""Codes of the problems of a date: unreadable, or ambiguous between day and month."""


UNSURE_RELATION = "adr-relation-unsure"


BLANK_TITLE = "adr-title-blank"
"""Code of the problem of a title that is still the template's."""


UNREAD_ID = "adr-relation-unread"
"""Code of the problem of an id in the value of a key, where the words around it are not read."""


UNNAMED = (
    "adr-entry-unnamed"  # code of the problem of a log's section that may be meant as an entry
)


_OVER = ("rejected", "deprecated", "superseded")
_PARTS = re.compile(r"[,;\n]")


def problems_of(
    header: Header, facts: Facts, outline: Outline, entry: AdrDocument
) -> Iterator[Problem]:
    """Yield what the facts of a decision leave open."""
    lines = header.document.lines
    status = facts.first("status")
    if entry.status == "unknown" and status is not None and status.raw.strip():
        yield Problem(
            "adr-status-unknown",
            f"the status {short(status.raw)} is not recognised",
            lines.position(status.span.start),
            "write proposed, accepted, rejected, deprecated or superseded by ADR-NNNN",
        )

    if entry.status in ("accepted", "proposed"):
        yield from _notices(header, outline)
    elif entry.status == "unknown":
        yield from _strikes(header, outline)

    yield from header.front_matter.problems
    yield from _unsure_relations(header, facts)
    yield from _unread_ids(header, facts, entry.relations)
    if status is not None:
        yield from _other_statuses(header, facts, status)

    date = facts.first("date", "status_date")
    if entry.date is None and date is not None and date.raw.strip():
        is_open = is_of_two_orders(date.raw)
        fault = "leaves open which number is the month" if is_open else "is not readable"
        yield Problem(
            "adr-date-order" if is_open else "adr-date-unclear",
            f"the date {short(date.raw)} {fault}",
            lines.position(date.span.start),
            "write YYYY-MM-DD or YYYY-MM",
        )

    number, heading_number = outline.number, outline.parts.number
    if number and heading_number and number.isdigit() and int(number) != int(heading_number):
        yield Problem(
            "adr-number-differs",
            f"the heading says {heading_number}, the file {number}",
            entry.position,
            "make the heading and the file's name agree",
        )


def _other_statuses(header: Header, facts: Facts, winner: Fact) -> Iterator[Problem]:
    lines = header.document.lines
    there = lines.position(winner.span.start)
    for other in repeated_statuses(facts.all, winner):
        if normalise_status(other.raw)[0] == normalise_status(winner.raw)[0]:
            continue

        yield Problem(
            "adr-status-twice",
            f"the status is {short(other.raw)} here and {short(winner.raw)} in line {there.line}",
            lines.position(other.span.start),
            f"line {there.line} counts: write its status here too, or delete one of the two",
        )


def _notices(header: Header, outline: Outline) -> Iterator[Problem]:
    """Yield what says that a decision is over, in its title or in a line, and is no status."""
    lines = header.document.lines
    words = title_status(outline.parts.title)
    if _says_over(words) and outline.heading is not None:
        yield _no_status(outline.parts.title, outline.heading.position)
    else:
        yield from _strikes(header, outline)

    for line in header.lines():
        notice = without_label(line.of(header.text))
        if not notice or not _says_over(notice):
            continue

        if not is_superseding(notice):
            yield _no_status(line.of(header.text), lines.position(line.start))


def _strikes(header: Header, outline: Outline) -> Iterator[Problem]:
    """Yield that a title is struck, or its number at least."""
    title, heading = outline.parts.title_span, outline.heading
    is_number_struck = (
        heading is not None
        and heading.title.start + len(STRIKE) < title.start
        and header.text.startswith(STRIKE, heading.title.start)
    )
    if is_number_struck or header.text.startswith(STRIKE, title.end):
        position = header.document.lines.position(title.start)
        yield _no_status(f"{STRIKE}{outline.parts.title}{STRIKE}", position)


def _says_over(words: str) -> bool:
    return normalise_status(words)[0] in _OVER and states_status(words)


def _no_status(text: str, position: Position) -> Problem:
    message = f"{short(text)} says that it is over, and is not read as the status"
    return Problem(UNSURE_RELATION, message, position, "if so, write that as its status")


def _unsure_relations(header: Header, facts: Facts) -> Iterator[Problem]:
    """Yield what sentences deny, plan or suppose of a supersession, which makes no relation."""
    spans = [fact.span for fact in facts.all if fact.key == "statement"]
    for zone in header.zone:
        spans += visible_lines(header.document, zone, header.document.hidden)

    quoted: set[int] = set()
    for span in spans:
        for phrase in unsure_phrases(header.text, span.start, span.end):
            if phrase.span.start in quoted:
                continue

            quoted.add(phrase.span.start)
            line = header.document.lines
            sentence = header.text[span.start : span.end].strip()
            yield Problem(
                UNSURE_RELATION,
                f"{short(sentence)} is not read as a fact",
                line.position(phrase.span.start),
                "when one decision replaces the other, `orbit adr supersede OLD --with NEW`",
            )


def _unread_ids(header: Header, facts: Facts, relations: Sequence[Relation]) -> Iterator[Problem]:
    """Yield the ids in the value of a key that names decisions which no relation has."""
    known = {
        target_key(relation.target_raw)[0] for relation in relations if not _is_mention(relation)
    }
    for fact in facts.of(*RELS):
        text = ", ".join(fact.values) or fact.raw
        for citation in find_citations(text, DECISIONS, ()):
            name = target_key(citation.id)[0]
            if name.rpartition("/")[2] in known or name in known:
                continue

            known.add(name)
            yield Problem(
                UNREAD_ID,
                f"{short(text)} names {citation.id}, which is not read as a link",
                header.document.lines.position(fact.span.start),
                "`orbit link`, or `orbit adr supersede`, makes the link by hand",
            )


def _is_mention(relation: Relation) -> bool:
    return relation.weak or (
        relation.rel == "references"
        and not relation.stated
        and not is_markdown(relation.target_raw)
    )


def stated_statuses(facts: Iterable[Fact], style: str) -> list[Status]:
    """Return the known statuses that a style states, each once:
    two in a history such as `Proposed`, `Accepted`.
    """
    texts = (fact.raw for fact in facts if fact.key == "statement" and fact.style == style)
    parts = chain.from_iterable(map(_PARTS.split, texts))
    statuses = (normalise_status(part)[0] for part in parts if not _is_relation(part))
    return [status for status in dict.fromkeys(statuses) if status != "unknown"]


def _is_relation(part: str) -> bool:
    """Say whether a part of a status says what another decision does to a part of this one."""
    phrase = next(find_phrases(part), None)
    if phrase is None or not (phrase.of_part or phrase.rel in ("amended_by", "amends")):
        return False

    return not part[: phrase.verb.start].strip(" *_`\"'")


def repeated_statuses(facts: Iterable[Fact], winner: Fact | None) -> Iterator[Fact]:
    """Yield the first known status in each style but the one that states the status that counts,
    and a history.
    """
    facts = tuple(facts)
    styles = {winner.style if winner is not None else ""}
    for style in {fact.style for fact in facts}:
        if len(stated_statuses(facts, style)) > 1:  # a history
            styles.add(style)

    for fact in facts:
        is_status = (
            fact.key == "status"
            and fact.style not in styles
            and normalise_status(fact.raw)[0] != "unknown"
        )
        if is_status and not (
            winner and winner.span.start < fact.span.end and fact.span.start < winner.span.end
        ):
            styles.add(fact.style)
            yield fact


def short(text: str) -> str:
    """Return a text as a message quotes it."""
    return f"`{cut(' '.join(text.split()), 58)}`"
