"""Reader of a text as a log of decisions, as one decision, or as neither."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import cast, get_args

from orbit_registry.formats.adr import file_names, headings
from orbit_registry.formats.adr.classifier import (
    is_blank_entry,
    is_blank_title,
    is_template,
    skip_reason,
)
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    is_log_name,
    number_of_path,
    series_number,
)
from orbit_registry.formats.adr.front_matter import (
    NO_FRONT_MATTER,
    Field,
    FrontMatter,
    read_front_matter,
    read_toml,
)
from orbit_registry.formats.adr.header import (
    LINK,
    Header,
    key_value,
    split_names,
    visible_lines,
    without_links,
)
from orbit_registry.formats.adr.headings import (
    EVIDENCE,
    HEADER_KEYS,
    TitleParts,
    find_cost,
    read_sections,
    section_key,
    split_title,
)
from orbit_registry.formats.adr.model import (
    FOLDER,
    AdrDocument,
    AdrFile,
    Fact,
    Rel,
    Relation,
    Section,
    Status,
)
from orbit_registry.formats.adr.relations import (
    Phrase,
    find_phrases,
    opening_phrases,
    target_key,
    unsure_phrases,
    value_phrases,
    wiki_links,
)
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.styles import (
    BADGE,
    BULLETS,
    FRONT_MATTER,
    HTML,
    LINES,
    SECTIONS,
    TABLE,
    row_facts,
    title_and_number,
)
from orbit_registry.formats.adr.unread import unread_status
from orbit_registry.formats.adr.vocabulary import (
    KEY_OF,
    Order,
    is_iso_date,
    is_of_two_orders,
    read_date,
    word_set,
)
from orbit_registry.formats.citations import Citation, IdForms, find_citations
from orbit_registry.formats.markdown import (
    Cell,
    Document,
    Heading,
    Table,
    is_markdown,
    parse_markdown,
    within,
)
from orbit_registry.formats.position import Position, Problem, Span
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.wording import plain

STYLES = (
    FRONT_MATTER,
    BULLETS,
    LINES,
    TABLE,
    HTML,
    SECTIONS,
    BADGE,
)  # the first style that states a fact wins
DATE_PROBLEMS = ("adr-date-unclear", "adr-date-order")
"""Codes of the problems of a date: unreadable, or ambiguous between day and month."""
_RELS = frozenset(get_args(Rel))
_NO_VALUE = word_set("no_value")
_BETWEEN_TASKS = re.compile(r",[ ]+(?=[\[#A-Z])")


@dataclass(frozen=True, slots=True)
class Outline:
    """Name and extent of a decision, apart from the facts of its header."""

    heading: Heading | None
    parts: TitleParts
    number: str | None
    span: Span
    body: Span  # the text below the heading
    named_date: tuple[str, str] | None  # the date in the heading or the path, and which of the two
    changelog_date: Fact | None = None


class _Facts:
    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = tuple(facts)
        self._by_key: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.all:
            self._by_key[fact.key].append(fact)

    def of(self, *keys: str) -> list[Fact]:
        return [fact for key in keys for fact in self._by_key.get(key, ())]

    def first(self, *keys: str) -> Fact | None:
        """Return the winning fact of the first key that has one:
        the first with a value, else the first.
        """
        for key in keys:
            if facts := self._by_key.get(key):
                return next((fact for fact in facts if fact.raw.strip()), facts[0])
        return None

    def values(self, key: str) -> tuple[str, ...]:
        return _unique(value for fact in self.of(key) for value in _listed(fact))


def _assemble(header: Header, outline: Outline, row: Sequence[Fact] = ()) -> AdrDocument:
    document, heading, number, parts = (
        header.document,
        outline.heading,
        outline.number,
        outline.parts,
    )

    facts = _Facts(chain(row, (fact for style in STYLES for fact in style.read(header))))
    sections = read_sections(document, header.headings, outline.body)
    status_fact = facts.first("status")
    status, status_raw = _status(facts)
    status_syntax = ""
    if status == "unknown" and not status_raw.strip():
        status_raw, status_syntax = unread_status(outline.span.of(document.text))

    date, date_raw, date_source, date_span = _date(facts, outline)

    relations = tuple(_relations(header, facts, sections, outline))
    title, titles = _title(facts, outline)
    start = max(outline.span.start, document.content_start)
    position = heading.position if heading else document.lines.position(start)
    numbers = [fact.span for fact in facts.of("number") if _same_number(fact.raw, number)]

    return AdrDocument(
        title=title,
        number=number,
        status_raw=status_raw,
        status=status,
        status_syntax=status_syntax,
        date=date,
        date_raw=date_raw,
        date_source=date_source,
        deciders=_people(facts, "deciders") or _people(facts, "authors") or _people(facts, "owner"),
        tasks=facts.values("tasks"),
        legacy_ids=facts.values("legacy_ids"),
        tags=facts.values("tags"),
        paths=facts.values("paths"),
        relations=relations,
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
        problems=tuple(
            _problems(
                header,
                facts,
                outline,
                is_dated=date is not None,
                status=status,
                position=position,
                relations=relations,
            )
        ),
    )


def _title(facts: _Facts, outline: Outline) -> tuple[str, tuple[Span, ...]]:
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
    # A line of what it replaces, and below it `Superseded by …`: the second states the status.
    if status in ("accepted", "deprecated", "unknown") and superseding is not None:
        return "superseded", raw

    return status, raw


def _date(facts: _Facts, outline: Outline) -> tuple[str | None, str, str | None, Span | None]:
    fact, changelog = facts.first("date"), outline.changelog_date
    status_date = facts.first("status_date")
    for candidate in (fact, status_date, changelog):
        iso = read_date(candidate.raw) if candidate is not None else None
        if candidate is not None and iso is not None:
            return (
                iso,
                candidate.raw,
                candidate.style,
                candidate.span if candidate is fact else None,
            )

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
    if fact.key == "tasks":
        parts = (
            _task(part.strip()) for value in fact.values for part in _BETWEEN_TASKS.split(value)
        )
        return tuple(part for part in parts if plain(part) not in _NO_VALUE)

    if len(fact.values) == 1 and fact.style != "front-matter" and fact.key == "tags":
        return tuple(
            part.strip().strip("[]`*_")
            for part in without_links(fact.values[0]).split(",")
            if part.strip()
        )

    return fact.values


def _task(text: str) -> str:
    """Return the number of a linked task, else its address: `SHOP-1` for `[SHOP-1](https://…)`."""
    link = LINK.fullmatch(text)
    return (
        text
        if link is None
        else link["text"]
        if any(map(str.isdigit, link["text"]))
        else link["url"]
    )


def _people(facts: _Facts, role: str) -> tuple[str, ...]:
    fact = facts.first(role)
    if fact is None:
        return ()
    names: list[str] = []
    for value in fact.values or (fact.raw,):
        bare = without_links(value)
        names += [bare] if fact.is_list else split_names(bare)

    return _unique(name for name in names if plain(name) not in _NO_VALUE)


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _same_number(raw: str, number: str | None) -> bool:
    digits = raw.rpartition("-")[2]
    return (
        number is not None and digits.isdigit() and number.isdigit() and int(digits) == int(number)
    )


def _relations(
    header: Header, facts: _Facts, sections: Sequence[Section], outline: Outline
) -> Iterator[Relation]:
    known_files: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    mentions = _mentioned_relations(header, facts, outline)
    for relation in (
        *_stated_relations(header, facts),
        *_linked_relations(header, sections),
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
                yield _relation(phrase, _target(header, phrase), position, phrase.span)
        elif fact.key in _RELS:
            yield from _fact_relations(header, fact)


def _unsure_relations(header: Header, facts: _Facts, outline: Outline) -> Iterator[Problem]:
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
                f"{_short(sentence)} is not read as a fact",
                line.position(phrase.span.start),
                "when one decision replaces the other, `orbit adr supersede OLD --with NEW`",
            )


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
        for phrase in value_phrases(rel, value, 0, len(value)):
            if phrase.is_sure:
                yield _relation(phrase, phrase.target, position, fact.span)


def _relation(phrase: Phrase, target: str, position: Position, span: Span) -> Relation:
    return Relation(phrase.rel, target, position, span, phrase.text, of_part=phrase.of_part)


def _linked_relations(header: Header, sections: Sequence[Section]) -> Iterator[Relation]:
    """Yield `- Supersedes [x](x.md)` from sections of links, and from lines of the header."""
    document = header.document
    zones = [section.body for section in sections if section.key == "references"] + list(
        header.zone
    )
    for zone in zones:
        for line in visible_lines(document, zone, document.hidden):
            for phrase in opening_phrases(header.text, line.start, line.end):
                if "://" in phrase.target and phrase.rel in ("implements", "related_to"):
                    continue  # an issue or a page, not a decision
                position = document.lines.position(phrase.span.start)
                yield _relation(phrase, _target(header, phrase), position, phrase.span)


def _mentioned_relations(header: Header, facts: _Facts, outline: Outline) -> Iterator[Relation]:
    document, body = header.document, outline.body
    own_ids = {value for fact in facts.of("legacy_ids") for value in fact.values}

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
        is_own_number = _same_number(citation.id, outline.number) and "/" not in citation.id
        if citation.id in own_ids or is_own_number:
            continue
        yield Relation(
            "references", citation.id, citation.position, citation.span, citation.id, citation.weak
        )


def _problems(
    header: Header,
    facts: _Facts,
    outline: Outline,
    *,
    is_dated: bool,
    status: Status,
    position: Position,
    relations: Sequence[Relation],
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

    yield from header.front_matter.problems
    yield from _unsure_relations(header, facts, outline)

    yield from _unread_ids(header, facts, relations)

    for other in repeated_statuses(facts.all, status_fact):
        if (
            status_fact is not None
            and normalise_status(other.raw)[0] != normalise_status(status_fact.raw)[0]
        ):
            here, there = (lines.position(fact.span.start) for fact in (other, status_fact))
            message = (
                f"the status is {_short(other.raw)} here and {_short(status_fact.raw)} in "
                f"line {there.line}"
            )
            hint = f"line {there.line} counts: write its status here too, or delete one of the two"
            yield Problem("adr-status-twice", message, here, hint)

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


def _unread_ids(header: Header, facts: _Facts, relations: Sequence[Relation]) -> Iterator[Problem]:
    """Yield the ids in the value of a key that names decisions which no relation has."""
    known = {
        target_key(relation.target_raw)[0] for relation in relations if not _is_mention(relation)
    }
    for fact in facts.of(*_RELS):
        text = ", ".join(fact.values) or fact.raw
        for citation in find_citations(text, _DECISIONS, ()):
            name = target_key(citation.id)[0]
            if name.rpartition("/")[2] in known or name in known:
                continue

            known.add(name)
            yield Problem(
                UNREAD_ID,
                f"{_short(text)} names {citation.id}, which is not read as a link",
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
    styles |= {
        style for style in {fact.style for fact in facts} if len(stated_statuses(facts, style)) > 1
    }
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


def _short(text: str) -> str:
    return f"`{cut(' '.join(text.split()), 58)}`"


_DECISIONS = IdForms(("ADR-",))  # how decision documents refer to each other, in any repository
_PARTS = re.compile(r"[,;\n]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_COMPONENT = re.compile(
    r"<[A-Z][\w.]*(?:\s[^<>]{0,200})?/>|<(?P<tag>[A-Z][\w.]*)\s[^<>]{0,200}=[^<>]{0,200}>[^<>]{0,60}</(?P=tag)>"
    r"|\{\{[<%].{0,200}?[%>]\}\}"
)
"""A tag of a page's component, which is no text: `<Badge type="tip" text="accepted" />`."""
_CODE_LINE = re.compile(
    r"[ \t]{0,3}(?:[-*+|][ \t]+)?[*_]{0,2}[\w -]{1,30}?[*_]{0,2}[ \t]*[:：|][*_]{0,2}[ \t]*\[?`?"
    r"(?P<code>[A-Z][A-Z0-9]{0,9}[- ](?P<number>\d{1,6}))`?(?:\]\([^()\s]*\))?[ \t|]*(?=$|[,.;(])"
)
"""A line of the header that says what a decision is called: `* Proposal: [XE-0007](0007-x.md)`."""
_CODE_LINES = 12  # lines of the header that may say so
_CHANGE_DATE = re.compile(r"[ \t]*[*+-][ \t]+[*_]{0,2}(?P<date>\d{4}-\d\d-\d\d)(?![\w-])")
UNSURE_RELATION = "adr-relation-unsure"
BLANK_TITLE = "adr-title-blank"
"""Code of the problem of a title that is still the template's."""
UNREAD_ID = "adr-relation-unread"
"""Code of the problem of an id in the value of a key, where the words around it are not read."""
UNNAMED = (
    "adr-entry-unnamed"  # code of the problem of a log's section that may be meant as an entry
)
_OF_SERIES = re.compile(r"(?P<code>[A-Za-z]{2,8})[-_ ]?(?P<number>\d{1,6})(?!\w)")
_NUMBER_FIELD = re.compile(r"(?:ADR[- #]{0,2})?(?P<number>\d{1,9})", re.IGNORECASE)
_CODED = re.compile(
    r"[*_`\[]{0,3}(?P<code>[A-Z]{1,6}[-_ #]?)(?P<number>\d{1,4})[\]*_`]{0,3}"
    r"(?:[ \t]*[—–:：·|)]|\.(?=[ \t])|[ \t]+-(?=[ \t]))[ \t]*(?=\S)"
)
"""A heading of a log that begins with a code of any kind: `KD1 — Title`."""
_ROW_NUMBER = re.compile(r"[\[`#]*(?P<code>[A-Za-z]{0,8}[-_ #]?)(?P<number>\d{1,6})[\]`]*")
_BULLET = re.compile(r"\s*[-*+][ ]")
_PARAGRAPH = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?P<name>[^\W\d_][^:：*_\r\n]{1,40})(?:\*\*|__)?[:：]"
)
"""A paragraph that begins with a section's name: `Decision: we keep one queue.`"""


