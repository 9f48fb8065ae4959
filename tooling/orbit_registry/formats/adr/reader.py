"""Reader of a text as a log of decisions, as one decision, or as neither."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath

from orbit_registry.formats.adr import file_names, headings
from orbit_registry.formats.adr.classifier import (
    is_blank_entry,
    is_blank_title,
    is_template,
    skip_reason,
)
from orbit_registry.formats.adr.decision import assemble
from orbit_registry.formats.adr.facts import Outline, is_same_number, unique
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    is_log_name,
    number_of_path,
    series_number,
)
from orbit_registry.formats.adr.front_matter import (
    Field,
)
from orbit_registry.formats.adr.header import (
    Header,
    visible_lines,
)
from orbit_registry.formats.adr.headings import (
    STRIKE,
    TitleParts,
    section_key,
    split_title,
    without_strike,
)
from orbit_registry.formats.adr.html_table import html_tables
from orbit_registry.formats.adr.links import DECISIONS
from orbit_registry.formats.adr.log import (
    coded_headings,
    dated_headings,
    is_log,
    log_headings,
)
from orbit_registry.formats.adr.model import (
    FOLDER,
    RELS,
    AdrDocument,
    AdrFile,
    Fact,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.problems import BLANK_TITLE, UNNAMED, short
from orbit_registry.formats.adr.table_style import HTML, TABLE, row_facts, title_and_number
from orbit_registry.formats.adr.vocabulary import (
    field_of,
    read_date,
    word_set,
)
from orbit_registry.formats.adr.zones import content_end, log_header, single_header
from orbit_registry.formats.citations import Citation, find_citations
from orbit_registry.formats.dates import is_iso_date
from orbit_registry.formats.links import is_markdown, split_link
from orbit_registry.formats.markdown import Cell, Document, Heading, parse_markdown, within
from orbit_registry.formats.position import Problem, Span
from orbit_registry.formats.wording import plain

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_COMPONENT = pattern("component")
_CODE = pattern("code")
_CODE_LINE = pattern("code_line")
_CHAPTER = pattern("chapter_ahead")
_ROW_NUMBER = pattern("row_number")
_CODE_IN_TITLE = pattern("code_in_title")
_OF_OTHERS = word_set("codes_of_others")
_KEYS_OF_KIND = word_set("keys_of_kind")
_KINDS = word_set("kinds_of_decision")
_CODE_LINES = 12  # lines of the header that may say so
_CHANGE_DATE = pattern("change_date")
_OF_SERIES = pattern("of_series")
_NUMBER_FIELD = pattern("number_field")
_NUMBER_OF_SERIES = pattern("number_of_series")


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
        if is_log_name(stem):
            return AdrFile("log", ())

        return AdrFile("none", (), (), "empty")

    document = parse_markdown(text)
    entries = log_headings(document)
    if not entries and is_log_name(stem):
        entries = (
            log_headings(document, in_log=True)
            or dated_headings(document)
            or coded_headings(document)
        )

    if (entries and is_log_name(stem)) or is_log(document, entries):
        citations = find_citations(document.text, DECISIONS, document.code)
        listed = (_entry(document, heading, parts, citations) for heading, parts in entries)
        decisions = tuple(entry for entry in listed if not is_blank_entry(entry))
        return AdrFile("log", decisions, tuple(_unnamed_sections(document, entries)))

    rows = tuple(table_entries(document)) if is_log_name(stem) else ()
    if rows:
        return AdrFile("log", rows)

    single = _read_single(document, path, stem, pure_path)
    is_of_logs = any(_is_title_of_log(entry.title) for entry in single.entries)
    if is_log_name(stem) and (single.skipped_reason or stem[:1].isdigit() or is_of_logs):
        return AdrFile("log", ())

    return single


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
    if is_log(document, log_headings(document)):
        return None

    heading = headings.titled_heading(headings.title_heading(document))
    return Span(heading.body.start if heading is not None else 0, len(text))


def _name_of(path: str) -> tuple[PurePosixPath, str]:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure, pure.stem if pure.suffix else pure.name


def _entry(
    document: Document, heading: Heading, parts: TitleParts, citations: tuple[Citation, ...]
) -> AdrDocument:
    date = (parts.date, "heading") if parts.date and is_iso_date(parts.date) else None
    body = Span(heading.body.start, content_end(document, heading.body))
    outline = Outline(heading, parts, parts.number, heading.section, body, date)
    entry = assemble(log_header(document, heading, citations), outline)
    if parts.code:
        return replace(entry, legacy_ids=(*entry.legacy_ids, parts.code))

    return entry


def table_entries(document: Document) -> Iterator[AdrDocument]:
    """Yield the decisions in the rows of a table with a column of titles and one of statuses."""
    everywhere = Span(document.content_start, len(document.text))
    of_html = ((table, HTML) for table in html_tables(document, everywhere))
    for table, style in chain(((table, TABLE) for table in document.tables), of_html):
        columns = title_and_number(table) if len(table.rows) > 1 else None
        if columns is None:
            continue

        for row in table.rows[1:]:
            facts = tuple(row_facts(document.text, table, row, style.name))
            yield from _row_entry(document, facts, row, columns)


def _row_entry(
    document: Document, facts: Sequence[Fact], row: Sequence[Cell], columns: tuple[int, int | None]
) -> Iterator[AdrDocument]:
    title, number = columns
    cell = row[title] if title < len(row) else None
    if cell is None or cell.span is None or not cell.text:
        return

    text = document.text
    spans = [other.span for other in row if other.span is not None]
    start = text.rfind("\n", 0, spans[0].start) + 1
    end = document.lines.ends[document.lines.index_of(spans[-1].start)]
    code = row[number] if number is not None and number < len(row) else None
    name = code.text.replace(STRIKE, "").strip() if code is not None else ""
    match = _ROW_NUMBER.fullmatch(name)
    title_span, words = without_strike(text, cell.span, cell.text)
    parts = TitleParts(None, None, words, title_span)
    if match is not None and code is not None and code.span is not None:
        code_span, _ = without_strike(text, code.span, code.text)
        parts = replace(parts, number=match["number"], number_span=code_span)
        parts = replace(parts, code=name if match["code"] else "")

    header = Header(document, (), (), in_log=True)
    outline = Outline(None, parts, parts.number, Span(start, end), Span(start, end), None)
    entry = assemble(header, outline, facts)
    has_code = parts.code and not parts.code.upper().startswith("ADR")
    codes = (parts.code,) if has_code else ()
    yield replace(entry, title=words, legacy_ids=codes, listed_file=_listed_file(document, row))


def _listed_file(document: Document, row: Sequence[Cell]) -> str:
    """Return the file that a row lists: the target of a cell that is a link and nothing else."""
    for cell in row:
        links = within(document.links, cell.span, lambda link: link.span.start) if cell.span else ()
        if len(links) == 1 and links[0].text.strip("*_` ") == cell.text.strip("*_` "):
            file, _ = split_link(links[0].target)
            if is_markdown(file):
                return file

    return ""


def _unnamed_sections(
    document: Document, entries: Sequence[tuple[Heading, TitleParts]]
) -> Iterator[Problem]:
    sections = {heading.section for heading, _ in entries}
    first, parts = entries[0]
    form = "numbered" if parts.number is not None or parts.code else "dated"
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
    header = single_header(document, start, find_citations(document.text, DECISIONS, document.code))
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
    entry = assemble(header, outline)
    if entry.number is None:  # front matter: `title: "ADR-0042: Use x"`
        title = next((fact.raw for fact in entry.facts if fact.key == "title"), "")
        entry = replace(entry, number=split_title(title, Span(0, len(title)), title).number)

    codes = _codes(header, heading, path, entry.number)
    entry = replace(entry, legacy_ids=unique((*entry.legacy_ids, *codes)))

    if entry.format == "none" and entry.status == "unknown":
        folder_status = file_names.status_of_path(path)
    else:
        folder_status = None

    bodies = {
        section.key: section.body
        for section in entry.sections
        if section.key in ("context", "decision")
    }
    says_so = series is not None or any(map(_names_kind, header.fields))
    filled = len(bodies) == 2 and all(
        headings.is_filled(document, body) for body in bodies.values()
    )
    reason = skip_reason(entry, header.headings, stem, pure_path, says_so=says_so, is_filled=filled)
    if folder_status is not None:
        entry = replace(entry, status=folder_status, format=FOLDER)
    else:
        entry = entry

    if reason:
        return AdrFile("none", (), (), reason, entry)

    if is_blank_title(entry.title):
        entry = _titled_by_path(entry, path)

    return AdrFile("file", (entry,), entry.problems, says_so=says_so)


def _titled_by_path(entry: AdrDocument, path: str) -> AdrDocument:
    title = file_names.title_of_path(path)
    problem = Problem(
        BLANK_TITLE,
        f"the title is still the template's: {short(entry.title)}",
        entry.position,
        f"the record is called `{title}` after the file; write the title into the document",
    )
    problems = (*entry.problems, problem)
    return replace(entry, title=title, title_spans=(), problems=problems)


def _named_date(parts: TitleParts, path: str) -> tuple[str, str] | None:
    date = parts.date or headings.date_behind(parts.title)
    if date and is_iso_date(date):
        return date, "heading"

    path_date = file_names.date_of_path(path)
    if path_date:
        return (path_date, "path")

    return None


def _codes(header: Header, heading: Heading | None, path: str, number: str | None) -> Iterator[str]:
    """Yield the codes with a decision's number by which it calls itself."""
    for text in _names_of_itself(header, heading, path):
        match = _CODE.fullmatch(text.strip(" `*_[]()|"))
        if match is not None and is_same_number(match["number"], number):
            yield match["code"].replace(" ", "-")

    for field in header.fields:  # `kep-number: 14`
        series = _NUMBER_OF_SERIES.fullmatch(field.key)
        if series is not None and field.value.isdecimal() and is_same_number(field.value, number):
            yield f"{series['code'].upper()}-{field.value}"


