"""Reads a text as a log of decisions, as one decision, or as neither; it opens no file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import get_args

from orbit_registry.formats.adr.classifier import is_template, skip_reason
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    date_of_path,
    is_log_name,
    number_of_path,
    series_number,
    status_of_path,
    title_of_path,
)
from orbit_registry.formats.adr.header import Field, Header, front_matter_fields, key_value, split_names, visible_lines
from orbit_registry.formats.adr.headings import (
    EVIDENCE,
    HEADER_KEYS,
    TitleParts,
    find_cost,
    is_filled,
    read_sections,
    section_key,
    split_dated,
    split_entry,
    split_title,
    title_below,
    title_heading,
    title_line,
    title_text,
    titled_heading,
)
from orbit_registry.formats.adr.model import FOLDER, AdrDocument, AdrFile, Fact, Rel, Relation, Section, Status
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
from orbit_registry.formats.adr.vocabulary import Order, is_iso_date, is_of_two_orders, read_date
from orbit_registry.formats.citations import Citation, IdForms, find_citations
from orbit_registry.formats.markdown import Document, Heading, is_markdown, parse_markdown, within
from orbit_registry.formats.position import Position, Problem, Span

_DECISIONS = IdForms(("ADR-",))
"""What decision documents call each other, in whatever repository they were written."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CHANGE_DATE = re.compile(r"[ \t]*[*+-][ \t]+[*_]{0,2}(?P<date>\d{4}-\d\d-\d\d)(?![\w-])")
UNNAMED = "adr-entry-unnamed"
"""The code of what is said of a log's section that may be meant as an entry."""
_OF_SERIES = re.compile(r"(?P<code>[A-Za-z]{2,8})[-_ ]?(?P<number>\d{1,6})(?!\w)")
_ANY_ENTRY = re.compile(r"\d")
_PARAGRAPH = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?P<name>[^\W\d_][^:：*_\r\n]{1,40})(?:\*\*|__)?[:：]")
"""A paragraph that begins with its section's name: `Decision: we keep one queue.`"""


@lru_cache(maxsize=1024)  # pages, snapshot and checks of one run ask about the same documents
def read_document(text: str, path: str = "") -> AdrFile:
    """Read `text`; `path` (with `/`, relative to the project) says by its name what the text may be. Never fails."""
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
        entries = _log_headings(document, in_log=True) or _dated_headings(document)
    if (entries and is_log_name(stem)) or _is_log(document, entries):
        return _read_log(document, entries)
    single = _read_single(document, path, stem, pure_path)
    is_log = is_log_name(stem) and (single.skipped_reason or any(is_log_name(entry.title) for entry in single.entries))
    return AdrFile("log", ()) if is_log else single


def single_span(text: str, path: str) -> Span | None:
    """Return where the prose of a document's one decision stands, below its title; None where `read_document` knows.

    That takes a fourth of what reading all facts takes: who shows a text needs no more of most documents.
    """
    pure, stem = _name_of(path)
    if not is_markdown(pure.name) or is_log_name(stem) or not text.strip("\ufeff \t\r\n"):
        return None
    if is_template(pure, stem):
        return None
    document = parse_markdown(text)
    if _is_log(document, _log_headings(document)):
        return None
    heading = titled_heading(title_heading(document))
    return Span(heading.body.start if heading is not None else 0, len(text))


def _name_of(path: str) -> tuple[PurePosixPath, str]:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure, pure.stem if pure.suffix else pure.name


# --- a log of decisions


def _log_headings(document: Document, *, in_log: bool = False) -> list[tuple[Heading, TitleParts]]:
    """Return the headings that name an ADR, below the document's own title.

    With `in_log` the file is known to hold decisions, so that `D1` and `Decision 1` name one, and where none does,
    bare numbers that begin with 1 and miss none.
    """
    candidates: list[tuple[Heading, TitleParts]] = []
    for heading in document.headings:
        parts = split_entry(document.text, heading.title, heading.text, in_log=in_log) if heading.level > 1 else None
        if parts is not None:
            candidates.append((heading, parts))
    coded = [candidate for candidate in candidates if candidate[1].code] if in_log else []
    level = min((heading.level for heading, _ in coded or candidates), default=0)
    entries = [(heading, parts) for heading, parts in coded or candidates if heading.level == level]
    numbers = [int(parts.number or 0) for _, parts in entries]
    is_list = len(entries) > 1 and sorted(numbers) == list(range(1, len(entries) + 1))
    return entries if not in_log or coded or is_list else []