@lru_cache(maxsize=4096)  # pages, snapshot and checks of one run ask about the same documents
def read_document(text: str, path: str = "") -> AdrFile:
    """Read `text`; the name in `path` (relative to the project) tells what the text may be.

    Never fails.
    """
    pure_path, stem = _name_of(path)
    if pure_path.suffix and not is_markdown(pure_path.name):
        return AdrFile("none", (), (), f"not Markdown ({pure_path.suffix})")
    if is_template(pure_path, stem):
        return AdrFile("none", (), (), "a template")
    if not text.strip("\ufeff \t\r\n"):
        return AdrFile("log", ()) if is_log_name(stem) else AdrFile("none", (), (), "empty")

    document = parse_markdown(text)
    entries = _log_headings(document)
    if not entries and is_log_name(stem):
        entries = (
            _log_headings(document, in_log=True)
            or _dated_headings(document)
            or _coded_headings(document)
        )

    if (entries and is_log_name(stem)) or _is_log(document, entries):
        citations = find_citations(document.text, _DECISIONS, document.code)
        listed = (_entry(document, heading, parts, citations) for heading, parts in entries)
        decisions = tuple(entry for entry in listed if not is_blank_entry(entry))
        return AdrFile("log", decisions, tuple(_unnamed_sections(document, entries)))

    rows = tuple(table_entries(document)) if is_log_name(stem) else ()
    if rows:
        return AdrFile("log", rows)

    single = _read_single(document, path, stem, pure_path)
    is_log = is_log_name(stem) and (
        single.skipped_reason
        or stem[:1].isdigit()
        or any(_is_title_of_log(entry.title) for entry in single.entries)
    )
    return AdrFile("log", ()) if is_log else single