def _names_of_itself(header: Header, heading: Heading | None, path: str) -> Iterator[str]:
    values = [field.value for field in header.fields if not _is_of_other(field.key)]
    yield from values

    for text in (heading.text if heading is not None else "", *values):
        yield from (match["code"] for match in _CODE_IN_TITLE.finditer(text))

    for line in islice(header.lines(), _CODE_LINES):
        match = _CODE_LINE.match(header.text, line.start, line.end)
        if match is not None and not _is_of_other(match["key"] or ""):
            yield match["code"]

    name = posixpath.basename(path)
    for zone in header.zone:
        links = within(header.document.links, zone, lambda link: link.span.start)
        yield from (each.text for each in links if posixpath.basename(each.target) == name)
        for table in html_tables(header.document, zone):
            rows = (row for row in table.rows if len(row) > 1 and not _is_of_other(row[0].text))
            yield from (row[1].text for row in rows)


def _is_of_other(key: str) -> bool:
    """Say whether the value of a key is about something else."""
    words = plain(key.strip(" *_:|"))
    return words in _OF_OTHERS or field_of(words) in RELS | {"tasks"}


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
    if path_number is None and headings.runs_on(document.text, span, parts):
        parts = TitleParts(None, None, title, span)  # a ticket's: `SHOP-1234 Design of the cart`
    elif parts.number is None:
        parts = _without_chapter(document.text, parts, stem)

    below = headings.title_below(document, parts, header.headings)

    if below is None:
        return parts

    return replace(parts, title=below.of(document.text), title_span=below)


