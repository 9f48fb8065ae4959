"""Numbers and titles as headings and file names state them; a date is never a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from orbit_registry.text.position import Span

_WORDY = re.compile(
    r"(?:Architectur(?:e|al) Decision(?: Record)?|ADR|Decision Record)[ \t]*[:—–-][ \t]+", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"\[?(?P<prefix>(?:Architectur(?:e|al) Decision Record|ADR|Decision(?=[ \t#]*\d+[ \t]*[:—–]))"
    r"[ \t]*[-#_]?[ \t]*#?)?(?P<number>\d{1,9})\]?"
    r"(?P<separator>[ \t]*(?:[:.)—–|]|-(?=[ \t]))[ \t]*|[ \t]+|$)",
    re.IGNORECASE,
)
ENTRY = re.compile(
    r"\[?(?P<prefix>ADR[- #]{0,2})(?P<number>\d{1,9})\]?(?P<separator>[ \t]*(?:[—–:.|]|-(?=[ \t]))[ \t]*|[ \t]+|$)",
    re.IGNORECASE,
)
_FILE_DATE = re.compile(r"(?P<y>(?:19|20)\d\d)-?(?P<m>0[1-9]|1[0-2])-?(?P<d>0[1-9]|[12]\d|3[01])(?=[-_.]|$)")
_FILE_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?=[-_. ])")
_FILE_NUMBER = re.compile(r"(?:adr|decision)?[-_ ]?(?P<number>\d{1,6})(?=[-_. ]|$)", re.IGNORECASE)
GENERIC_NAMES = frozenset({"readme", "index", "adr", "decision"})
"""Files that are named after what they hold; the folder has the name then."""


@dataclass(frozen=True, slots=True)
class TitleParts:
    """A heading's number and title with their spans; a span of the number is None where there is none."""

    number: str | None
    number_span: Span | None
    title: str
    title_span: Span


def split_title(text: str, span: Span, plain: str, expected: str | None = None) -> TitleParts:
    """Split the heading title `text[span]` (as plain text: `plain`) into number and title.

    `expected` is the number of the file: with it, `12 Title` without a separator is a number too.
    """
    raw = span.of(text)
    wordy = _WORDY.match(raw)
    if wordy and raw[wordy.end() :].strip():
        return TitleParts(None, None, _rest(plain, _WORDY), Span(span.start + wordy.end(), span.end))
    match = _NUMBERED.match(raw)
    if match is None or not _is_number(match, expected):
        return TitleParts(None, None, plain, span)
    number_span = Span(span.start + match.start("number"), span.start + match.end("number"))
    if not raw[match.end() :].strip():  # a number and nothing else: it has to serve as the title too
        return TitleParts(match["number"], number_span, plain, Span(span.end, span.end))
    return TitleParts(match["number"], number_span, _rest(plain, _NUMBERED), Span(span.start + match.end(), span.end))


def _rest(plain: str, pattern: re.Pattern[str]) -> str:
    match = pattern.match(plain)
    return plain[match.end() :].strip() if match else plain


def _is_number(match: re.Match[str], expected: str | None) -> bool:
    if match["prefix"] is not None or match["separator"].strip():
        return True
    number = match["number"]
    return expected is not None and int(number) == int(expected)


def split_entry(text: str, span: Span, plain: str) -> TitleParts | None:
    """Split a log entry's heading (`ADR-0108 — Title`); None if the heading names no ADR."""
    match = ENTRY.match(text, span.start, span.end)
    if match is None:
        return None
    return TitleParts(
        match["number"],
        Span(match.start("number"), match.end("number")),
        _rest(plain, ENTRY),
        Span(match.end(), span.end),
    )


def number_of_path(path: str) -> str | None:
    """Return the number in `0042-title.md`, `adr-042-title.md` or `ADR-0042/README.md`, with its zeros."""
    for name in _names(path):
        if _FILE_DATE.match(name) or _FILE_MONTH.match(name):
            return None
        match = _FILE_NUMBER.match(name)
        if match:
            return match["number"]
    return None


def date_of_path(path: str) -> str | None:
    """Return the ISO date that a file or its folder is named after."""
    for name in _names(path):
        match = _FILE_DATE.match(name)
        if match:
            return f"{match['y']}-{match['m']}-{match['d']}"
    return None


def title_of_path(path: str) -> str:
    """Return a title made from the file's name, for a document that states none."""
    names = _names(path)
    name = names[0] if names else ""
    dated = _FILE_DATE.match(name)
    numbered = _FILE_NUMBER.match(name)
    bare = name[dated.end() :] if dated else name[numbered.end() :] if numbered else name
    words = re.sub(r"[-_ ]+", " ", bare).strip()
    return (words or name)[:1].upper() + (words or name)[1:]


def _names(path: str) -> list[str]:
    """Return the file's name without its ending, or its folder's where the file's name says nothing."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.stem.lower() in GENERIC_NAMES and pure.parent.name:
        return [pure.parent.name]
    return [pure.stem] if pure.stem else []
