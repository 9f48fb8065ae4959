"""Titles, numbers and standard sections from headings, and stated costs."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import dropwhile

from orbit_registry.formats.adr.header import visible_lines
from orbit_registry.formats.adr.model import Section
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import SECTION_OF, STATUS_OF, read_date, word_set
from orbit_registry.formats.markdown import Document, Heading, within
from orbit_registry.formats.position import Position, Span
from orbit_registry.formats.sentences import FILLER
from orbit_registry.formats.wording import plain

_SUBSECTIONS = frozenset(
    {"consequences", "positive", "negative", "neutral", "confirmation", "context", "decision"}
)
OF_HEADER = frozenset({"status", "date", "updated", "deciders", "authors", "owner", "tags"})
"""Sections of which each states a field."""
HEADER_KEYS = OF_HEADER | {"changelog", "metadata"}
"""Sections of metadata; the first other one ends the header."""
EVIDENCE = frozenset(
    {
        "decision",
        "consequences",
        "options",
        "context",
        "drivers",
        "positive",
        "negative",
        "rationale",
    }
)

_ORNAMENT = pattern("ornament")
_TAG = pattern("tag_in_text")
_PARTS = pattern("parts")
_VALUED = pattern("valued")
_NUMBERING = pattern("numbering")
_STATUS = pattern("status")
_RUN_IN = pattern("run_in")
_MOST_WORDS = 6  # of a name whose second part may be that of a section
_LONGEST = 300  # longest heading that may state a value
_WORD = re.compile(r"[^\W\d_]+")
_COST = pattern("cost")
_COST_SENTENCE = pattern("cost_in_sentence")
_STARTS = {
    "context": tuple(f"{start} " for start in word_set("context_and")),
    "decision": ("decision and", "decision:", "decision —", "decision -", "decision ("),
    "consequences": ("consequences ", "consequences,"),
}
"""How the headings of sections may begin that name something else too."""


@lru_cache(maxsize=4096)
def section_key(heading: str) -> str:
    """Return the standard name of a section's heading, or `other`."""
    if len(heading) > _LONGEST:
        return "other"

    name = plain(without_numbering(heading))
    first, *others = _PARTS.split(name)
    parts = (name, first, *others) if name.count(" ") < _MOST_WORDS else (name, first)
    for part in parts:  # `背景 / Context`, `Negative (costs)`
        if part in SECTION_OF:
            return SECTION_OF[part]

    if (valued := heading_value(heading)) is not None:  # `Status: Accepted`
        return valued[0]
    if _STATUS.fullmatch(name):  # `What is the status of the proposal?`
        return "status"

    return next((key for key, starts in _STARTS.items() if name.startswith(starts)), "other")


def without_numbering(heading: str) -> str:
    """Return a heading's words without tags, numbers and ornaments around them."""
    return _ORNAMENT.sub("", _NUMBERING.sub("", _ORNAMENT.sub("", _TAG.sub("", heading).strip())))


def heading_value(title: str) -> tuple[str, int, int] | None:
    """Return the key in `Status: Accepted`, and the offsets of its value;
    without a colon only a known one counts.
    """
    match = _VALUED.fullmatch(title) if len(title) <= _LONGEST else None
    key = SECTION_OF.get(plain(match["name"].strip())) if match is not None else None
    if match is None or key not in OF_HEADER - {"tags"}:
        return None

    word = _WORD.search(match["value"])
    if key in ("date", "updated"):
        sure = read_date(match["value"]) is not None
    else:
        sure = bool(match["colon"]) or (
            key == "status" and word is not None and plain(word.group()) in STATUS_OF
        )

    if sure:
        return (key, match.start("value"), match.end("value"))

    return None


def section_level(headings: Sequence[tuple[int, str]]) -> int:
    """Return the level of a decision's sections:
    that of the first known one, so that a stray `#` changes nothing.
    """
    levels = [level for level, key in headings if key != "other"]
    if levels:
        return levels[0]

    return min((level for level, _ in headings), default=0)