def _names_kind(field: Field) -> bool:
    """Say whether a field says that the document is a decision: `type: adr`."""
    words = plain(field.value.replace("-", " ").replace("_", " "))
    return plain(field.key.replace("_", " ")) in _KEYS_OF_KIND and words in _KINDS


def _without_chapter(text: str, parts: TitleParts, stem: str) -> TitleParts:
    """Return a title without the number of a chapter that the file's name has too."""
    written = _CHAPTER.match(text, parts.title_span.start, parts.title_span.end)
    plain_title = _CHAPTER.match(parts.title)
    if written is None or plain_title is None or not stem.startswith(written["chapter"]):
        return parts

    span = Span(written.end(), parts.title_span.end)
    return replace(parts, title=parts.title[plain_title.end() :], title_span=span)


def _field_number(fields: Sequence[Field]) -> str | None:
    """Return the number that the first field called after it states: `id:
    ADR-0042`, `number: 42`.
    """
    values = (field.value for field in fields if field.key.lower() in ("id", "number", "adr"))
    match = _NUMBER_FIELD.fullmatch(
        next((value for value in values if any(map(str.isdecimal, value))), "")
    )
    if match:
        return match["number"]

    return None


def _series_number(fields: Sequence[Field], pure: PurePosixPath) -> str | None:
    """Return the number that the front matter states under the code in the file's or
    folder's name.
    """
    series = _OF_SERIES.match(pure.parent.name if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    values = (f.value.strip() for f in fields if series and f.key.lower() == series["code"].lower())
    same = any(
        value.isdecimal() and series and int(value) == int(series["number"]) for value in values
    )
    if series and same:
        return series["number"]

    return None


def _changelog_date(header: Header) -> Fact | None:
    document = header.document
    heading = next(
        (heading for heading in header.headings if section_key(heading.text) == "changelog"), None
    )
    if heading is None:
        return None

    lines = visible_lines(document, heading.body, document.code)
    matches = (_CHANGE_DATE.match(document.text, line.start, line.end) for line in lines)
    dates = [date for match in matches if match and (date := read_date(match["date"]))]
    if dates:
        return Fact("date", min(dates), heading.body, "changelog")

    return None
