"""Metadata in lines and items: `Status: accepted`, and what is written below a key."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from orbit_registry.formats.adr.header import (
    DAYS,
    ROLES,
    Header,
    Style,
    key_value,
    split_key_values,
    whole_line,
)
from orbit_registry.formats.adr.model import RELS, Fact
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import NOTICE, find_phrases, opening_phrases
from orbit_registry.formats.adr.status_line import normalise_status, value_facts
from orbit_registry.formats.adr.vocabulary import field_of, find_date, read_date
from orbit_registry.formats.position import Span

_BULLET = re.compile(r"[ \t]{0,3}(?:[*+-]|\d{1,2}[.)])[ \t]{1,4}")
_ITEM = re.compile(r"[ \t]*[*+-][ \t]+")
_DEFINES = re.compile(r"[ ]{0,3}[:：][ \t]+(?=\S)")
_NESTED = pattern("nested")
_DEFINED = pattern("defined")
_LINE_ENDS = ("\n", "\r\n", "\r")
_NAMES_ONE = re.compile(r"\d|\]\(|\[\[")
_LINE_LEAD = re.compile(r"([ \t]{0,3}(?:(?:[*+-]|\d{1,2}[.)])[ \t]{1,4}|>[ \t]{0,3}))?(\*\*)?")


def _read_items(header: Header) -> Iterator[Fact]:
    text = header.text
    lines = list(header.lines())
    for index, line in enumerate(lines):
        bullet = _BULLET.match(text, line.start, line.end)
        for part in split_key_values(text, bullet.end(), line.end) if bullet else ():
            pair = key_value(text, part.start, part.end)
            if pair is None:
                continue

            key, span = pair[0], _without_comment(text, pair[1])
            if span.start == span.end and key != "status":
                span = Span(pair[1].end, pair[1].end)

            below = lines[index + 1 :]
            names = tuple(_items_below(text, below)) if span.start == span.end else ()
            if names and key in ROLES:
                yield Fact(key, "", span, "bullets", names)
                continue

            if part.end == line.end:
                span = _with_lines_below(text, key, span, below)

            yield from value_facts(text, key, span, "bullets")


def _with_lines_below(text: str, key: str, span: Span, lines: Sequence[Span]) -> Span:
    """Return the value of an item with what is written below it: a value where the item has none,
    and more decisions where it names some.
    """
    end = span.end
    for line in lines:
        content = line.of(text)
        is_empty = span.start == span.end
        if (
            is_empty and not content.strip()
        ):  # `* Status:`, and its value as a paragraph of the item
            end = line.end
            continue

        if text[end : line.start].strip(" \t\\") not in _LINE_ENDS or not content[:1].isspace():
            break

        if is_empty:
            value = _value_alone(text, key, line)
            if value is None or key not in RELS:
                return value or span

            span, end = value, value.end
            continue

        if not _lists_decision(text, key, line):
            break

        end = line.start + len(content.rstrip())

    if span.start == span.end:
        return span

    return Span(span.start, end)


def _lists_decision(text: str, key: str, line: Span) -> bool:
    """Say whether a line below a key continues its decisions: words, or an item of a list."""
    item = _ITEM.match(text, line.start, line.end)
    if key in ROLES and item is not None and line.end - item.end() <= _SHORT:
        return key_value(text, item.end(), line.end) is None

    if key not in RELS:
        return False

    if item is None:
        return _continues(line.of(text))

    is_of_other = key_value(text, item.end(), line.end) is not None
    return not is_of_other and _NAMES_ONE.search(text, item.end(), line.end) is not None


def _value_alone(text: str, key: str, line: Span) -> Span | None:
    """Return the span of a line that can be the value of the key above it."""
    lead = _DEFINED.match(text, line.start, line.end)
    start = lead.end() if lead else line.start
    content = text[start : line.end].strip()
    if not content or not _continues(content):
        return None

    is_date = key in DAYS and read_date(content) is not None
    is_status = key == "status" and _is_status(content)
    names = key in RELS and _NAMES_ONE.search(content) is not None
    if not (is_date or is_status or names or (key in ROLES and len(content) <= _SHORT)):
        return None

    at = text.index(content, start)
    return Span(at, at + len(content))


def _is_status(content: str) -> bool:
    return len(content) <= _SHORT and normalise_status(content)[0] != "unknown"


def _items_below(text: str, lines: Sequence[Span]) -> Iterator[str]:
    """Yield the items nested below `* Deciders:`."""
    for line in lines:
        match = _NESTED.match(text, line.start, line.end)
        if match is None:
            return
        yield match["item"].strip()


def _without_comment(text: str, span: Span) -> Span:
    """Return the value without a trailing `<!-- optional -->`."""
    comment = text.find("<!--", span.start, span.end)
    end = span.end if comment < 0 else comment
    while end > span.start and text[end - 1] in " \t":
        end -= 1
    return Span(span.start, end)


_SHORT = 80
_MARKS = (":::", "!!!", "???", "{{", "{%", "{:")
"""How lines begin that a site generator reads, and that are no text."""
_OTHER_KEY = pattern("other_key")


def _read_lines(header: Header) -> Iterator[Fact]:
    """Yield the facts of `Key: value` lines; a value may continue on the next lines of its
    paragraph.
    """
    text = header.text
    current: tuple[str, Span] | None = None
    above = Span(0, 0)
    open_key = ""
    for line in header.lines():
        content = line.of(text)
        first, *others = split_key_values(text, line.start, line.end)
        pair = key_value(text, first.start, first.end) or _defined(text, above, line)
        is_next = text[above.end : line.start].strip(" \t\\") in _LINE_ENDS
        above = line
        follows = current is not None and is_next
        below = _value_below(text, current, line) if follows and pair is None else None
        if current is not None and below is not None:
            current = current[0], below
            open_key = ""
            continue

        is_apart = pair or not follows or not content.strip() or not _continues(content)
        if is_apart and not (follows and _is_listed(text, current, line)):
            if current:
                yield from value_facts(text, *current, "line")

            current = pair

            for part in others if pair or _OTHER_KEY.match(content.lstrip("*_> ")) else ():
                more = key_value(text, part.start, part.end)
                if more is not None:
                    yield from value_facts(text, *more, "line")

            is_open = pair is None and open_key in ("status", *DAYS)
            below = _value_alone(text, open_key, line) if is_open else None
            if below is not None:
                yield from value_facts(text, open_key, below, "line")

            elif pair is None:
                yield from _date_alone(text, line)

            if pair is not None and pair[1] == Span(line.end, line.end):
                open_key = pair[0]
            elif content.strip():
                open_key = ""

            opening = (
                next(opening_phrases(text, line.start, line.end), None) if pair is None else None
            )
            if (
                opening is not None and opening.rel == "superseded_by"
            ):  # or `This ADR has been superseded by`
                start = _mark_above(text, line.start)
                yield Fact(
                    "superseding", content.strip(), whole_line(text, Span(start, line.end)), "line"
                )
        elif current and current[1].end > current[1].start:
            key, span = current
            current = key, Span(span.start, line.start + len(content.rstrip()))

    if current:
        yield from value_facts(text, *current, "line")


def _date_alone(text: str, line: Span) -> Iterator[Fact]:
    """Yield the day in a line that has nothing else: people write it below the title."""
    content = line.of(text).strip(" \t\r*_()")
    day = find_date(text, line) if len(content) <= _SHORT else None
    if day is not None and day.of(text) == content and read_date(content) is not None:
        yield Fact("page_date", content, day, "line", (content,))


def _defined(text: str, above: Span, line: Span) -> tuple[str, Span] | None:
    """Return key and value of a list of definitions: `Status`, and below it `: Accepted`."""
    mark = _DEFINES.match(text, line.start, line.end)
    key = field_of(above.of(text).strip(" \t*_")) if mark is not None else None
    if mark is None or key not in ("status", *DAYS, *ROLES):
        return None

    return key, Span(mark.end(), line.start + len(line.of(text).rstrip()))


def _is_listed(text: str, current: tuple[str, Span] | None, line: Span) -> bool:
    """Say whether a line is an item that continues the decisions of the key above."""
    if current is None or current[1].start == current[1].end:
        return False

    is_item = _ITEM.match(text, line.start, line.end) is not None
    return is_item and _lists_decision(text, current[0], line)


def _value_below(text: str, current: tuple[str, Span] | None, line: Span) -> Span | None:
    """Return the value of a key that has none in its own line."""
    if current is None or current[1].start < current[1].end:
        return None

    return _value_alone(text, current[0], line)


def _mark_above(text: str, start: int) -> int:
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    mark = NOTICE.match(text, above, start) if above < start else None
    if mark is not None and not text[mark.end() : start].strip(' \t\r\n"'):
        return above

    return start


def _continues(content: str) -> bool:
    """Say whether a line continues the paragraph above: no heading, list, table or relation."""
    bare = content.lstrip()
    if _OTHER_KEY.match(bare.lstrip("*_")):
        return False

    if bare.startswith(
        ("#", "- ", "* ", "+ ", "|", ">", "---", "***", "```", "~~~", "**", "__", "<", *_MARKS)
    ):
        return False

    return not any(phrase.verb.start <= 1 for phrase in find_phrases(bare))


def _insert_line(
    read: Callable[[Header], Iterator[Fact]], header: Header, key: str, value: str
) -> tuple[int, str] | None:
    text = header.text
    for fact in read(header):
        # A superseding remark includes the gap above it.
        start = (
            text.rfind("\n", 0, fact.span.end if fact.key == "superseding" else fact.span.start) + 1
        )
        lead = _LINE_LEAD.match(text, start)
        mark, bold = lead.groups("") if lead is not None else ("", "")
        newline = "\r\n" if text[max(0, start - 2) : start] == "\r\n" else "\n"
        gap = newline if not mark and text[start - len(newline) * 2 : start] == newline * 2 else ""
        return start, f"{mark}{bold}{key.capitalize()}:{bold} {value}{newline}{gap}"

    return None


def _render_line(fact: Fact, value: str) -> str:
    if fact.raw:
        return value

    return f" {value}"


BULLETS = Style("bullets", _read_items, _render_line, partial(_insert_line, _read_items))
LINES = Style("line", _read_lines, _render_line, partial(_insert_line, _read_lines))