def read_sections(
    document: Document, headings: Sequence[Heading], body: Span
) -> tuple[Section, ...]:
    """Return the sections of a decision: top-level ones, known ones below them,
    and run-in headings.
    """
    sections: list[Section] = []
    top = section_level([(heading.level, section_key(heading.text)) for heading in headings])
    for heading in headings:
        key = section_key(heading.text)
        if heading.level <= top or key in _SUBSECTIONS:
            sections.append(
                Section(key, heading.text, heading.level, heading.body, heading.position)
            )

    sections.extend(_run_ins(document, headings, body))
    return tuple(sorted(sections, key=lambda section: section.position))


def _run_ins(document: Document, headings: Sequence[Heading], body: Span) -> Iterator[Section]:
    text = document.text
    ends = [heading.section.start for heading in headings] + [body.end]
    run_ins: list[tuple[str, str, int, int]] = []
    after_break = True

    for line in visible_lines(document, body, document.code):
        content = line.of(text)
        match = _RUN_IN.match(content) if after_break else None
        if match and (match["stop"] or match["after"] or not content[match.end() :].strip()):
            key = section_key(match["name"])
            if key != "other" and key not in OF_HEADER:
                run_ins.append((key, match["name"].strip(), line.start, line.start + match.end()))

        after_break = (
            not content.strip()
            or bool(run_ins and run_ins[-1][2] == line.start)
            or content.startswith("#")
        )

    for index, (key, name, start, body_start) in enumerate(run_ins):
        next_run_in = run_ins[index + 1][2] if index + 1 < len(run_ins) else body.end
        end = min(next_run_in, ends[bisect_right(ends, start)])
        yield Section(key, name, 0, Span(body_start, end), document.lines.position(start), True)


def find_cost(document: Document, sections: Sequence[Section], body: Span) -> Position | None:
    """Return the position of a cost: `Cost:`, `Negative:`, `Bad, because`, a filled negative
    section, or a sentence of the consequences such as `Builds become slower.`
    """
    for line in visible_lines(document, body, document.code):
        if _COST.match(document.text, line.start, body.end):
            return document.lines.position(line.start)

    for section in sections:
        if section.key == "negative" and is_filled(document, section.body):
            return section.position

    for section in sections:
        if section.key != "consequences":
            continue

        for line in visible_lines(document, section.body, document.code):
            if _COST_SENTENCE.search(line.of(document.text)):
                return document.lines.position(line.start)

    return None


def fields_span(document: Document) -> Span | None:
    """Return the front matter, else the code block below `## Preamble` at the top,
    where some series have theirs.
    """
    if document.front_matter is not None:
        return document.front_matter

    heading = next(
        (other for other in document.headings[:2] if section_key(other.text) == "metadata"), None
    )
    code = within(document.code, heading.body, lambda block: block.start) if heading else ()
    if heading and code and not document.text[heading.body.start : code[0].start].strip():
        return code[0]

    return None


def toml_span(document: Document) -> Span | None:
    """Return the lines of a front matter in TOML, without its fences."""
    start = document.text.find("\n") + 1
    head = document.text[:start].lstrip("\ufeff")
    if document.front_matter is not None or not document.content_start or head.rstrip() != "+++":
        return None

    return Span(start, document.text.rindex("+++", 0, document.content_start))


def is_filled(document: Document, body: Span) -> bool:
    """Say whether a section has a line that is neither a heading nor a placeholder."""
    for line in visible_lines(document, body, document.html):
        content = line.of(document.text).strip()
        if not content.startswith("#") and not FILLER.match(content):
            return True
    return False


def has_decision_sections(sections: Sequence[Section], *, alone: bool) -> bool:
    """Say whether a document has the sections of a decision.

    With `alone`, neither name nor place suggest a decision, so only outermost sections count: a
    guide has `Problem` and `Solution` in each part, an overview has benefits.
    """
    highest = min((section.level for section in sections if not section.run_in), default=0)
    starts = [section.key for section in sections if section.run_in]
    keys = {
        section.key
        for section in sections
        if not alone or (section.level == highest and not section.run_in)
    }
    keys.update(key for key in starts if starts.count(key) == 1)

    return "decision" in keys or len(keys & EVIDENCE) > (
        2 if alone and "options" not in keys else 1
    )


