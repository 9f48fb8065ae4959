"""Numbers and titles as headings state them; those of file names are `file_names`'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orbit_registry.text.adr.file_names import SERIES_CODE
from orbit_registry.text.adr.header import visible_lines
from orbit_registry.text.adr.sections import HEADER_KEYS, section_key
from orbit_registry.text.adr.words import STATUS_OF, plain
from orbit_registry.text.markdown import Document, Heading
from orbit_registry.text.position import Span

_OUT_OF_FORCE = ("rejected", "deprecated", "superseded")
_NO_TITLES = frozenset(
    {"adr", "rfc", "rfc proposal", "request for comments", "design document", "decision record",
     "architecture decision record", "architectural decision record", "architecture decision record (adr)"}
)  # fmt: skip
"""Headings that name the form: the file's name says more."""
_TITLES = frozenset(
    {"title", "titel", "titre", "título", "titolo", "название", "заголовок", "タイトル", "标题", "제목"}
)
_WORDY = re.compile(
    r"(?:Architectur(?:e|al) Decision(?: Record)?|(?:ADR|RFC)(?:[- ]?\d{8}-\d{1,3})?|Decision Record)"
    r"[ \t]*[:—–-][ \t]+",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"\[?(?P<prefix>(?:ADR[ \t]+(?=ADR))?"
    rf"(?:Architectur(?:e|al) Decision Record|{SERIES_CODE}|RFC|(?:Decision|N[ro]\.?|N[°º])(?=[ \t#]*\d+[ \t]*[:—–]))"
    r"[ \t]*[-#_]?[ \t]*#?)?#?(?P<number>\d{1,9})\]?"
    r"(?P<separator>[ \t]*(?:[:.)—–|]|-(?=[ \t]|(?(prefix)[^\W\d])))[ \t]*|[ \t]+|$)",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?:19|20)\d\d-\d\d-\d\d[ \t]+[:—–-][ \t]+(?=\S)")
"""A date between number and title: `RFC 12 - 2026-04-01 - Title`."""
_NAMED = re.compile(
    r"(?P<prefix>(?:[A-Z][a-z]{1,15}[ ])?(?:[A-Z][A-Z0-9]{0,11}[-_]){0,2}[A-Z]{2,12}[-_ #]{1,2})(?P<number>\d{1,9})"
    r"(?P<separator>[ \t]*[:—–.][ \t]+)(?=\S)"
)
"""A series of any name (`Aries RFC 0008: T`), taken for one where the file's name has the same number."""
ENTRY = re.compile(
    r"\[?(?P<prefix>ADR[- #]{0,2})(?P<number>\d{1,9})\]?(?P<separator>[ \t]*(?:[—–:.|]|-(?=[ \t]))[ \t]*|[ \t]+|$)",
    re.IGNORECASE,
)
_IN_LOG = re.compile(
    rf"\[?(?P<prefix>(?:{SERIES_CODE}|AD|D|decision|entscheidung|décision|decisión|decisão|decisione|besluit|decyzja|beslut"
    r"|решение|決定|决策|決策|결정)[ \t]*[-#_]?[ \t]*#?)?(?P<number>\d{1,4})\]?"
    r"(?P<separator>[ \t]*(?:[—–:：·|]|[.)](?=[ \t])|-(?=[ \t]))[ \t]*|(?(prefix)[ \t]+)(?(prefix)|$))(?=\S)",
    re.IGNORECASE,
)
"""What a file that is named after decisions calls them: `D1. T`, `Decision 3: T`, `DEC-012 T`, and bare `4. T`."""