def _is_title_of_log(title: str) -> bool:
    """Say whether a title is that of all decisions: `Executors — Decisions`."""
    parts = re.split(r"\s*[—–:|-]\s+", title)
    return any(map(is_log_name, (title, parts[0], parts[-1])))


def single_span(text: str, path: str, document: Document | None = None) -> Span | None:
    """Return the span of a single decision's prose, in a fourth of `read_document`'s time;
    None if in doubt. `document` is the structure of the text, if the caller has it.
    """
    pure, stem = _name_of(path)
    if not is_markdown(pure.name) or is_log_name(stem) or not text.strip("\ufeff \t\r\n"):
        return None
    if is_template(pure, stem):
        return None

    document = document or parse_markdown(text)
    if _is_log(document, _log_headings(document)):
        return None

    heading = headings.titled_heading(headings.title_heading(document))
    return Span(heading.body.start if heading is not None else 0, len(text))


def _name_of(path: str) -> tuple[PurePosixPath, str]:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure, pure.stem if pure.suffix else pure.name


def _log_headings(document: Document, *, in_log: bool = False) -> list[tuple[Heading, TitleParts]]:
    """Return headings of ADRs below the title;
    `in_log` `D1`, `Decision 1` or bare numbers without gaps count.
    """
    candidates: list[tuple[Heading, TitleParts]] = []
    for heading in (heading for heading in document.headings if heading.level > 1):
        parts = headings.split_entry(document.text, heading.title, heading.text, in_log=in_log)
        if parts is not None:
            candidates.append((heading, parts))

    coded = [candidate for candidate in candidates if candidate[1].code] if in_log else []
    level = min((heading.level for heading, _ in coded or candidates), default=0)
    entries = [(heading, parts) for heading, parts in coded or candidates if heading.level == level]
    numbers = [int(parts.number or 0) for _, parts in entries]
    is_list = len(entries) > 1 and sorted(numbers) == list(range(1, len(entries) + 1))

    return entries if not in_log or coded or is_list else []