_OUT_OF_FORCE = ("rejected", "deprecated", "superseded")
NO_TITLES = word_set("forms")  # headings that name the form; the file's name is the better title
_TITLES = word_set("titles")
_WORDY = pattern("wordy")
_NUMBERED = pattern("numbered_title")
_DATED = pattern("heading_dated")
_NAMED = pattern("named")
_ENTRY = pattern("entry")
_IN_LOG = pattern("numbered_entry")
_CODED = pattern("coded")
_PICTURE = pattern("picture")
_DAY_FIRST = pattern("day_first")
_DAY_LAST = pattern("day_last")
_DAY_BEHIND = pattern("day_behind")
_DATE_AHEAD = pattern("date_ahead")
_UNSPACED = pattern("unspaced")
_COMMENTED = pattern("commented")


@dataclass(frozen=True, slots=True)
class TitleParts:
    """A heading's number and title with their spans; None without a number."""

    number: str | None
    number_span: Span | None
    title: str
    title_span: Span
    code: str = ""  # code of a log's entry that is neither `ADR` nor a bare number: `D1`
    date: str | None = None  # the date that it begins with


STRIKE = "~~"
"""Mark around struck text."""


def without_strike(text: str, span: Span, plain: str) -> tuple[Span, str]:
    """Return the span and the words of a heading without the marks of struck text, if such text
    begins it: `~~D-1: Use x~~`.
    """
    raw = span.of(text)
    close = raw.find(STRIKE, len(STRIKE))
    if not raw.startswith(STRIKE) or close < 0:
        return span, plain

    is_whole = close + len(STRIKE) == len(raw)
    end = span.end - len(STRIKE) if is_whole else span.end
    return Span(span.start + len(STRIKE), end), plain.replace(STRIKE, "", 2).strip()


def _inside_strike(text: str, span: Span, plain: str) -> tuple[Span, str]:
    """Return a title without the marks around it, if the whole of it is struck."""
    inner, words = without_strike(text, span, plain)
    if inner.end < span.end:
        return (inner, words)

    return (span, plain)


def split_title(text: str, span: Span, plain: str, expected: str | None = None) -> TitleParts:
    """Split `text[span]` (plain text: `plain`);
    with `expected`, the file's number, `12 Title` has a number too.
    """
    dated = _DATE_AHEAD.match(text, span.start, span.end)
    if dated is not None and dated["day"] and int(dated["day"]) == int(expected or 0):
        dated = None  # `10. May 2026 release` of the file 0010

    date = _iso(dated["date"]) if dated is not None else None
    if dated is not None and date is not None:
        below = split_title(text, Span(dated.end(), span.end), _text_after(plain, _DATE_AHEAD))
        return replace(below, date=date)

    inner, words = without_strike(text, span, plain)
    if inner != span:
        parts = split_title(text, inner, words, expected)
        if inner.end < span.end or parts.number is not None:
            return parts

    raw = span.of(text)
    picture = _words_start(text, span)
    if picture > span.start:  # `🎨 ADR-021: Title`; before a title alone it belongs to it
        parts = split_title(text, Span(picture, span.end), _text_after(plain, _PICTURE), expected)
        if parts.number is not None:
            return parts

    wordy = _WORDY.match(raw)
    if wordy and raw[wordy.end() :].strip():
        rest = _title_after(text, span.start + wordy.end(), span.end)
        return TitleParts(None, None, _text_after(plain, _WORDY), rest)

    pattern = _NUMBERED if _NUMBERED.match(raw) else _NAMED
    match = pattern.match(raw)
    if match is None or not _is_number(match, expected, sure=pattern is _NUMBERED):
        return TitleParts(None, None, plain, span)

    number_span = Span(span.start + match.start("number"), span.start + match.end("number"))
    if not raw[
        match.end() :
    ].strip():  # a number and nothing else: it has to serve as the title too
        return TitleParts(match["number"], number_span, plain, Span(span.end, span.end))

    between = Span(span.start + match.end(), span.end)
    title_span = _title_after(text, between.start, between.end)
    date = read_date(text[between.start : title_span.start])
    title_span, words = _inside_strike(text, title_span, _text_after(plain, pattern))
    return TitleParts(match["number"], number_span, words, title_span, date=date)