_PICTURE = re.compile(r"(?:[^\w\s!-/:-@\[-`{-~]+[ \t]+)?")
_DAY = r"(?:19|20)\d\d-\d\d-\d\d"
_CLOCK = r"(?:[T ]\d\d:\d\d(?::\d\d)?)?"
_DAY_FIRST = re.compile(rf"\[?(?P<date>{_DAY}){_CLOCK}\]?[ \t]*[:：—–·|-][ \t]*(?=\S)")
_DAY_LAST = re.compile(rf"(?<=\S)[ \t]*(?:[—–-][ \t]+|[(\[])(?P<date>{_DAY}){_CLOCK}[)\]]?[ \t]*$")
"""What an entry of a log is named after where it has no number: `2026-04-01: Title`, `Title (2026-04-01)`."""


_UNSPACED = re.compile(r"#(?=\d{1,9}[.:)][ \t]+\S)")
_COMMENTED = re.compile(r"^#[ \t]+(?P<title>\S[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TitleParts:
    """A heading's number and title with their spans; a span of the number is None where there is none."""

    number: str | None
    number_span: Span | None
    title: str
    title_span: Span
    code: str = ""
    """What a log calls the decision, where that is neither `ADR` nor a bare number: `D1`."""
    date: str | None = None
    """The date that a log's entry without a number is named after."""


def split_title(text: str, span: Span, plain: str, expected: str | None = None) -> TitleParts:
    """Split the heading title `text[span]` (as plain text: `plain`) into number and title.

    `expected` is the number of the file: with it, `12 Title` without a separator is a number too.
    """
    raw = span.of(text)
    picture = _words_start(text, span)
    if picture > span.start:  # `🎨 ADR-021: Title`; before a title alone it belongs to it
        found = split_title(text, Span(picture, span.end), _rest(plain, _PICTURE), expected)
        if found.number is not None:
            return found
    wordy = _WORDY.match(raw)
    if wordy and raw[wordy.end() :].strip():
        return TitleParts(None, None, _rest(plain, _WORDY), _after(text, span.start + wordy.end(), span.end))
    pattern = _NUMBERED if _NUMBERED.match(raw) else _NAMED
    match = pattern.match(raw)
    if match is None or not _is_number(match, expected, sure=pattern is _NUMBERED):
        return TitleParts(None, None, plain, span)
    number_span = Span(span.start + match.start("number"), span.start + match.end("number"))
    if not raw[match.end() :].strip():  # a number and nothing else: it has to serve as the title too
        return TitleParts(match["number"], number_span, plain, Span(span.end, span.end))
    title_span = _after(text, span.start + match.end(), span.end)
    return TitleParts(match["number"], number_span, _rest(plain, pattern), title_span)


def _rest(plain: str, pattern: re.Pattern[str]) -> str:
    match = pattern.match(plain)
    rest = plain[match.end() :].strip() if match else plain
    dated = _DATED.match(rest) if match else None
    return rest[dated.end() :] if dated else rest


def _after(text: str, start: int, end: int) -> Span:
    """Return the title's span: what follows the number, and the date where one stands between."""
    dated = _DATED.match(text, start, end)
    return Span(dated.end() if dated else start, end)


def _is_number(match: re.Match[str], expected: str | None, *, sure: bool) -> bool:
    if sure and (match["prefix"] is not None or match["separator"].strip()):
        return True
    number = match["number"]
    return expected is not None and int(number) == int(expected)


def split_entry(text: str, span: Span, plain: str, *, in_log: bool = False) -> TitleParts | None:
    """Split a log entry's heading (`ADR-0108 — Title`); None if the heading names no ADR.

    With `in_log` the file is known to hold decisions: other codes and bare numbers name them too.
    """
    pattern = _IN_LOG if in_log else ENTRY
    match = pattern.match(text, _words_start(text, span), span.end)
    if match is None:
        return None
    number = Span(match.start("number"), match.end("number"))
    code = match.group()[: number.end - match.start()].strip("[ ") if in_log and match["prefix"] else ""
    title = _rest(_rest(plain, _PICTURE), pattern)
    return TitleParts(match["number"], number, title, Span(match.end(), span.end), code)


def split_dated(text: str, span: Span, plain: str) -> TitleParts | None:
    """Split the heading of a log's entry that has a date for a number; None where it states none beside its title."""
    first = _DAY_FIRST.match(text, _words_start(text, span), span.end)
    found = first or _DAY_LAST.search(text, span.start, span.end)
    if found is None:
        return None
    title = Span(found.end(), span.end) if first else Span(span.start, found.start())
    shown = _rest(_rest(plain, _PICTURE), _DAY_FIRST) if first else _DAY_LAST.sub("", plain)
    return TitleParts(None, None, shown, title, "", found["date"])


def _words_start(text: str, span: Span) -> int:
    """Return where a heading's words begin: after a picture."""
    picture = _PICTURE.match(text, span.start, span.end)
    return picture.end() if picture else span.start


def title_heading(document: Document) -> Heading | None:
    """Return the heading that holds the title: the first one, unless it is already a section's."""
    first = document.headings[0] if document.headings else None
    key = section_key(first.text) if first is not None else "other"
    if first is None or key in HEADER_KEYS or (first.level > 1 and key != "other"):
        return None
    if key == "context" or (key != "other" and any(heading.level == 1 for heading in document.headings[1:])):
        return None  # `# Summary`, `# Motivation` and so on: every section is at the top
    return first


def named_heading(heading: Heading | None) -> Heading | None:
    """Return a heading, unless it names the form alone, or is a notice: `# Superseded!` above the first section."""
    said = plain(heading.text.strip(" :!.*_")) if heading else ""
    is_notice = STATUS_OF.get(said) in _OUT_OF_FORCE
    return heading if heading and said not in _NO_TITLES and not is_notice else None


def title_text(document: Document, heading: Heading, inside: Sequence[Heading]) -> Span:
    """Return where the title stands: in its heading, or in the first line below one that only says `Title`."""
    if plain(heading.text.strip(" :")) in _TITLES:
        end = inside[0].section.start if inside else heading.body.end
        return _first_line(document, Span(heading.body.start, end)) or heading.title
    return heading.title


def title_below(document: Document, parts: TitleParts, inside: Sequence[Heading]) -> Span | None:
    """Return where the title of a heading that is a number alone stands: `# ADR 7` and below it `## Title`."""
    first = inside[0] if inside else None
    if first is None or parts.number is None or parts.title_span.start < parts.title_span.end:
        return None
    if plain(first.text.strip(" :")) not in _TITLES:
        return None
    end = inside[1].section.start if len(inside) > 1 else first.body.end
    return _first_line(document, Span(first.body.start, end))


def title_line(document: Document, path_number: str | None, path_title: str) -> TitleParts | None:
    """Return the title of a document whose text has none as a heading: `#46. Title`, or one in its front matter.

    Between the fences a `#` begins a comment, so the number or half of the words of the file's name have to be in it.
    """
    first = _first_line(document, Span(document.content_start, len(document.text)))
    if first is not None and (match := _UNSPACED.match(document.text, first.start, first.end)):
        return split_title(document.text, Span(match.end(), first.end), document.text[match.end() : first.end])
    words = set(plain(path_title).split())
    for match in _COMMENTED.finditer(document.text, *_ends(document.front_matter)):
        span = Span(*match.span("title"))
        parts = split_title(document.text, span, match["title"], path_number)
        if parts.number is not None and path_number is not None and int(parts.number) == int(path_number):
            return parts
        if words and 2 * len(words & set(plain(parts.title).split())) >= len(words):
            return parts
    return None


def _ends(span: Span | None) -> tuple[int, int]:
    return (span.start, span.end) if span is not None else (0, 0)


def _first_line(document: Document, span: Span) -> Span | None:
    for line in visible_lines(document, span, document.hidden):
        if content := document.text[line.start : line.end].strip():
            start = document.text.index(content, line.start)
            return Span(start, start + len(content))
    return None
