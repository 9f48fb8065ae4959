"""Reader of a text as a log of decisions, as one decision, or as neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from orbit_registry.formats.adr import file_names, headings
from orbit_registry.formats.adr.assembly import Outline, assemble
from orbit_registry.formats.adr.classifier import is_template, skip_reason
from orbit_registry.formats.adr.file_names import GENERIC_NAMES, is_log_name, number_of_path, series_number
from orbit_registry.formats.adr.header import Field, Header, key_value, read_fields, visible_lines
from orbit_registry.formats.adr.headings import EVIDENCE, HEADER_KEYS, TitleParts, section_key, split_title
from orbit_registry.formats.adr.model import FOLDER, AdrDocument, AdrFile, Fact
from orbit_registry.formats.adr.relations import find_phrases
from orbit_registry.formats.adr.vocabulary import is_iso_date
from orbit_registry.formats.citations import Citation, IdForms, find_citations
from orbit_registry.formats.markdown import Document, Heading, is_markdown, parse_markdown, within
from orbit_registry.formats.position import Problem, Span

_DECISIONS = IdForms(("ADR-",))
"""How decision documents refer to each other, in any repository."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CHANGE_DATE = re.compile(r"[ \t]*[*+-][ \t]+[*_]{0,2}(?P<date>\d{4}-\d\d-\d\d)(?![\w-])")
UNNAMED = "adr-entry-unnamed"
"""Code of the problem of a log's section that may be meant as an entry."""
_OF_SERIES = re.compile(r"(?P<code>[A-Za-z]{2,8})[-_ ]?(?P<number>\d{1,6})(?!\w)")
_NUMBER_FIELD = re.compile(r"(?:ADR[- #]{0,2})?(?P<number>\d{1,9})", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+][ ]")
_PARAGRAPH = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?P<name>[^\W\d_][^:：*_\r\n]{1,40})(?:\*\*|__)?[:：]")
"""A paragraph that begins with a section's name: `Decision: we keep one queue.`"""


@lru_cache(maxsize=1024)  # pages, snapshot and checks of one run ask about the same documents
def read_document(text: str, path: str = "") -> AdrFile:
    """Read `text`; the name in `path` (relative to the project) tells what the text may be. Never fails."""
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
        citations = find_citations(document.text, _DECISIONS, document.code)
        decisions = tuple(_entry(document, heading, parts, citations) for heading, parts in entries)
        return AdrFile("log", decisions, tuple(_unnamed_sections(document, entries)))
    single = _read_single(document, path, stem, pure_path)
    is_log = is_log_name(stem) and (single.skipped_reason or any(is_log_name(entry.title) for entry in single.entries))
    return AdrFile("log", ()) if is_log else single


def single_span(text: str, path: str) -> Span | None:
    """Return the span of a single decision's prose, below its title; None if only `read_document` can tell.

    It takes a fourth of the time of reading all facts, and is enough to show a text.
    """
    pure, stem = _name_of(path)
    if not is_markdown(pure.name) or is_log_name(stem) or not text.strip("\ufeff \t\r\n"):
        return None
    if is_template(pure, stem):
        return None
    document = parse_markdown(text)
    if _is_log(document, _log_headings(document)):
        return None
    heading = headings.titled_heading(headings.title_heading(document))
    return Span(heading.body.start if heading is not None else 0, len(text))


def _name_of(path: str) -> tuple[PurePosixPath, str]:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure, pure.stem if pure.suffix else pure.name


# --- a log of decisions