def runs_on(text: str, span: Span, parts: TitleParts) -> bool:
    """Say whether nothing but a blank is between a title and the code of a series ahead of it."""
    if parts.number_span is None or _NUMBERED.match(span.of(text)):
        return False

    return not text[parts.number_span.end : parts.title_span.start].strip()


def _iso(date: str) -> str | None:
    if date.isdigit():
        date = f"{date[:4]}-{date[4:6]}-{date[6:]}"

    return read_date(date)


def _text_after(plain: str, pattern: re.Pattern[str]) -> str:
    match = pattern.match(plain)
    remainder = plain[match.end() :].strip() if match else plain
    dated = _DATED.match(remainder) if match else None
    if dated:
        return remainder[dated.end() :]

    return remainder


def _title_after(text: str, start: int, end: int) -> Span:
    dated = _DATED.match(text, start, end)
    return Span(dated.end() if dated else start, end)


def _is_number(match: re.Match[str], expected: str | None, *, sure: bool) -> bool:
    if sure and (match["prefix"] is not None or match["separator"].strip()):
        return True
    number = match["number"]
    return expected is not None and int(number) == int(expected)


def split_entry(text: str, span: Span, plain: str, *, in_log: bool = False) -> TitleParts | None:
    """Split `ADR-0108 — Title`; None if it names no ADR.

    With `in_log` other codes and bare numbers count too.
    """
    pattern = _IN_LOG if in_log else _ENTRY
    match = pattern.match(text, _words_start(text, span), span.end)
    if match is None:
        return None

    number = Span(match.start("number"), match.end("number"))
    prefix = match["prefix"] or ""
    is_coded = bool(prefix) if in_log else not prefix.upper().startswith("ADR")
    code = match.group()[: number.end - match.start()].strip("[ ") if is_coded else ""

    title = _text_after(_text_after(plain, _PICTURE), pattern)
    title_span = _title_after(text, match.end(), span.end)
    date = read_date(text[match.end() : title_span.start]) or date_behind(title)
    title_span, title = _inside_strike(text, title_span, title)
    return TitleParts(match["number"], number, title, title_span, code, date)


def date_behind(title: str) -> str | None:
    """Return the day that a title ends with, in brackets: `Use x (2024-05-01)`."""
    match = _DAY_BEHIND.search(title)
    if match:
        return match["date"]

    return None


def split_coded(text: str, span: Span, _: str) -> TitleParts | None:
    """Split a log entry's heading with a code of any kind: `KD1 — Title`."""
    match = _CODED.match(text, _words_start(text, span), span.end)
    if match is None:
        return None

    title = Span(match.end(), span.end)
    code = match["code"] + match["number"]
    number = Span(*match.span("number"))
    title, words = _inside_strike(text, title, title.of(text).strip())
    if match["area"]:  # `D-API-01` and `D-WEB-01`: each area counts from one
        return TitleParts(None, None, words, title, code)

    return TitleParts(match["number"], number, words, title, code)


def split_dated(text: str, span: Span, plain: str) -> TitleParts | None:
    """Split a log entry's heading with a date instead of a number; None if it has no date."""
    first = _DAY_FIRST.match(text, _words_start(text, span), span.end)
    if first is not None:
        words = _text_after(_text_after(plain, _PICTURE), _DAY_FIRST)
        return TitleParts(None, None, words, Span(first.end(), span.end), "", first["date"])

    last = _DAY_LAST.search(text, span.start, span.end)
    if last is not None:
        words = _DAY_LAST.sub("", plain)
        return TitleParts(None, None, words, Span(span.start, last.start()), "", last["date"])

    ahead = _DATE_AHEAD.match(text, span.start, span.end)  # `May 1, 2024 — Use x`
    date = _iso(ahead["date"]) if ahead is not None else None
    if ahead is None or date is None:
        return None

    words = _text_after(plain, _DATE_AHEAD)
    return TitleParts(None, None, words, Span(ahead.end(), span.end), "", date)