def _dated_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings of a log that name its entries by date, where those are at least half of their level."""
    below = [heading for heading in document.headings if heading.level > 1]
    dated = [(heading, split_dated(document.text, heading.title, heading.text)) for heading in below]
    candidates = [(heading, parts) for heading, parts in dated if parts is not None]
    level = min((heading.level for heading, _ in candidates), default=0)
    entries = [(heading, parts) for heading, parts in candidates if heading.level == level]
    return entries if 2 * len(entries) >= sum(heading.level == level for heading in below) else []


def _is_log(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> bool:
    """Say whether several headings name ADRs that state a status of their own."""
    if len(entries) < 2:
        return False
    for heading, _ in entries:
        for line in visible_lines(document, heading.body, document.code):
            content = document.text[line.start : line.end]
            pair = key_value(document.text, line.start + len(content) - len(content.lstrip("-*+ ")), line.end)
            bare_pair = key_value(document.text, line.start, line.end)
            if (pair and pair[0] == "status") or (bare_pair and bare_pair[0] == "status"):
                return True
            if content.strip():
                break
    return False


def _read_log(document: Document, headings: Sequence[tuple[Heading, TitleParts]]) -> AdrFile:
    citations = find_citations(document.text, _DECISIONS, document.code)
    entries = tuple(_entry(document, heading, parts, citations) for heading, parts in headings)
    return AdrFile("log", entries, tuple(_unnamed_sections(document, headings)))


def _entry(document: Document, heading: Heading, parts: TitleParts, citations: tuple[Citation, ...]) -> AdrDocument:
    inside = _inside(document, heading)
    body = _trimmed(document, heading.body)
    header = Header(document, (_entry_zone(document, heading, inside),), inside, (), True, citations)
    entry = assemble(
        header,
        heading=heading,
        parts=parts,
        number=parts.number,
        span=heading.section,
        body=body,
        named_date=(parts.date, "heading") if parts.date and is_iso_date(parts.date) else None,
        changelog_date=None,
    )
    return replace(entry, legacy_ids=(*entry.legacy_ids, parts.code)) if parts.code else entry


def entry_header(text: str, entry: AdrDocument) -> Header:
    """Return what the styles read of an entry, for an edit that has to add something to it."""
    document = parse_markdown(text)
    if entry.heading_span is not None and document.headings:
        heading = next(h for h in document.headings if h.section.start == entry.heading_span.start)
        if heading.section == entry.span and heading.level > 1:
            inside = _inside(document, heading)
            return Header(document, (_entry_zone(document, heading, inside),), inside, (), True)
    after = entry.heading_span.end if entry.heading_span else document.content_start
    inside = tuple(other for other in document.headings if other.section.start >= after)
    zones = tuple(_zones(document, after, inside, title_heading(document)))
    return Header(document, zones, inside, front_matter_fields(document), False)


def _inside(document: Document, heading: Heading) -> tuple[Heading, ...]:
    return tuple(within(document.headings, heading.body, lambda other: other.section.start))


def _trimmed(document: Document, body: Span) -> Span:
    """Leave the blank lines and the rule that separate an entry from the next one out of its body."""
    end = body.end
    rules = within(document.rules, body, lambda rule: rule.start)
    if rules and not document.text[rules[-1].end : body.end].strip():
        end = rules[-1].start
    return Span(body.start, body.start + len(document.text[body.start : end].rstrip()))


def _entry_zone(document: Document, heading: Heading, inside: Sequence[Heading]) -> Span:
    """Return the lines of an entry that may state metadata: up to its first section or prose."""
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
    """Say whether a line is `Key: value`, a part that is named so, or begins with what it does to another decision."""
    content = text[start:end]
    part = _PARAGRAPH.match(content)
    if part is not None and section_key(part["name"]) in EVIDENCE:
        return True
    if key_value(text, start + _bullet(content), end) is not None:
        return True
    first = next(find_phrases(content.lstrip(" \t*_>-+")), None)
    return first is not None and first.verb.start == 0


def _bullet(content: str) -> int:
    bare = content.lstrip()
    return len(content) - len(bare) + 2 if bare.startswith(("- ", "* ", "+ ")) else 0


def _unnamed_sections(document: Document, headings: Sequence[tuple[Heading, TitleParts]]) -> Iterator[Problem]:
    """Yield the sections of a log beside its entries that are not named as these are, nor by a word for a section."""
    entries = {heading.section for heading, _ in headings}
    first, parts = headings[0]
    form = "dated" if parts.number is None else "numbered"
    for other in document.headings:
        if other.level == first.level and other.section not in entries and section_key(other.text) == "other":
            message = f"not {form} as the entries of this log are, so it is none of them"
            hint = f"write its heading as theirs, such as `{'#' * first.level} {first.text[:80]}`, and import again"
            yield Problem(UNNAMED, message, other.position, hint)


# --- one decision


def _read_single(document: Document, path: str, stem: str, pure_path: PurePosixPath) -> AdrFile:
    fields = front_matter_fields(document)
    path_number, path_date = number_of_path(path), date_of_path(path)
    heading = title_heading(document)
    after = heading.body.start if heading else document.content_start
    inside = tuple(other for other in document.headings if other.section.start >= after)
    titled = titled_heading(heading)
    citations = find_citations(document.text, _DECISIONS, document.code)
    zones = tuple(_zones(document, after, inside, heading))
    header = Header(document, zones, inside, fields, False, citations)
    stated_number = next(
        (f.value for f in fields if f.key.lower() in ("id", "number", "adr") and _ANY_ENTRY.search(f.value)), None
    )
    title_span = title_text(document, titled, inside) if titled else Span(after, after)
    title = "" if titled is None else titled.text if title_span == titled.title else title_span.of(document.text)
    title = _COMMENT.sub("", title).strip()
    parts = (
        split_title(document.text, title_span, title, path_number or series_number(stem, title))
        if titled
        else title_line(document, path_number, title_of_path(path))
        or TitleParts(None, None, title_of_path(path), title_span)
    )
    if titled and (below := title_below(document, parts, inside)) is not None:
        parts = replace(parts, title=below.of(document.text), title_span=below)
    series = _series_number(fields, pure_path)
    number = _number(stated_number) or path_number or series or parts.number
    entry = assemble(
        header,
        heading=titled,
        parts=parts,
        number=number,
        span=Span(0, len(document.text)),
        body=Span(after, len(document.text)),
        named_date=(path_date, "path") if path_date else None,
        changelog_date=_changelog(document, inside),
    )
    if entry.number is None:
        entry = replace(entry, number=_titled_number(entry))
    folder_status = status_of_path(path) if entry.format == "none" and entry.status == "unknown" else None
    bodies = {section.key: section.body for section in entry.sections if section.key in ("context", "decision")}
    filled = len(bodies) == 2 and all(is_filled(document, body) for body in bodies.values())
    reason = skip_reason(entry, inside, stem, pure_path, in_series=series is not None, is_filled=filled)
    entry = replace(entry, status=folder_status, format=FOLDER) if folder_status is not None else entry
    if reason:
        return AdrFile("none", (), (), reason, entry)
    return AdrFile("file", (entry,), entry.problems, in_series=series is not None)


def _titled_number(entry: AdrDocument) -> str | None:
    """Return the number that a title in the front matter begins with: `ADR-0042: Use x`."""
    title = next((fact.raw for fact in entry.facts if fact.key == "title"), "")
    return split_title(title, Span(0, len(title)), title).number


def _number(value: str | None) -> str | None:
    match = re.fullmatch(r"(?:ADR[- #]{0,2})?(\d{1,9})", value or "", re.IGNORECASE)
    return match.group(1) if match else None


def _series_number(fields: Sequence[Field], pure: PurePosixPath) -> str | None:
    """Return the number of a document whose front matter states it under the code in its file's or folder's name."""
    series = _OF_SERIES.match(pure.parent.name if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    values = (f.value.strip() for f in fields if series and f.key.lower() == series["code"].lower())
    same = any(value.isdecimal() and series and int(value) == int(series["number"]) for value in values)
    return series["number"] if series and same else None


def _zones(document: Document, after: int, inside: Sequence[Heading], title: Heading | None) -> Iterator[Span]:
    """Yield the stretches that may state metadata: up to the first section that is not about metadata.

    What stands above the title comes last: a notice that the decision was superseded is often put there, and what the
    header says below it counts first.
    """
    yield from _zones_below(document, after, inside, title)
    if title is not None and document.text[document.content_start : title.section.start].strip():
        yield Span(document.content_start, title.section.start)


def _zones_below(document: Document, after: int, inside: Sequence[Heading], title: Heading | None) -> Iterator[Span]:
    end = inside[0].section.start if inside else len(document.text)
    yield Span(after, end)
    for index, heading in enumerate(inside):
        key = section_key(heading.text)
        if key == "metadata":
            yield heading.body
        elif index == 0 and title is not None and heading.text.casefold() == title.text.casefold():  # the title again
            yield Span(heading.body.start, inside[1].section.start if len(inside) > 1 else len(document.text))
        elif key not in HEADER_KEYS:
            return


def _changelog(document: Document, inside: Sequence[Heading]) -> Fact | None:
    """Return the earliest ISO date of a `Changelog` section."""
    for heading in inside:
        if section_key(heading.text) != "changelog":
            continue
        dates = [
            match["date"]
            for line in visible_lines(document, heading.body, document.code)
            if (match := _CHANGE_DATE.match(document.text, line.start, line.end)) and is_iso_date(match["date"])
        ]
        return Fact("date", min(dates), heading.body, "changelog") if dates else None
    return None


STYLES = (FRONT_MATTER, BULLETS, LINES, TABLE, SECTIONS, BADGE)
"""The first one that states a fact wins."""
DATE_PROBLEMS = ("adr-date-unclear", "adr-date-order")
"""The codes of the problems of a date: it can't be read at all, or not without knowing whether the day comes first."""
_RELS = frozenset(get_args(Rel))


