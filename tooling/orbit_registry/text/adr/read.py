"""Reads a text as a log of decisions, as one decision, or as neither; it opens no file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from orbit_registry.text import is_markdown
from orbit_registry.text.adr.build import build
from orbit_registry.text.adr.dates import is_iso_date
from orbit_registry.text.adr.doubts import is_template, why_no_decision
from orbit_registry.text.adr.fields import Field
from orbit_registry.text.adr.file_names import (
    GENERIC_NAMES,
    date_of_path,
    is_log_name,
    number_of_path,
    series_number,
    status_of_path,
    title_of_path,
)
from orbit_registry.text.adr.header import Header, front_matter_fields, keyed, visible_lines
from orbit_registry.text.adr.model import FOLDER, AdrDocument, AdrFile, Fact
from orbit_registry.text.adr.relations import find_phrases
from orbit_registry.text.adr.sections import EVIDENCE, HEADER_KEYS, is_filled, section_key
from orbit_registry.text.adr.styles.marked_title import with_mark
from orbit_registry.text.adr.titles import (
    TitleParts,
    named_heading,
    split_dated,
    split_entry,
    split_title,
    title_below,
    title_heading,
    title_line,
    title_text,
)
from orbit_registry.text.citations import Citation, IdForms, find_citations
from orbit_registry.text.markdown import Document, Heading, parse_markdown, within
from orbit_registry.text.position import Problem, Span

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
    pure, stem = _name_of(path)
    if pure.suffix and not is_markdown(pure.name):
        return AdrFile("none", (), (), f"not Markdown ({pure.suffix})")
    if is_template(pure, stem):
        return AdrFile("none", (), (), "a template")
    if not text.strip("\ufeff \t\r\n"):
        return AdrFile("log", ()) if is_log_name(stem) else AdrFile("none", (), (), "empty")
    document = parse_markdown(text)
    entries = _log_headings(document)
    if not entries and is_log_name(stem):
        entries = _log_headings(document, in_log=True) or _dated_headings(document)
    if (entries and is_log_name(stem)) or _is_log(document, entries):
        return _read_log(document, entries)
    single = _read_single(document, path, stem, pure)
    is_log = is_log_name(stem) and (single.skipped_reason or any(is_log_name(one.title) for one in single.entries))
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
    heading = named_heading(title_heading(document))
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
    found: list[tuple[Heading, TitleParts]] = []
    for heading in document.headings:
        parts = split_entry(document.text, heading.title, heading.text, in_log=in_log) if heading.level > 1 else None
        if parts is not None:
            found.append((heading, parts))
    coded = [one for one in found if one[1].code] if in_log else []
    level = min((heading.level for heading, _ in coded or found), default=0)
    kept = [(heading, parts) for heading, parts in coded or found if heading.level == level]
    numbers = [int(parts.number or 0) for _, parts in kept]
    is_list = len(kept) > 1 and sorted(numbers) == list(range(1, len(kept) + 1))
    return kept if not in_log or coded or is_list else []


def _dated_headings(document: Document) -> list[tuple[Heading, TitleParts]]:
    """Return the headings of a log that name its entries by date, where those are at least half of their level."""
    below = [heading for heading in document.headings if heading.level > 1]
    found = [(one, parts) for one in below if (parts := split_dated(document.text, one.title, one.text)) is not None]
    level = min((heading.level for heading, _ in found), default=0)
    kept = [(heading, parts) for heading, parts in found if heading.level == level]
    return kept if 2 * len(kept) >= sum(heading.level == level for heading in below) else []


def _is_log(document: Document, entries: Sequence[tuple[Heading, TitleParts]]) -> bool:
    """Say whether several headings name ADRs that state a status of their own."""
    if len(entries) < 2:
        return False
    for heading, _ in entries:
        for line in visible_lines(document, heading.body, document.code):
            content = document.text[line.start : line.end]
            found = keyed(document.text, line.start + len(content) - len(content.lstrip("-*+ ")), line.end)
            named = keyed(document.text, line.start, line.end)
            if (found and found[0] == "status") or (named and named[0] == "status"):
                return True
            if content.strip():
                break
    return False


def _read_log(document: Document, found: Sequence[tuple[Heading, TitleParts]]) -> AdrFile:
    citations = find_citations(document.text, _DECISIONS, document.code)
    entries = tuple(_entry(document, heading, parts, citations) for heading, parts in found)
    return AdrFile("log", entries, tuple(_unnamed(document, found)))


def _entry(document: Document, heading: Heading, parts: TitleParts, citations: tuple[Citation, ...]) -> AdrDocument:
    inside = _inside(document, heading)
    body = _trimmed(document, heading.body)
    header = Header(document, (_entry_zone(document, heading, inside),), inside, (), True, citations)
    entry = build(
        header,
        heading=heading,
        parts=parts,
        number=parts.number,
        span=heading.section,
        body=body,
        named_date=(parts.date, "heading") if parts.date and is_iso_date(parts.date) else None,
        changelog_date=None,
    )
    entry = with_mark(document, entry)
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
    stated = False
    blank = False
    for line in visible_lines(document, Span(heading.body.start, end), document.html):
        content = document.text[line.start : line.end]
        if not content.strip():
            blank = stated
            continue
        states = _states_something(document.text, line.start, line.end)
        if blank and not states:
            return Span(heading.body.start, line.start)
        stated = stated or states
        if not stated and not content.lstrip().startswith(("#", "|", "!")):
            return Span(heading.body.start, line.start)
    return Span(heading.body.start, end)


def _states_something(text: str, start: int, end: int) -> bool:
    """Say whether a line is `Key: value`, a part that is named so, or begins with what it does to another decision."""
    content = text[start:end]
    part = _PARAGRAPH.match(content)
    if part is not None and section_key(part["name"]) in EVIDENCE:
        return True
    if keyed(text, start + _bullet(content), end) is not None:
        return True
    first = next(find_phrases(content.lstrip(" \t*_>-+")), None)
    return first is not None and first.verb.start == 0


def _bullet(content: str) -> int:
    bare = content.lstrip()
    return len(content) - len(bare) + 2 if bare.startswith(("- ", "* ", "+ ")) else 0


def _unnamed(document: Document, found: Sequence[tuple[Heading, TitleParts]]) -> Iterator[Problem]:
    """Yield the sections of a log beside its entries that are not named as these are, nor by a word for a section."""
    entries = {heading.section for heading, _ in found}
    first, parts = found[0]
    named = "dated" if parts.number is None else "numbered"
    for other in document.headings:
        if other.level == first.level and other.section not in entries and section_key(other.text) == "other":
            said = f"not {named} as the entries of this log are, so it is none of them"
            hint = f"write its heading as theirs, such as `{'#' * first.level} {first.text[:80]}`, and import again"
            yield Problem(UNNAMED, said, other.position, hint)


# --- one decision


def _read_single(document: Document, path: str, stem: str, pure: PurePosixPath) -> AdrFile:
    fields = front_matter_fields(document)
    path_number, path_date = number_of_path(path), date_of_path(path)
    heading = title_heading(document)
    after = heading.body.start if heading else document.content_start
    inside = tuple(other for other in document.headings if other.section.start >= after)
    named = named_heading(heading)
    citations = find_citations(document.text, _DECISIONS, document.code)
    zones = tuple(_zones(document, after, inside, heading))
    header = Header(document, zones, inside, fields, False, citations)
    stated = next(
        (f.value for f in fields if f.key.lower() in ("id", "number", "adr") and _ANY_ENTRY.search(f.value)), None
    )
    titled = title_text(document, named, inside) if named else Span(after, after)
    shown = "" if named is None else named.text if titled == named.title else titled.of(document.text)
    shown = _COMMENT.sub("", shown).strip()
    parts = (
        split_title(document.text, titled, shown, path_number or series_number(stem, shown))
        if named
        else title_line(document, path_number, title_of_path(path))
        or TitleParts(None, None, title_of_path(path), titled)
    )
    if named and (below := title_below(document, parts, inside)) is not None:
        parts = replace(parts, title=below.of(document.text), title_span=below)
    series = _series_number(fields, pure)
    number = _number(stated) or path_number or series or parts.number
    entry = build(
        header,
        heading=named,
        parts=parts,
        number=number,
        span=Span(0, len(document.text)),
        body=Span(after, len(document.text)),
        named_date=(path_date, "path") if path_date else None,
        changelog_date=_changelog(document, inside),
    )
    entry = with_mark(document, entry)
    if entry.number is None:
        entry = replace(entry, number=_titled_number(entry))
    said = status_of_path(path) if entry.format == "none" and entry.status == "unknown" else None
    bodies = {section.key: section.body for section in entry.sections if section.key in ("context", "decision")}
    filled = len(bodies) == 2 and all(is_filled(document, body) for body in bodies.values())
    reason = why_no_decision(entry, inside, stem, pure, in_series=series is not None, is_filled=filled)
    entry = replace(entry, status=said, format=FOLDER) if said is not None else entry
    if reason:
        return AdrFile("none", (), (), reason, entry)
    return AdrFile("file", (entry,), entry.problems, in_series=series is not None)


def _titled_number(entry: AdrDocument) -> str | None:
    """Return the number that a title in the front matter begins with: `ADR-0042: Use x`."""
    stated = next((fact.raw for fact in entry.facts if fact.key == "title"), "")
    return split_title(stated, Span(0, len(stated)), stated).number


def _number(stated: str | None) -> str | None:
    match = re.fullmatch(r"(?:ADR[- #]{0,2})?(\d{1,9})", stated or "", re.IGNORECASE)
    return match.group(1) if match else None


def _series_number(fields: Sequence[Field], pure: PurePosixPath) -> str | None:
    """Return the number of a document whose front matter states it under the code in its file's or folder's name."""
    found = _OF_SERIES.match(pure.parent.name if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    stated = (f.value.strip() for f in fields if found and f.key.lower() == found["code"].lower())
    same = any(value.isdecimal() and found and int(value) == int(found["number"]) for value in stated)
    return found["number"] if found and same else None


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