def _words_start(text: str, span: Span) -> int:
    picture = _PICTURE.match(text, span.start, span.end)
    if picture:
        return picture.end()

    return span.start


def title_heading(document: Document) -> Heading | None:
    """Return the heading with the title: the first one, unless it is a section's."""
    # Keys above the title, which a rule below them makes a heading.
    below = dropwhile(_states_value, document.headings)
    first = next(below, None)
    key = section_key(first.text) if first is not None and not _is_about_status(first) else "other"
    if first is None or key in HEADER_KEYS or (first.level > 1 and key != "other"):
        return None

    if key == "context" or (
        key != "other" and any(heading.level == 1 for heading in document.headings[1:])
    ):
        return None  # `# Summary`, `# Motivation` and so on: every section is at the top

    return first


def _states_value(heading: Heading) -> bool:
    return heading_value(heading.text) is not None and not _is_about_status(heading)


def _is_about_status(heading: Heading) -> bool:
    """Say whether a heading is the title of a decision about a status: `# Status: use enums`."""
    value = heading_value(heading.text) if heading.level == 1 else None
    if value is None or value[0] != "status":
        return False

    words = _WORD.findall(heading.text[value[1] :])
    return len(words) > 1 and plain(words[0]) not in STATUS_OF


def titled_heading(heading: Heading | None) -> Heading | None:
    """Return a heading, unless it names the form alone, or is a notice: `# Superseded!`."""
    words = plain(heading.text.strip(" :!.*_")) if heading else ""
    is_notice = STATUS_OF.get(words) in _OUT_OF_FORCE
    if heading and words not in NO_TITLES and not is_notice:
        return heading

    return None


def title_text(document: Document, heading: Heading, inside: Sequence[Heading]) -> Span:
    """Return the span of the title: the heading, or the first line below a heading `Title`."""
    if plain(heading.text.strip(" :")) in _TITLES:
        end = inside[0].section.start if inside else heading.body.end
        return _first_line(document, Span(heading.body.start, end)) or heading.title
    return heading.title


def title_below(document: Document, parts: TitleParts, inside: Sequence[Heading]) -> Span | None:
    """Return the span of the title below a heading that is a number alone:
    `# ADR 7` and `## Title`.
    """
    first = inside[0] if inside else None
    if first is None or parts.number is None or parts.title_span.start < parts.title_span.end:
        return None
    if plain(first.text.strip(" :")) not in _TITLES:
        return None

    end = inside[1].section.start if len(inside) > 1 else first.body.end
    return _first_line(document, Span(first.body.start, end))


def title_line(document: Document, path_number: str | None, path_title: str) -> TitleParts | None:
    """Return the title in `#46.

    Title`, or in a comment of the front matter that has the file's number or its words.
    """
    first = _first_line(document, Span(document.content_start, len(document.text)))
    if first is not None and (match := _UNSPACED.match(document.text, first.start, first.end)):
        return split_title(
            document.text, Span(match.end(), first.end), document.text[match.end() : first.end]
        )

    words = set(plain(path_title).split())
    comments = document.front_matter or Span(0, 0)
    for match in _COMMENTED.finditer(document.text, comments.start, comments.end):
        span = Span(*match.span("title"))
        parts = split_title(document.text, span, match["title"], path_number)
        if (
            parts.number is not None
            and path_number is not None
            and int(parts.number) == int(path_number)
        ):
            return parts

        if words and 2 * len(words & set(plain(parts.title).split())) >= len(words):
            return parts

    return None


def _first_line(document: Document, span: Span) -> Span | None:
    for line in visible_lines(document, span, document.hidden):
        if content := line.of(document.text).strip():
            start = document.text.index(content, line.start)
            return Span(start, start + len(content))
    return None