def _log_headings(document: Document, *, in_log: bool = False) -> list[tuple[Heading, TitleParts]]:
    """Return the headings that name an ADR, below the document's own title.

    With `in_log`, in a file of decisions, `D1` and `Decision 1` count, else bare numbers from 1 without gaps.
    """
    candidates: list[tuple[Heading, TitleParts]] = []
    for heading in document.headings:
        parts = (
            headings.split_entry(document.text, heading.title, heading.text, in_log=in_log)
            if heading.level > 1
            else None
        )
        if parts is not None:
            candidates.append((heading, parts))
    coded = [candidate for candidate in candidates if candidate[1].code] if in_log else []
    level = min((heading.level for heading, _ in coded or candidates), default=0)
    entries = [(heading, parts) for heading, parts in coded or candidates if heading.level == level]
    numbers = [int(parts.number or 0) for _, parts in entries]
    is_list = len(entries) > 1 and sorted(numbers) == list(range(1, len(entries) + 1))
    return entries if not in_log or coded or is_list else []


def _dated_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings with a date, if they are at least half of their level."""
    below = [heading for heading in document.headings if heading.level > 1]
    dated = [(heading, headings.split_dated(document.text, heading.title, heading.text)) for heading in below]
    candidates = [(heading, parts) for heading, parts in dated if parts is not None]
    level = min((heading.level for heading, _ in candidates), default=0)
    entries = [(heading, parts) for heading, parts in candidates if heading.level == level]
    return entries if 2 * len(entries) >= sum(heading.level == level for heading in below) else []


def _is_log(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> bool:
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


def _entry(document: Document, heading: Heading, parts: TitleParts, citations: tuple[Citation, ...]) -> AdrDocument:
    date = (parts.date, "heading") if parts.date and is_iso_date(parts.date) else None
    body = Span(heading.body.start, content_end(document, heading.body))
    outline = Outline(heading, parts, parts.number, heading.section, body, date)
    entry = assemble(_log_header(document, heading, citations), outline)
    return replace(entry, legacy_ids=(*entry.legacy_ids, parts.code)) if parts.code else entry


def entry_header(text: str, entry: AdrDocument) -> Header:
    """Return the header of an entry, for an edit that adds a fact to it."""
    document = parse_markdown(text)
    if entry.heading_span is not None and document.headings:
        heading = next(h for h in document.headings if h.section.start == entry.heading_span.start)
        if heading.section == entry.span and heading.level > 1:
            return _log_header(document, heading)
    return _single_header(document, entry.heading_span.end if entry.heading_span else document.content_start)


def _log_header(document: Document, heading: Heading, citations: tuple[Citation, ...] = ()) -> Header:
    inside = tuple(within(document.headings, heading.body, lambda other: other.section.start))
    return Header(document, (_entry_zone(document, heading, inside),), inside, (), True, citations)


def _single_header(document: Document, start: int, citations: tuple[Citation, ...] = ()) -> Header:
    inside = tuple(heading for heading in document.headings if heading.section.start >= start)
    zones = tuple(_zones(document, start, inside, headings.title_heading(document)))
    fields = read_fields(document.text, document.front_matter) if document.front_matter else ()
    return Header(document, zones, inside, fields, False, citations)


def content_end(document: Document, span: Span) -> int:
    """Return the end of a span's content, before the blank lines and the rule that separate what follows."""
    rules = within(document.rules, span, lambda rule: rule.start)
    end = rules[-1].start if rules and not document.text[rules[-1].end : span.end].strip() else span.end
    return span.start + len(document.text[span.start : end].rstrip())


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