def _dated_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    below = [heading for heading in document.headings if heading.level > 1]
    dated = [
        (heading, headings.split_dated(document.text, heading.title, heading.text))
        for heading in below
    ]
    candidates = [(heading, parts) for heading, parts in dated if parts is not None]
    level = min((heading.level for heading, _ in candidates), default=0)
    entries = [(heading, parts) for heading, parts in candidates if heading.level == level]

    return entries if 2 * len(entries) >= sum(heading.level == level for heading in below) else []


def _coded_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings of a log whose entries have a code of their own kind, `KD1 — T`, or
    a status each.
    """
    below = [heading for heading in document.headings if heading.level > 1]
    groups: dict[tuple[int, str], list[tuple[Heading, TitleParts]]] = defaultdict(list)
    for heading in below:
        match = _CODED.match(document.text, heading.title.start, heading.title.end)
        if match is not None:
            span = Span(match.end(), heading.title.end)
            number = Span(*match.span("number"))
            title = span.of(document.text).strip()
            parts = TitleParts(
                match["number"], number, title, span, match["code"] + match["number"]
            )
            groups[heading.level, match["code"].lower()].append((heading, parts))

    coded = max(groups.values(), key=len, default=[])
    numbers = {parts.number for _, parts in coded}
    if len(coded) > 1 and len(numbers) == len(coded):
        return coded

    alike = [heading for heading in below if _states_status(document, heading)]
    level = min((heading.level for heading in alike), default=0)
    entries = [heading for heading in alike if heading.level == level]
    if len(entries) < 2:
        return []

    return [(heading, TitleParts(None, None, heading.text, heading.title)) for heading in entries]


def _is_log(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> bool:
    if len(entries) < 2:
        return False

    return any(_states_status(document, heading) for heading, _ in entries)


def _states_status(document: Document, heading: Heading) -> bool:
    """Say whether the first line below a heading states a status."""
    for line in visible_lines(document, heading.body, document.code):
        content = document.text[line.start : line.end]
        if not content.strip():
            continue

        start = line.start + len(content) - len(content.lstrip("-*+ "))
        pairs = (key_value(document.text, at, line.end) for at in (start, line.start))
        return any(pair is not None and pair[0] == "status" for pair in pairs)

    return False


def _entry(
    document: Document, heading: Heading, parts: TitleParts, citations: tuple[Citation, ...]
) -> AdrDocument:
    date = (parts.date, "heading") if parts.date and is_iso_date(parts.date) else None
    body = Span(heading.body.start, content_end(document, heading.body))
    outline = Outline(heading, parts, parts.number, heading.section, body, date)
    entry = _assemble(_log_header(document, heading, citations), outline)
    return replace(entry, legacy_ids=(*entry.legacy_ids, parts.code)) if parts.code else entry


def table_entries(document: Document) -> Iterator[AdrDocument]:
    """Yield the decisions in the rows of a table with a column of titles and one of statuses."""
    for table in document.tables:
        columns = title_and_number(table) if len(table.rows) > 1 else None
        if columns is None:
            continue

        for row in table.rows[1:]:
            yield from _row_entry(document, table, row, columns)


def _row_entry(
    document: Document, table: Table, row: Sequence[Cell], columns: tuple[int, int | None]
) -> Iterator[AdrDocument]:
    title, number = columns
    cell = row[title] if title < len(row) else None
    if cell is None or cell.span is None or not cell.text:
        return

    text = document.text
    start = text.rfind("\n", 0, cell.span.start) + 1
    end = document.lines.ends[document.lines.index_of(cell.span.start)]
    code = row[number] if number is not None and number < len(row) else None
    match = _ROW_NUMBER.fullmatch(code.text) if code is not None else None
    parts = TitleParts(None, None, cell.text, cell.span)
    if match is not None and code is not None and code.span is not None:
        name = code.text.strip() if match["code"] else ""
        parts = TitleParts(match["number"], code.span, cell.text, cell.span, name)

    header = Header(document, (), (), in_log=True)
    outline = Outline(None, parts, parts.number, Span(start, end), Span(start, end), None)
    entry = _assemble(header, outline, tuple(row_facts(text, table, row)))
    has_code = parts.code and not parts.code.upper().startswith("ADR")
    yield replace(entry, title=cell.text, legacy_ids=(parts.code,) if has_code else ())


def entry_header(text: str, entry: AdrDocument) -> Header:
    """Return the header of an entry, for an edit that adds a fact to it."""
    document = parse_markdown(text)
    if entry.heading_span is not None and document.headings:
        heading = next(h for h in document.headings if h.section.start == entry.heading_span.start)
        if heading.section == entry.span and heading.level > 1:
            return _log_header(document, heading)

    return _single_header(
        document, entry.heading_span.end if entry.heading_span else document.content_start
    )


def _log_header(
    document: Document, heading: Heading, citations: tuple[Citation, ...] = ()
) -> Header:
    inside = tuple(within(document.headings, heading.body, lambda other: other.section.start))
    zones = (_entry_zone(document, heading, inside),)
    return Header(document, zones, inside, in_log=True, citations=citations)


def _single_header(document: Document, start: int, citations: tuple[Citation, ...] = ()) -> Header:
    inside = tuple(heading for heading in document.headings if heading.section.start >= start)
    zones = tuple(_zones(document, start, inside, headings.title_heading(document)))
    return Header(document, zones, inside, False, _front_matter(document), citations)


def _front_matter(document: Document) -> FrontMatter:
    block = headings.fields_span(document)
    if block is not None:
        return read_front_matter(document.text, block)

    block = headings.toml_span(document)
    return NO_FRONT_MATTER if block is None else read_toml(document.text, block)


def content_end(document: Document, span: Span) -> int:
    """Return the end of a span's content, before the blank lines and the rule that separate what
    follows.
    """
    rules = within(document.rules, span, lambda rule: rule.start)
    end = (
        rules[-1].start
        if rules and not document.text[rules[-1].end : span.end].strip()
        else span.end
    )
    return span.start + len(document.text[span.start : end].rstrip())


def _entry_zone(document: Document, heading: Heading, inside: Sequence[Heading]) -> Span:
    first = next((other for other in inside if section_key(other.text) not in HEADER_KEYS), None)
    end = first.section.start if first else heading.body.end
    has_metadata = False
    blank = False

    for line in visible_lines(document, Span(heading.body.start, end), document.html):
        content = document.text[line.start : line.end]
        if not content.strip():
            blank = has_metadata
            continue

        states = _states_something(document.text, line.start, line.end)
        if blank and not states:
            return Span(heading.body.start, line.start)

        has_metadata = has_metadata or states
        if not has_metadata and not content.lstrip().startswith(("#", "|", "!")):
            return Span(heading.body.start, line.start)

    return Span(heading.body.start, end)


def _states_something(text: str, start: int, end: int) -> bool:
    """Say whether a line is `Key: value`, a named part, or begins with a relation."""
    content = text[start:end]
    part = _PARAGRAPH.match(content)
    if part is not None and section_key(part["name"]) in EVIDENCE:
        return True

    bullet = _BULLET.match(content)
    if key_value(text, start + (bullet.end() if bullet else 0), end) is not None:
        return True

    first = next(find_phrases(content.lstrip(" \t*_>-+")), None)
    return first is not None and first.verb.start == 0


def _unnamed_sections(
    document: Document, entries: Sequence[tuple[Heading, TitleParts]]
) -> Iterator[Problem]:
    sections = {heading.section for heading, _ in entries}
    first, parts = entries[0]
    form = "dated" if parts.number is None else "numbered"
    for other in document.headings:
        if (
            other.level == first.level
            and other.section not in sections
            and section_key(other.text) == "other"
        ):
            message = f"not {form} as the entries of this log are, so it is not an entry"
            hint = (
                f"write its heading as theirs, such as `{'#' * first.level} "
                f"{first.text[:80]}`, and import again"
            )
            yield Problem(UNNAMED, message, other.position, hint)


def _read_single(document: Document, path: str, stem: str, pure_path: PurePosixPath) -> AdrFile:
    heading = headings.title_heading(document)
    start = heading.body.start if heading else document.content_start
    header = _single_header(
        document, start, find_citations(document.text, _DECISIONS, document.code)
    )
    path_number = number_of_path(path)
    titled = headings.titled_heading(heading)
    parts = _title_parts(header, titled, path, stem, start)

    series = _series_number(header.fields, pure_path)
    outline = Outline(
        titled,
        parts,
        _field_number(header.fields) or path_number or series or parts.number,
        Span(0, len(document.text)),
        Span(start, len(document.text)),
        _named_date(parts, path),
        _changelog_date(header),
    )
    entry = _assemble(header, outline)
    if entry.number is None:  # front matter: `title: "ADR-0042: Use x"`
        title = next((fact.raw for fact in entry.facts if fact.key == "title"), "")
        entry = replace(entry, number=split_title(title, Span(0, len(title)), title).number)

    codes = _codes(header, entry.number)
    entry = replace(entry, legacy_ids=_unique((*entry.legacy_ids, *codes)))

    folder_status = (
        file_names.status_of_path(path)
        if entry.format == "none" and entry.status == "unknown"
        else None
    )

    bodies = {
        section.key: section.body
        for section in entry.sections
        if section.key in ("context", "decision")
    }
    filled = len(bodies) == 2 and all(
        headings.is_filled(document, body) for body in bodies.values()
    )
    reason = skip_reason(
        entry, header.headings, stem, pure_path, in_series=series is not None, is_filled=filled
    )
    entry = (
        replace(entry, status=folder_status, format=FOLDER) if folder_status is not None else entry
    )

    if reason:
        return AdrFile("none", (), (), reason, entry)

    if is_blank_title(entry.title):
        entry = _titled_by_path(entry, path)

    return AdrFile("file", (entry,), entry.problems, in_series=series is not None)


def _titled_by_path(entry: AdrDocument, path: str) -> AdrDocument:
    title = file_names.title_of_path(path)
    problem = Problem(
        BLANK_TITLE,
        f"the title is still the template's: {_short(entry.title)}",
        entry.position,
        f"the record is called `{title}` after the file; write the title into the document",
    )
    problems = (*entry.problems, problem)
    return replace(entry, title=title, title_spans=(), problems=problems)


def _named_date(parts: TitleParts, path: str) -> tuple[str, str] | None:
    if parts.date:
        return parts.date, "heading"

    path_date = file_names.date_of_path(path)
    return (path_date, "path") if path_date else None


def _codes(header: Header, number: str | None) -> Iterator[str]:
    """Yield the codes by which the first lines call a decision of this number."""
    for line in islice(header.lines(), _CODE_LINES):
        match = _CODE_LINE.match(header.text, line.start, line.end)
        if match is None or not _same_number(match["number"], number):
            continue

        key = plain(match.group().strip(" -*+|_").partition(":")[0].strip(" *_|"))
        code = match["code"].replace(" ", "-")
        if not code.startswith("ADR-") and KEY_OF.get(key) not in _RELS | {"tasks"}:
            yield code


def _title_parts(
    header: Header, heading: Heading | None, path: str, stem: str, start: int
) -> TitleParts:
    """Return number and title as the heading states them, else a line above all headings,
    else the file's name.
    """
    document, path_number = header.document, number_of_path(path)
    if heading is None:
        path_title = file_names.title_of_path(path)
        parts = headings.title_line(document, path_number, path_title)
        return parts or TitleParts(None, None, path_title, Span(start, start))

    span = headings.title_text(document, heading, header.headings)
    title = heading.text if span == heading.title else span.of(document.text)
    title = _COMPONENT.sub("", _COMMENT.sub("", title)).strip()
    parts = split_title(document.text, span, title, path_number or series_number(stem, title))
    below = headings.title_below(document, parts, header.headings)

    return (
        parts if below is None else replace(parts, title=below.of(document.text), title_span=below)
    )


def _field_number(fields: Sequence[Field]) -> str | None:
    """Return the number that the first field called after it states: `id:
    ADR-0042`, `number: 42`.
    """
    values = (field.value for field in fields if field.key.lower() in ("id", "number", "adr"))
    match = _NUMBER_FIELD.fullmatch(
        next((value for value in values if any(map(str.isdecimal, value))), "")
    )
    return match["number"] if match else None


def _series_number(fields: Sequence[Field], pure: PurePosixPath) -> str | None:
    """Return the number that the front matter states under the code in the file's or
    folder's name.
    """
    series = _OF_SERIES.match(pure.parent.name if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    values = (f.value.strip() for f in fields if series and f.key.lower() == series["code"].lower())
    same = any(
        value.isdecimal() and series and int(value) == int(series["number"]) for value in values
    )
    return series["number"] if series and same else None


def _zones(
    document: Document, after: int, inside: Sequence[Heading], title: Heading | None
) -> Iterator[Span]:
    """Yield the spans that may state metadata;
    a notice above the title comes last, because the header counts first.
    """
    yield from _zones_below(document, after, inside, title)
    if title is not None and document.text[document.content_start : title.section.start].strip():
        yield Span(document.content_start, title.section.start)


def _zones_below(
    document: Document, after: int, inside: Sequence[Heading], title: Heading | None
) -> Iterator[Span]:
    end = inside[0].section.start if inside else len(document.text)
    yield Span(after, end)

    for index, heading in enumerate(inside):
        key = section_key(heading.text)
        if key == "metadata":
            yield heading.body
        elif (
            index == 0 and title is not None and heading.text.casefold() == title.text.casefold()
        ):  # the title again
            yield Span(
                heading.body.start,
                inside[1].section.start if len(inside) > 1 else len(document.text),
            )
        elif key not in HEADER_KEYS:
            return


def _changelog_date(header: Header) -> Fact | None:
    document = header.document
    heading = next(
        (heading for heading in header.headings if section_key(heading.text) == "changelog"), None
    )
    if heading is None:
        return None

    lines = visible_lines(document, heading.body, document.code)
    matches = (_CHANGE_DATE.match(document.text, line.start, line.end) for line in lines)
    dates = [match["date"] for match in matches if match is not None and is_iso_date(match["date"])]
    return Fact("date", min(dates), heading.body, "changelog") if dates else None