def read_facts(header: Header) -> tuple[Fact, ...]:
    """Return every fact of the header, the style that wins first."""
    return tuple(fact for style in STYLES for fact in style.read(header))


def assemble(
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
    status_fact = _first_fact(facts, "status")
    status, status_raw = _status(facts, relations)
    date, date_raw, date_source, date_span = _date(facts, named_date, changelog_date)
    title_fact = _first_fact(facts, "title")
    titles = tuple(fact.span for fact in facts if fact.key == "title" and fact.raw == (title_fact or fact).raw)
    if heading is None and title_fact is None:
        title_fact = _first_fact(facts, "name")  # beside a heading it names something else
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


def _first_fact(facts: Iterable[Fact], key: str) -> Fact | None:
    """Return the winning fact: the first one with a value, else the first one."""
    matches = [fact for fact in facts if fact.key == key]
    return next((fact for fact in matches if fact.raw.strip()), matches[0] if matches else None)


def _status(facts: Sequence[Fact], relations: Sequence[Relation]) -> tuple[Status, str]:
    fact = _first_fact(facts, "status")
    superseding = _first_fact(facts, "superseding")
    if fact is None:
        return ("superseded", superseding.raw) if superseding else ("unknown", "")
    status, _ = normalise_status(fact.raw)
    raw = fact.values[0] if fact.style == "front-matter" and fact.values else fact.raw
    # `Deprecated`, and below it `Superseded by …`: the header says both, the second says more.
    if status in ("accepted", "deprecated") and superseding is not None:
        return "superseded", raw
    return status, raw


def _date(
    facts: Sequence[Fact], path_date: tuple[str, str] | None, changelog: Fact | None
) -> tuple[str | None, str, str | None, Span | None]:
    """Return (date, as written, source, span) of the best statement of a date."""
    fact, beside = _first_fact(facts, "date"), _first_fact(facts, "status_date")
    for candidate in (fact, beside, changelog):
        if candidate is None:
            continue
        iso = read_date(candidate.raw)
        if iso is not None:
            source = "changelog" if candidate is changelog else candidate.style
            is_stated = candidate.key == "date" and candidate is not changelog
            return iso, candidate.raw, source, candidate.span if is_stated else None
    raw, span = (fact.raw, fact.span) if fact else ("", None)
    if path_date:
        return path_date[0], raw or path_date[0], path_date[1], span
    other = beside or changelog
    return None, raw or (other.raw if other else ""), None, span


def with_date_order(entry: AdrDocument, order: Order | None) -> AdrDocument:
    """Return a decision with the date that others settle: they say whether its day or its month comes first."""
    date = read_date(entry.date_raw, order) if entry.date is None else None
    if date is None:
        return entry
    fact = _first_fact(entry.facts, "date") or _first_fact(entry.facts, "status_date")
    problems = tuple(problem for problem in entry.problems if problem.code not in DATE_PROBLEMS)
    return replace(entry, date=date, date_source=fact.style if fact else None, problems=problems)


def _listed(fact: Fact) -> tuple[str, ...]:
    if len(fact.values) == 1 and fact.style != "front-matter" and fact.key == "tags":
        return tuple(part.strip().strip("`*_") for part in fact.values[0].split(",") if part.strip())
    return fact.values


def _people(facts: Sequence[Fact], role: str) -> tuple[str, ...]:
    fact = _first_fact(facts, role)
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
    own_ids = {value for fact in facts if fact.key == "legacy_ids" for value in fact.values}
    known_files: dict[tuple[str, str], set[str | None]] = {}
    for relation in (
        *_stated_relations(header, facts),
        *_linked_relations(header, sections),
        *_mentioned_relations(header, body, number, own_ids),
    ):
        key = target_key(relation.target_raw)
        # A mere reference says nothing new of a decision that was named before, in whatever relation.
        rel = "" if relation.rel == "references" else relation.rel
        if key.is_among(known_files.get((rel, key.name), frozenset())):
            continue
        for name in {rel, ""}:
            known_files.setdefault((name, key.name), set()).add(key.file)
        yield relation


def _stated_relations(header: Header, facts: Sequence[Fact]) -> Iterator[Relation]:
    lines = header.document.lines
    winner = _first_fact(facts, "status")
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
            yield from _fact_relations(header, fact)


def _target(header: Header, phrase: Phrase) -> str:
    """Return what a phrase leads to: of `[text][label]` and `[label]` what the label stands for in the document."""
    links = within(header.document.links, phrase.span, lambda link: link.span.start)
    return next((link.target for link in links if link.kind == "reference"), phrase.target)


def _fact_relations(header: Header, fact: Fact) -> Iterator[Relation]:
    """Yield the targets of a fact that is itself a relation (`superseded_by: 0042`)."""
    rel: Rel = next(name for name in get_args(Rel) if name == fact.key)
    lines = header.document.lines
    if fact.style != "front-matter":
        for target, label, span in find_targets(header.text, fact.span.start, fact.span.end):
            yield Relation(rel, target, lines.position(span.start), span, label)
        return
    for value in fact.values:
        for target, label, _ in find_targets(value, 0, len(value)):
            yield Relation(rel, target, lines.position(fact.span.start), fact.span, label)


def _linked_relations(header: Header, sections: Sequence[Section]) -> Iterator[Relation]:
    """Yield `- Supersedes [x](x.md)` from the sections that hold links, and from lines of the header."""
    document = header.document
    zones = [section.body for section in sections if section.key == "references"] + list(header.zone)
    for zone in zones:
        for line in visible_lines(document, zone, document.hidden):
            for phrase in opening_phrases(header.text, line.start, line.end):
                if "://" in phrase.target and phrase.rel in ("implements", "related_to"):
                    continue  # an issue or a page, not a decision
                position = document.lines.position(phrase.span.start)
                yield Relation(phrase.rel, _target(header, phrase), position, phrase.span, phrase.text)


def _mentioned_relations(
    header: Header, body: Span, number: str | None, own_ids: Collection[str]
) -> Iterator[Relation]:
    """Yield links to other documents and ids named in the text."""
    document = header.document
    for link in within(document.links, body, lambda link: link.span.start):
        target = link.target.partition("#")[0]
        if link.kind != "image" and "://" not in target and is_markdown(target):
            yield Relation("references", link.target, link.position, link.span, link.text, False)
    for line in visible_lines(document, body, document.hidden) if "[[" in body.of(header.text) else ():
        for target, label, span in wiki_links(header.text, line.start, line.end):
            yield Relation("references", f"{target}.md", document.lines.position(span.start), span, label)
    for citation in within(header.citations, body, lambda citation: citation.span.start):
        if citation.id in own_ids or (_same_number(citation.id, number) and "/" not in citation.id):
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
    status_fact = _first_fact(facts, "status")
    if status == "unknown" and status_fact is not None and status_fact.raw.strip():
        yield Problem(
            "adr-status-unknown",
            f"the status {_short(status_fact.raw)} is none that is known",
            lines.position(status_fact.span.start),
            "write proposed, accepted, rejected, deprecated or superseded by ADR-NNNN",
        )
    date_fact = _first_fact(facts, "date") or _first_fact(facts, "status_date")
    if date is None and date_fact is not None and date_fact.raw.strip():
        is_open = is_of_two_orders(date_fact.raw)
        fault = "leaves open which number is the month" if is_open else "is not readable"
        yield Problem(
            "adr-date-order" if is_open else "adr-date-unclear",
            f"the date {_short(date_fact.raw)} {fault}",
            lines.position(date_fact.span.start),
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
