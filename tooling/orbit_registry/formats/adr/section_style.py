"""Metadata in sections of their own: `## Status`, and what is written below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from orbit_registry.formats.adr.header import (
    ROLES,
    Header,
    Style,
    key_value,
    split_key_values,
    visible_lines,
    whole_line,
)
from orbit_registry.formats.adr.headings import (
    OF_HEADER,
    heading_value,
    section_key,
    section_level,
)
from orbit_registry.formats.adr.model import HISTORY, RELS, Fact, Rel
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import (
    NOTICE,
    find_phrases,
    is_superseding,
    value_phrases,
)
from orbit_registry.formats.adr.status_line import (
    latest_of,
    normalise_status,
    read_statement,
    value_facts,
)
from orbit_registry.formats.adr.table_style import latest_stage, pairs
from orbit_registry.formats.adr.vocabulary import field_of
from orbit_registry.formats.markdown import Heading, within
from orbit_registry.formats.position import Span

_DEFINITION = pattern("definition")
_BOLD_KEY = pattern("bold_key")
_LINE = re.compile(r"[^\s][^\r\n]*(?<=\S)")
_LEAD = re.compile(r"[ \t]{0,3}(?:[*+-][ \t]{1,4})?")
_BOX = pattern("box")
_STRUCK = pattern("struck")


def _read_sections(header: Header) -> Iterator[Fact]:
    level = section_level(
        [(heading.level, section_key(heading.text)) for heading in header.headings]
    )
    for heading in header.headings:
        key = section_key(heading.text)
        if key == "other" and heading.level <= level:
            yield from _relations(header, heading)

        if key not in OF_HEADER or heading.level > level:
            continue

        if key == "status":
            yield from _status(header, heading)
            continue

        value = _in_heading(header, heading)
        spans = [value] if value is not None else _paragraphs(header, heading)
        if spans:
            first = spans[0]
            texts = tuple(span.of(header.text) for span in spans) if key in ROLES else ()
            values = texts or (first.of(header.text),)
            yield Fact(key, first.of(header.text), first, "section", values)


def _relations(header: Header, heading: Heading) -> Iterator[Fact]:
    """Yield the decisions below a heading that relates them: `## Superseded by`."""
    key = field_of(heading.text)
    if key is None or key not in RELS - {"references", "related_to"}:
        return

    for span in _paragraphs(header, heading):
        if next(value_phrases(cast(Rel, key), header.text, span.start, span.end), None):
            yield from value_facts(header.text, key, span, "section")


def _paragraphs(header: Header, heading: Heading) -> list[Span]:
    text = header.text
    following = within(header.headings, heading.body, lambda other: other.section.start)
    end = following[0].section.start if following else heading.body.end
    spans: list[Span] = []
    open_end = -1

    for line in visible_lines(
        header.document, Span(heading.body.start, end), header.document.hidden
    ):
        content = line.of(text).strip()
        if (
            not content
            or content.startswith(">")
            or set(content) <= {"-", "*", "_"}
            or _DEFINITION.match(content)
        ):
            open_end = -1
            continue

        lead = _LEAD.match(text, line.start, line.end)
        start = lead.end() if lead else line.start
        stop = line.start + len(line.of(text).rstrip())
        states_relation = any(
            phrase.verb.start <= start + 1 for phrase in find_phrases(text, start, stop)
        )
        starts_paragraph = (
            start > line.start + 3 or text[line.start : start].strip() or states_relation
        )

        has_key = key_value(text, start, stop) is not None or _BOLD_KEY.match(content)
        if open_end >= 0 and not starts_paragraph and not has_key:
            spans[-1] = Span(spans[-1].start, stop)
        else:
            spans.append(Span(start, stop))

        open_end = stop

    return spans


def _in_heading(header: Header, heading: Heading) -> Span | None:
    value = heading_value(heading.title.of(header.text))
    if value is not None:
        return Span(heading.title.start + value[1], heading.title.start + value[2])

    return None


def _status(header: Header, heading: Heading) -> Iterator[Fact]:
    every = _paragraphs(header, heading)
    current = [span for span in every if not _STRUCK.fullmatch(header.text, span.start, span.end)]
    paragraphs = current or every
    in_heading = _in_heading(header, heading)
    if in_heading is not None:
        yield from read_statement(header.text, in_heading, "section")
        yield from _remarks(header, in_heading, paragraphs)
        return

    cells = _cells(header, paragraphs[0]) if paragraphs else ()
    if cells:
        yield from chain.from_iterable(
            value_facts(header.text, key, cell, "section") for key, cell in cells
        )
        return

    if not paragraphs and (quoted := _quoted(header, heading)):
        yield from read_statement(header.text, quoted, "section")
        return

    if not paragraphs and (fenced := list(_fenced(header, heading))):
        for key, span in fenced:
            yield from value_facts(
                header.text, "status_date" if key == "date" else key, span, "section"
            )
        return

    if not paragraphs:
        end = header.document.lines.ends[header.document.lines.index_of(heading.title.end)]
        yield Fact("status", "", Span(end, end), "section")
        return

    latest = _latest(header, heading)
    if latest is not None:
        yield from latest
        return

    ticked = [span for span in paragraphs if _BOX.match(header.text, span.start, span.end)]
    if ticked:
        yield from _boxes(header.text, ticked)
        return

    keys = [key_value(header.text, span.start, span.end) for span in paragraphs]
    at = next((index for index, key in enumerate(keys) if key and key[0] == "status"), 0)
    first, pair = paragraphs[at], keys[at]
    yield from read_statement(
        header.text, pair[1] if pair and pair[0] == "status" else first, "section"
    )
    yield from _remarks(header, first, (*paragraphs[:at], *paragraphs[at + 1 :]))


def _latest(header: Header, heading: Heading) -> list[Fact] | None:
    """Return the facts of the last line of a history: `2026-04-01: Proposed`, then `2026-05-01:
    Accepted`. None unless every line has a date and a status.
    """
    text = header.text
    lines: list[Span] = []
    for line in visible_lines(header.document, heading.body, header.document.hidden):
        content = line.of(text)
        lead = _LEAD.match(content)
        bare = content[lead.end() if lead else 0 :].rstrip(" \t\\")
        if not bare.strip():
            continue

        start = line.start + content.index(bare)
        lines.append(Span(start, start + len(bare)))

    latest = latest_of(text, lines)
    if latest is None:
        return None

    history = Span(lines[0].start, lines[-1].end)
    facts = [*read_statement(text, latest, "section")]
    days = [replace(fact, key="date") for fact in facts if fact.key == "status_date"]
    return [*facts, *days, Fact(HISTORY, history.of(text), history, "section")]


def _cells(header: Header, first: Span) -> Sequence[tuple[str, Span]]:
    """Return the cells of a table that state the status: of a history, those of its latest row."""
    start = Span(first.start, first.start + 1)
    for table in within(header.document.tables, start, lambda table: table.span.start):
        for key, cell in pairs(table):
            if key == "status" and cell.span is not None and _is_known(header, cell.span):
                return [("status", cell.span)]

        stage = latest_stage(header.text, table)
        if stage:
            return [*stage.items()]

    return ()


def _is_known(header: Header, cell: Span) -> bool:
    return normalise_status(cell.of(header.text))[0] != "unknown"


def _fenced(header: Header, heading: Heading) -> Iterator[tuple[str, Span]]:
    """Yield the facts of a code block at the start: a known status alone, or `status: …` lines."""
    text = header.text
    block = next(iter(within(header.document.code, heading.body, lambda code: code.start)), None)
    if block is None or text[heading.body.start : block.start].strip():
        return

    inside = [Span(*match.span()) for match in _LINE.finditer(text, block.start, block.end)]
    lines = [span for span in inside if not span.of(text).startswith(("```", "~~~"))]
    if len(lines) == 1 and normalise_status(lines[0].of(text))[0] != "unknown":
        yield "status", lines[0]
        return

    for span in lines:
        for part in split_key_values(text, span.start, span.end):
            if (pair := key_value(text, part.start, part.end)) is not None and pair[0] in OF_HEADER:
                yield pair


def _remarks(header: Header, first: Span, paragraphs: Sequence[Span]) -> Iterator[Fact]:
    for span in paragraphs:
        pair = key_value(header.text, span.start, span.end)
        if pair and pair[0] == "date":
            yield Fact("date", pair[1].of(header.text), pair[1], "section")
            continue

        yield Fact("statement", span.of(header.text), span, "section")

        if is_superseding(header.text, span.start, span.end):
            start = max(whole_line(header.text, span).start, first.end)
            yield Fact("superseding", span.of(header.text), Span(start, span.end), "section")


def _quoted(header: Header, heading: Heading) -> Span | None:
    quotes = []
    for line in visible_lines(header.document, heading.body, header.document.hidden):
        content = line.of(header.text).rstrip()
        start = line.start + len(content) - len(content.lstrip("> \t"))
        span = Span(start, line.start + len(content))
        if not NOTICE.match(content) and normalise_status(span.of(header.text))[0] != "unknown":
            quotes.append(span)
    if len(quotes) == 1:
        return quotes[0]

    return None


def _boxes(text: str, boxes: list[Span]) -> Iterator[Fact]:
    """Yield the status whose box is ticked: `- [ ] Proposed`, `- [x] Accepted`;
    several, or none, are no status.
    """
    ticked: list[Span] = []
    for span in boxes:
        match = _BOX.match(text, span.start, span.end)
        if match is not None and match["mark"] != " ":
            ticked.append(Span(match.end(), span.end))

    if len(ticked) == 1:
        yield from read_statement(text, ticked[0], "section")
    else:
        yield Fact("status", "", Span(boxes[0].start, boxes[0].start), "section")


def _render_section(fact: Fact, value: str) -> str:
    capital = value[:1].upper() + value[1:]
    if fact.raw:
        return capital

    return f"\n\n{capital}"


def _insert_section(header: Header, key: str, value: str) -> tuple[int, str] | None:
    if key != "status" or not header.headings or header.in_log:
        return None

    first = header.headings[0]
    newline = "\r\n" if "\r\n" in header.text[: first.section.start] else "\n"
    capital = value[:1].upper() + value[1:]

    return (
        first.section.start,
        f"{'#' * first.level} Status{newline}{newline}{capital}{newline}{newline}",
    )


SECTIONS = Style("section", _read_sections, _render_section, _insert_section)