def _unnamed_sections(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> Iterator[Problem]:
    sections = {heading.section for heading, _ in entries}
    first, parts = entries[0]
    form = "dated" if parts.number is None else "numbered"
    for other in document.headings:
        if other.level == first.level and other.section not in sections and section_key(other.text) == "other":
            message = f"not {form} as the entries of this log are, so it is not an entry"
            hint = f"write its heading as theirs, such as `{'#' * first.level} {first.text[:80]}`, and import again"
            yield Problem(UNNAMED, message, other.position, hint)


# --- one decision


def _read_single(document: Document, path: str, stem: str, pure_path: PurePosixPath) -> AdrFile:
    heading = headings.title_heading(document)
    start = heading.body.start if heading else document.content_start
    header = _single_header(document, start, find_citations(document.text, _DECISIONS, document.code))
    path_number, path_date = number_of_path(path), file_names.date_of_path(path)
    titled = headings.titled_heading(heading)
    parts = _title_parts(header, titled, path, stem, start)
    series = _series_number(header.fields, pure_path)
    outline = Outline(
        titled,
        parts,
        _field_number(header.fields) or path_number or series or parts.number,
        Span(0, len(document.text)),
        Span(start, len(document.text)),
        (path_date, "path") if path_date else None,
        _changelog_date(header),
    )
    entry = assemble(header, outline)
    if entry.number is None:  # front matter: `title: "ADR-0042: Use x"`
        title = next((fact.raw for fact in entry.facts if fact.key == "title"), "")
        entry = replace(entry, number=split_title(title, Span(0, len(title)), title).number)
    folder_status = file_names.status_of_path(path) if entry.format == "none" and entry.status == "unknown" else None
    bodies = {section.key: section.body for section in entry.sections if section.key in ("context", "decision")}
    filled = len(bodies) == 2 and all(headings.is_filled(document, body) for body in bodies.values())
    reason = skip_reason(entry, header.headings, stem, pure_path, in_series=series is not None, is_filled=filled)
    entry = replace(entry, status=folder_status, format=FOLDER) if folder_status is not None else entry
    if reason:
        return AdrFile("none", (), (), reason, entry)
    return AdrFile("file", (entry,), entry.problems, in_series=series is not None)


def _title_parts(header: Header, heading: Heading | None, path: str, stem: str, start: int) -> TitleParts:
    """Return number and title as the heading states them, else a line above all headings, else the file's name."""
    document, path_number = header.document, number_of_path(path)
    if heading is None:
        path_title = file_names.title_of_path(path)
        return headings.title_line(document, path_number, path_title) or TitleParts(
            None, None, path_title, Span(start, start)
        )
    span = headings.title_text(document, heading, header.headings)
    title = heading.text if span == heading.title else span.of(document.text)
    title = _COMMENT.sub("", title).strip()
    parts = split_title(document.text, span, title, path_number or series_number(stem, title))
    below = headings.title_below(document, parts, header.headings)
    return parts if below is None else replace(parts, title=below.of(document.text), title_span=below)


def _field_number(fields: Sequence[Field]) -> str | None:
    """Return the number that the first field called after it states: `id: ADR-0042`, `number: 42`."""
    values = (field.value for field in fields if field.key.lower() in ("id", "number", "adr"))
    match = _NUMBER_FIELD.fullmatch(next((value for value in values if any(map(str.isdecimal, value))), ""))
    return match["number"] if match else None


def _series_number(fields: Sequence[Field], pure: PurePosixPath) -> str | None:
    """Return the number that the front matter states under the code in the file's or folder's name."""
    series = _OF_SERIES.match(pure.parent.name if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    values = (f.value.strip() for f in fields if series and f.key.lower() == series["code"].lower())
    same = any(value.isdecimal() and series and int(value) == int(series["number"]) for value in values)
    return series["number"] if series and same else None


def _zones(document: Document, after: int, inside: Sequence[Heading], title: Heading | None) -> Iterator[Span]:
    """Yield the spans that may state metadata: up to the first section of another kind.

    The text above the title comes last: it often holds a notice that the decision was superseded, and the header below
    the title counts first.
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


def _changelog_date(header: Header) -> Fact | None:
    """Return the earliest ISO date of the first `Changelog` section."""
    document = header.document
    heading = next((heading for heading in header.headings if section_key(heading.text) == "changelog"), None)
    if heading is None:
        return None
    lines = visible_lines(document, heading.body, document.code)
    matches = (_CHANGE_DATE.match(document.text, line.start, line.end) for line in lines)
    dates = [match["date"] for match in matches if match is not None and is_iso_date(match["date"])]
    return Fact("date", min(dates), heading.body, "changelog") if dates else None
