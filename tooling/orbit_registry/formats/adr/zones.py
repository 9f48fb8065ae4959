"""The part of a document that may state metadata: of a single decision, or of an entry of a log."""

import re
from collections.abc import Iterator, Sequence

from orbit_registry.formats.adr import headings
from orbit_registry.formats.adr.front_matter import (
    NO_FRONT_MATTER,
    FrontMatter,
    read_front_matter,
    read_toml,
)
from orbit_registry.formats.adr.header import (
    Header,
    key_value,
    visible_lines,
)
from orbit_registry.formats.adr.headings import (
    EVIDENCE,
    HEADER_KEYS,
    section_key,
)
from orbit_registry.formats.adr.model import (
    AdrDocument,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import (
    find_phrases,
)
from orbit_registry.formats.citations import Citation
from orbit_registry.formats.markdown import (
    Document,
    Heading,
    parse_markdown,
    within,
)
from orbit_registry.formats.position import Span

_BULLET = re.compile(r"\s*[-*+][ ]")


_PARAGRAPH = pattern("paragraph")
_KEYED_LINE = pattern("keyed_line")
_LONGEST_FOOTER = 12  # lines


def entry_header(text: str, entry: AdrDocument) -> Header:
    """Return the header of an entry, for an edit that adds a fact to it."""
    document = parse_markdown(text)
    if entry.heading_span is not None and document.headings:
        heading = next(h for h in document.headings if h.section.start == entry.heading_span.start)
        if heading.section == entry.span and heading.level > 1:
            return log_header(document, heading)

    return single_header(
        document, entry.heading_span.end if entry.heading_span else document.content_start
    )


def single_header(document: Document, start: int, citations: tuple[Citation, ...] = ()) -> Header:
    """Return the header of a document's only decision, whose text begins at `start`."""
    inside = tuple(heading for heading in document.headings if heading.section.start >= start)
    zones = tuple(_zones(document, start, inside, headings.title_heading(document)))
    footer = _footer(document, inside) if inside else None
    return Header(document, zones, inside, False, _front_matter(document), citations, footer)


def _footer(document: Document, inside: Sequence[Heading]) -> Span | None:
    """Return the last section if it is called after what it states, else the lines below the last
    rule if each of them is `Key: value`.
    """
    text = document.text
    if section_key(inside[-1].text) == "metadata":
        return inside[-1].body

    rules = within(document.rules, Span(inside[-1].body.start, len(text)), lambda rule: rule.start)
    if not rules:
        return None

    footer = Span(rules[-1].end, len(text))
    lines = [
        line for line in visible_lines(document, footer, document.hidden) if line.of(text).strip()
    ]
    if not lines or len(lines) > _LONGEST_FOOTER:
        return None

    is_keyed = all(_KEYED_LINE.match(text, line.start, line.end) for line in lines)
    if is_keyed:
        return footer

    return None


def _front_matter(document: Document) -> FrontMatter:
    block = headings.fields_span(document)
    if block is not None:
        return read_front_matter(document.text, block)

    block = headings.toml_span(document)
    if block is None:
        return NO_FRONT_MATTER

    return read_toml(document.text, block)


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
            yield Span(heading.body.start, _end_of_first(document, inside))
        elif key in HEADER_KEYS:
            continue
        elif index == 0 and _has_keys_alone(document, inside, is_prose=key != "other"):
            yield Span(heading.body.start, _end_of_first(document, inside))
        else:
            return


def _end_of_first(document: Document, inside: Sequence[Heading]) -> int:
    if len(inside) > 1:
        return inside[1].section.start

    return len(document.text)


def _has_keys_alone(document: Document, inside: Sequence[Heading], *, is_prose: bool) -> bool:
    """Say whether each line of the first section is `Key: value` or a row of a table; of one that
    usually `is_prose`, one line has to state the status.
    """
    text = document.text
    body = Span(inside[0].body.start, _end_of_first(document, inside))
    lines = [
        line for line in visible_lines(document, body, document.hidden) if line.of(text).strip()
    ]
    if not 0 < len(lines) <= _LONGEST_FOOTER:
        return False

    keys = [_key_on(text, line) for line in lines if not line.of(text).lstrip().startswith("|")]
    return None not in keys and not (is_prose and keys and "status" not in keys)


def _key_on(text: str, line: Span) -> str | None:
    bullet = _BULLET.match(text, line.start, line.end)
    pair = key_value(text, bullet.end() if bullet else line.start, line.end)
    if pair is None:
        return None

    return pair[0]


def log_header(
    document: Document, heading: Heading, citations: tuple[Citation, ...] = ()
) -> Header:
    """Return the header of an entry of a log."""
    inside = tuple(within(document.headings, heading.body, lambda other: other.section.start))
    zones = (_entry_zone(document, heading, inside),)
    return Header(document, zones, inside, in_log=True, citations=citations)


def _entry_zone(document: Document, heading: Heading, inside: Sequence[Heading]) -> Span:
    first = next((other for other in inside if section_key(other.text) not in HEADER_KEYS), None)
    end = first.section.start if first else heading.body.end
    has_metadata = False
    blank = False

    for line in visible_lines(document, Span(heading.body.start, end), document.html):
        content = line.of(document.text)
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


def content_end(document: Document, span: Span) -> int:
    """Return the end of a span's content, before the blank lines and the rule that separate what
    follows.
    """
    rules = within(document.rules, span, lambda rule: rule.start)
    if rules and not document.text[rules[-1].end : span.end].strip():
        end = rules[-1].start
    else:
        end = span.end

    return span.start + len(document.text[span.start : end].rstrip())
