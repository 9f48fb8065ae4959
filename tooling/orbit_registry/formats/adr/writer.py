"""Edits of ADR documents that change nothing else."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.adr.facts import STYLES
from orbit_registry.formats.adr.headings import section_key, section_level, split_entry, split_title
from orbit_registry.formats.adr.model import HISTORY, AdrDocument, AdrFile, Fact
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.problems import repeated_statuses, stated_statuses
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.vocabulary import field_of, language_of_status
from orbit_registry.formats.adr.zones import content_end, entry_header
from orbit_registry.formats.markdown import Document, Heading, parse_markdown
from orbit_registry.formats.position import Span

_DEEPEST = 6
_BELOW = "\n\n# what follows\n"
_STATED = {
    "status": "status",
    "statement": "status",
    "superseding": "successor",
    "date": "date",
    "status_date": "date",
    "title": "title",
    "number": "number",
}
"""Names of header facts for users."""
_MARKS = re.compile(r"[ ]{0,3}(#{1,6})(?=[ \t]|$)")
_CLOSING = re.compile(r"(?<=[ \t])#+$|^#+$")
_BLOCK = re.compile(
    r" {4}|\t|[ ]{0,3}(?:#{1,6}(?:[ \t]|$)|[-*+>|](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|```|~~~|<)"
)


def nest_headings(text: str, level: int) -> str:
    """Return prose, line ends `\\n`, with its headings moved below one of `level`;
    code, quotes and lists stay.
    """
    bare = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if bare.startswith("---") and parse_markdown(bare).front_matter is not None:
        raise RefusedError(
            "the text begins with a front matter (`---`), which has no place inside a document",
            hint="take it out; options state what it says: --status, --date, --tag",
        )

    # The line end in front keeps a first paragraph of `Key: value` lines from being read as a front
    # matter.
    document = parse_markdown(f"\n{bare}{_BELOW}")
    _refuse_open(document)
    headings = document.headings[:-1]

    return _shift_parsed(
        document, max(0, level + 1 - min((heading.level for heading in headings), default=_DEEPEST))
    )


def shift_headings(text: str, by: int) -> str:
    """Return a text with its headings moved down by `by` levels, at most to the sixth."""
    return _shift_parsed(parse_markdown(f"\n{text}{_BELOW}"), by)


def _refuse_open(document: Document) -> None:
    last = document.headings[-1] if document.headings else None
    if last is not None and document.text[last.section.start :] == _BELOW.lstrip("\n"):
        return

    open_block = document.hidden[-1]
    line = document.lines.position(open_block.start).line - 1
    what = "a code fence" if open_block in document.code else "a comment or a block of HTML"
    raise RefusedError(
        f"line {line} of the text opens {what} that is never closed, so it would swallow what "
        f"follows in the document",
        hint="close it in the text",
    )


def _shift_parsed(document: Document, by: int) -> str:
    text = document.text
    for heading in reversed(document.headings[:-1] if by else ()):
        lines = text[heading.section.start : heading.body.start]
        text = (
            text[: heading.section.start]
            + _shift_heading(lines, heading, by)
            + text[heading.body.start :]
        )

    return text[1 : -len(_BELOW)]


def _shift_heading(lines: str, heading: Heading, by: int) -> str:
    level = min(heading.level + by, _DEEPEST)
    marks = _MARKS.match(lines)
    if marks is not None:
        return lines[: marks.start(1)] + "#" * level + lines[marks.end(1) :]
    *words, _ = lines.rstrip("\n").split("\n")  # underlined: the last line is the rule
    title = " ".join(word.strip() for word in words)
    return f"{'#' * level} {_CLOSING.sub(lambda match: chr(92) + match.group(), title)}\n"


def begins_block(text: str) -> bool:
    """Say whether a text begins with a block, which words on the same line would destroy."""
    document = parse_markdown(f"\n{text}\n")
    first = document.lines.ends[1]
    starts = [heading.section.start for heading in document.headings]
    starts += [table.span.start for table in document.tables]
    return _BLOCK.match(text) is not None or any(start <= first for start in starts)


def refuse_restated(before: str, after: str, path: str) -> None:
    """Raise if new prose restates its document's facts;
    the texts are without the prose and with it.
    """
    old, new = read_document(before, path), read_document(after, path)
    if old.format != new.format or len(old.entries) != len(new.entries):
        raise RefusedError(
            f"with this text {path} would no longer be read as the decisions it holds",
            hint="give the text's headings other words than those of a decision (`ADR-0001 — "
            "title`)",
        )

    start = next(
        (at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        len(before),
    )
    start = before.rfind("\n", 0, start) + 1  # where the prose begins
    headings = parse_markdown(after).headings
    for old_entry, new_entry in zip(old.entries, new.entries, strict=True):
        known_facts = {(fact.key, fact.raw, fact.style) for fact in old_entry.facts}
        for fact in new_entry.facts:
            if fact.key in _STATED and (fact.key, fact.raw, fact.style) not in known_facts:
                is_below = any(
                    start <= heading.section.start < fact.span.start for heading in headings
                )
                if is_below:
                    step = "take it out, or word it as prose"
                else:
                    step = "begin the text with a heading: `## Context`"

                raise RefusedError(
                    f"`{_line(after, fact)}` in the text reads as the decision's "
                    f"{_STATED[fact.key]}",
                    hint=f"{step}; a decision's {_STATED[fact.key]} is stated by a command",
                )


def _line(text: str, fact: Fact) -> str:
    at = next(
        (at for at in range(fact.span.start, fact.span.end) if not text[at].isspace()),
        fact.span.start,
    )
    return text[text.rfind("\n", 0, at) + 1 :].splitlines()[0].strip()[:80]


_PLAIN_STATUS = {"proposed", "accepted", "rejected", "deprecated", "superseded"}
_CHAPTER = pattern("chapter_ahead")
_STYLE_OF = {style.name: style for style in STYLES}
_NUMBER = re.compile(r"\d{1,9}")
_ONE_NUMBER = re.compile(r"""(["'\[ ]*(?:ADR-)?)(\d{1,9})(["'\] ]*)""", re.IGNORECASE)
_LAST_DIGITS = re.compile(r"\d+\Z")
_STAMP = re.compile(r"(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
_DATED_STATUS = re.compile(
    r"((?:19|20)\d\d-\d\d-\d\d[ \t,:–—-]{1,8})?([^\W\d_][^\d\r\n]{0,80}?)"
    r"((?:[ \t]{1,8}on)?[ \t\r\n,:(–—-]{1,8}(?:19|20)\d\d-\d\d-\d\d\)?)?"
)
"""`2020-04-22 proposed`, `Proposed (2020-04-22)`: the date is the decision's, and stays."""
_NAMES_ANOTHER = re.compile(r"\]\([^()\s]+\)|\b(?:ADR|RFC)[- #]?\d|\[\[", re.IGNORECASE)
_MORE = re.compile(r"[\d,.;:(—–]\s*\S|\n.*\S[ \t]+\S")
# words of a status that no reader knows: more are a sentence, which stays below the new status
_LONGEST_UNKNOWN = 4
_LEAD = re.compile(r"(?P<item>(?:[ \t]*[-*+][ \t]+)?)[ \t]*[*_`]*")
_BOX = re.compile(
    r"(?m)^(?P<lead>[ \t]*[-*+][ \t]+)\[(?P<mark>[ xX✓✔])\][ \t]+(?P<label>\S.*?)[ \t]*(?=\r?$)"
)
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>&#~!])")
_SIGN = re.compile(r"([!-/:-@\[-`{-~])")
_FIRST_SIGN = re.compile(r"\A([^!-/:-@\[-`{-~]*)([!-/:-@\[-`{-~])")


def set_status(text: str, entry: AdrDocument, status: str) -> str:
    """Return `text` with the entry's status written as `status` (`accepted`, `Superseded by
    ADR-0042`).

    It is written in the document's language and case. Other statements that the entry is superseded
    go unless `status` says so too. A missing status is added in the style of the header.
    """
    removed = [] if status.lower().startswith("super") else list(entry.superseding_spans)
    names = (section.heading for section in entry.sections)
    language = language_of_status(entry.status_raw, _key_of_status(text, entry), names)
    if language is not None:
        status = language.status(status, entry.status_raw.strip("*_` "))
    else:
        status = status

    fact = next(
        (fact for fact in entry.facts if fact.key == "status" and fact.span == entry.status_span),
        None,
    )

    if fact is None:
        at, line = _insertion(text, entry, "status", _with_case_of(status, capital=True))
        around = next((span for span in removed if span.start < at <= span.end), None)
        if around is None:
            return _splice(text, [(Span(at, at), line), *((span, "") for span in removed)])

        replacement = (
            text[around.start : at] + line.rstrip()
        )  # the new line takes the place of the one that goes
        return _splice(text, [(span, replacement if span == around else "") for span in removed])

    if boxes := _boxes(text, entry, fact):
        return _splice(text, _ticks(text, boxes, status))

    dated = _DATED_STATUS.fullmatch(fact.raw)
    if (above := _line_above(text, entry, fact, dated)) is not None:
        is_stated = normalise_status(fact.raw)[0] == normalise_status(status)[0]
        line = "" if is_stated else above.replace("\0", _with_case_of(status, capital=True))
        history = _history(entry)
        first = history.span.start if history is not None else fact.span.start
        start = text.rfind("\n", 0, first) + 1
        return _splice(text, [(Span(start, start), line), *((span, "") for span in removed)])

    before, word, after = dated.groups("") if dated is not None else ("", fact.raw, "")
    if fact.style != "front-matter" and _is_about_another(fact):
        before, after = "", f"; {fact.raw[:1].lower()}{fact.raw[1:]}"

    capital = word.strip("*_ `")[:1].isupper() or (not fact.raw and fact.style != "front-matter")
    value = _STYLE_OF[fact.style].render(
        fact, f"{before}{_with_case_of(status, capital=capital)}{after}"
    )
    edits = [(fact.span, value)]
    alone = (other for other in repeated_statuses(entry.facts, fact) if len(other.raw.split()) == 1)

    for (
        other
    ) in alone:  # a sentence around a status is prose, which `orbit check` asks a person to correct
        capital = other.raw.strip("*_ `")[:1].isupper()
        edits.append(
            (
                other.span,
                _STYLE_OF[other.style].render(other, _with_case_of(status, capital=capital)),
            )
        )

    changed = [span for span, _ in edits]
    apart = [span for span in removed if _is_apart(span, changed)]
    apart += [span for span in _stated_again(text, entry, fact, value) if span not in apart]
    return _splice(text, [*edits, *((span, "") for span in apart)])


def _is_apart(span: Span, others: Iterable[Span]) -> bool:
    return all(span.end <= other.start or other.end <= span.start for other in others)


def _stated_again(text: str, entry: AdrDocument, fact: Fact, value: str) -> Iterator[Span]:
    """Yield the lines right below a status that would repeat the new one:
    `Accepted` below `Proposed`.
    """
    word = re.escape(value.strip("*_` "))
    lead = _LEAD.match(text, text.rfind("\n", 0, fact.span.start) + 1)
    item = r"[-*+][ \t]+" if lead and lead["item"] else ""
    # A line below other text, or a list below a paragraph, belongs to a history.
    again = rf"(?im)[^\n]*?(?<=\S)((?:\s*\n[ \t]*{item}[*_`]*{word}[*_`]*\.?[ \t]*(?=\r?$))+)"
    section = _section_of(entry, fact) if word else None

    if section and (match := re.compile(again).match(text, fact.span.end, section.end)):
        yield Span(*match.span(1))


def _section_of(entry: AdrDocument, fact: Fact) -> Span | None:
    """Return the body of the section that states the status."""
    bodies = (section.body for section in entry.sections if fact.style == "section")
    return next((body for body in bodies if body.start <= fact.span.start <= body.end), None)


def _line_above(
    text: str, entry: AdrDocument, fact: Fact, dated: re.Match[str] | None
) -> str | None:
    """Return the form of a line to put above lines of a section that say more than a status,
    such as a history.
    """
    known, relations = normalise_status(fact.raw)
    lead = _LEAD.fullmatch(text, text.rfind("\n", 0, fact.span.start) + 1, fact.span.start)
    is_superseded = any(rel == "superseded_by" for rel, _ in relations)
    is_sentence = known == "unknown" and len(fact.raw.split()) > _LONGEST_UNKNOWN
    is_sentence = is_sentence or _is_about_another(fact)

    if (
        fact.style != "section"
        or lead is None
        or is_superseded
        or (known == "unknown" and not is_sentence)
    ):
        return None

    several = len(stated_statuses(entry.facts, "section")) > 1 or _history(entry) is not None
    is_history = dated is not None and any(dated.group(1, 3)) and several

    says_more = dated is None and _MORE.search(fact.raw)
    if not (is_sentence or is_history or says_more):
        return None

    gap = newline_of(text) if lead["item"] else newline_of(text) * 2
    return f"{lead['item']}\0{gap}"


def _history(entry: AdrDocument) -> Fact | None:
    return next((fact for fact in entry.facts if fact.key == HISTORY), None)


def _is_about_another(fact: Fact) -> bool:
    """Say whether what has the place of a status says what the decision does to another one:
    `Supersedes [1. A](0001-a.md)`.
    """
    known, relations = normalise_status(fact.raw)
    rels = {rel for rel, _ in relations}
    is_named = bool(rels) or _NAMES_ANOTHER.search(fact.raw) is not None
    return known == "unknown" and is_named and "superseded_by" not in rels


def _boxes(text: str, entry: AdrDocument, fact: Fact) -> list[re.Match[str]]:
    """Return the lines with boxes to tick in the section of the status,
    if one of them states it.
    """
    body = _section_of(entry, fact)
    boxes = list(_BOX.finditer(text, body.start, body.end)) if body else []
    if any(box.start() <= fact.span.start <= box.end() for box in boxes):
        return boxes

    return []


def _ticks(text: str, boxes: Sequence[re.Match[str]], status: str) -> Iterator[tuple[Span, str]]:
    """Yield the edits that tick the box of a status alone; one that has no box gets a new line."""
    line = _with_case_of(status, capital=boxes[-1]["label"][:1].isupper())
    chosen = next(
        (box for box in boxes if normalise_status(box["label"])[0] == normalise_status(status)[0]),
        None,
    )
    for box in boxes:
        if (box["mark"] != " ") != (box is chosen):
            yield Span(*box.span("mark")), "x" if box is chosen else " "

    if chosen is None:
        last = next((box for box in boxes if box["mark"] != " "), boxes[0])
        yield Span(last.end(), last.end()), f"{newline_of(text)}{last['lead']}[x] {line}"
    elif " " in status:  # names the successor
        yield Span(*chosen.span("label")), line


def successor_field(text: str, entry: AdrDocument) -> tuple[str, str] | None:
    """Return key and value, as written, of the front-matter field that names the successor:
    `supersededBy: "0027"`.
    """
    fields = entry_header(text, entry).fields if entry.format == "front-matter" else ()
    return next(
        (
            (each.key, each.span.of(text))
            for each in fields
            if field_of(each.key) == "superseded_by"
        ),
        None,
    )


def set_successor(text: str, entry: AdrDocument, number: int, form: tuple[str, str]) -> str | None:
    """Return `text` as superseded, with its successor in a field of this form;
    None if the form is not one number.
    """
    key, example = form
    digits, own_field = _ONE_NUMBER.fullmatch(example), successor_field(text, entry)
    if digits is None or entry.format != "front-matter" or own_field not in (None, (key, "")):
        return None

    value = f"{digits[1]}{number:0{len(digits[2])}d}{digits[3]}"
    text = set_status(text, entry, "superseded")
    if own_field:
        line = re.compile(rf"^{re.escape(key)}[ \t]*:[ \t]*(?=\r?$)", re.MULTILINE).search(text)
    else:
        line = None

    if line is not None:
        return f"{text[: line.start()]}{key}: {value}{text[line.end() :]}"

    at = text.index("\n", entry.status_span.start if entry.status_span else 0) + 1
    return f"{text[:at]}{key}: {value}{newline_of(text)}{text[at:]}"


def _key_of_status(text: str, entry: AdrDocument) -> str:
    if entry.status_span is None:
        return ""
    before = text[text.rfind("\n", 0, entry.status_span.start) + 1 : entry.status_span.start].strip(
        "*_`:：|> \t-"
    )
    section = next((other.heading for other in entry.sections if other.key == "status"), "")
    return before or section


def set_date(text: str, entry: AdrDocument, date: str) -> str:
    """Return `text` with the entry's date replaced, or added in the style of the header."""
    fact = next(
        (fact for fact in entry.facts if fact.key == "date" and fact.span == entry.date_span), None
    )
    if fact is None:
        at, line = _insertion(text, entry, "date", date)
        return text[:at] + line + text[at:]
    return _splice(text, [(fact.span, _STYLE_OF[fact.style].render(fact, date))])


def set_title(text: str, entry: AdrDocument, title: str) -> str:
    """Return `text` with the title replaced in heading and front matter."""
    _refuse_row(text, entry)
    flat = " ".join(title.split())
    return _splice(
        text, [(span, _title_replacement(text, entry, span, flat)) for span in entry.title_spans]
    )


def set_number(text: str, entry: AdrDocument, number: str) -> str:
    """Return `text` with the number replaced in heading,
    `{#adr-0108}` and front matter; zeros stay.
    """
    _refuse_row(text, entry)
    digits = _digits(number)
    edits: list[tuple[Span, str]] = []
    for span in (*entry.number_spans, *_anchor_number(text, entry)):
        match = _NUMBER.search(text, span.start, span.end)
        if match is None:
            continue
        new = digits if number.upper().startswith("ADR") else digits.zfill(len(match.group()))
        edits.append((Span(*match.span()), new))

    return _splice(text, edits)


def _digits(number: str) -> str:
    match = _NUMBER.search(number)
    if match is None:
        raise UsageError(f"{number} holds no number", hint="write ADR-0108 or 108")
    return match.group()


def _anchor_number(text: str, entry: AdrDocument) -> Iterator[Span]:
    match = _NUMBER.search(entry.anchor)
    if match and entry.heading_span and entry.number and int(match.group()) == int(entry.number):
        start = text.rfind(f"#{entry.anchor}", entry.heading_span.start, entry.heading_span.end)
        yield Span(start, start + len(entry.anchor) + 1)


def _title_replacement(text: str, entry: AdrDocument, span: Span, title: str) -> str:
    fact = next((fact for fact in entry.facts if fact.key == "title" and fact.span == span), None)
    if fact is not None:
        return _STYLE_OF[fact.style].render(fact, title)

    heading = entry.heading_span
    if heading is None or not heading.start <= span.start <= heading.end:
        return heading_title(title)

    before, after = text[heading.start : span.start], text[span.end : heading.end]
    numbered = any(heading.start <= number.start < heading.end for number in entry.number_spans)
    fitting = (
        form
        for form in _title_forms(title)
        if _reads_as(before + form + after, title, entry.number, numbered)
    )
    return next(fitting, heading_title(title))


def heading_title(title: str) -> str:
    """Return a title as Markdown that reads back as the title, escaped only where needed."""
    for form in _title_forms(title):
        headings = parse_markdown(f"# {form}\n").headings
        if len(headings) == 1 and headings[0].text == title:
            return form
    return title


def _title_forms(title: str) -> Iterator[str]:
    yield title
    escaped = _MARKDOWN_SPECIAL.sub(r"\\\1", title)
    yield escaped
    yield _FIRST_SIGN.sub(r"\1\\\2", title)
    yield _FIRST_SIGN.sub(r"\1\\\2", escaped)
    yield _SIGN.sub(r"\\\1", title)


def _reads_as(heading: str, title: str, number: str | None, numbered: bool) -> bool:
    headings = parse_markdown(heading).headings
    if len(headings) != 1:
        return False

    parsed = headings[0]
    parts = (
        split_entry(heading, parsed.title, parsed.text)
        or (split_entry(heading, parsed.title, parsed.text, in_log=True) if numbered else None)
        or split_title(heading, parsed.title, parsed.text, number)
    )
    return parts.title == title and (parts.number is not None) == numbered


def _with_case_of(status: str, *, capital: bool) -> str:
    first = status.split(" ", 1)[0]
    if first.lower() not in _PLAIN_STATUS:
        return status
    return (first.capitalize() if capital else first.lower()) + status[len(first) :]


def _insertion(text: str, entry: AdrDocument, key: str, value: str) -> tuple[int, str]:
    """Return offset and text to add so that the header's own style states `key`;
    a bare header gets a line.
    """
    header = entry_header(text, entry)
    for style in STYLES:
        plain = style.name == "front-matter" and key == "status" and value.lower() in _PLAIN_STATUS
        insertion = style.insertion(header, key, value.lower() if plain else value)
        if insertion is not None:
            return insertion

    newline = newline_of(text)
    at = entry.heading_span.end if entry.heading_span else header.document.content_start
    before, after = text[:at], text[at:]
    lead, gap = newline * 2, newline * 2
    if not before.strip("\ufeff"):
        lead = ""
    elif before.endswith(("\n", "\r")):
        lead = newline

    if not after.strip() or after.startswith(("\n", "\r")):
        gap = newline

    return at, f"{lead}{key.capitalize()}: {value}{gap}"


def add_amendment(text: str, entry: AdrDocument, date: str, task: str, body: str) -> str:
    """Return `text` with a dated amendment, of a task if any, at the end of the entry,
    in a section that is added.
    """
    _refuse_row(text, entry)
    newline = newline_of(text)
    document = parse_markdown(text)
    level = _section_level(document, entry)
    content = nest_headings(body, level).rstrip()
    content = content if begins_block(content) else content.lstrip()

    task_text = f" [{task.strip('[]')}]" if task else ""
    lead = "\n\n" if begins_block(content) else " "
    amendment = newline.join(f"**{date}**{task_text}:{lead}{content}".split("\n"))
    amendments = [
        heading
        for heading in document.headings
        if section_key(heading.text) == "amendments"
        and entry.span.start < heading.section.start < entry.span.end
    ]
    end = content_end(
        document,
        Span(entry.span.start, amendments[-1].section.end if amendments else entry.span.end),
    )

    heading = "" if amendments else f"{'#' * level} Amendments{newline}{newline}"
    return text[:end] + newline * 2 + heading + amendment + (text[end:] or newline)


def _section_level(document: Document, entry: AdrDocument) -> int:
    level = section_level(
        [(section.level, section.key) for section in entry.sections if not section.run_in]
    )
    if level:
        return level

    start = entry.heading_span.start if entry.heading_span else None
    heading_level = next(
        (heading.level for heading in document.headings if heading.section.start == start), 1
    )
    return min(heading_level + 1, 6)


def _refuse_row(text: str, entry: AdrDocument) -> None:
    """Raise if an entry is a row of a table, of which only the status is written."""
    content = entry.span.of(text).strip()
    if entry.heading_span is None and content.startswith("|") and "\n" not in content:
        raise RefusedError(
            "the decision is a row of a table, where only its status is written",
            hint="edit the row by hand, or write the decision as `## ADR-0042 — Title`",
        )


def insert_entry(text: str, entry_markdown: str, number: str) -> str:
    """Return the log `text` with the entry inserted by number, before trailing sections;
    every other byte stays.
    """
    order = int(_digits(number))
    entries = _read_log(text).entries
    for other in entries[:1]:
        _refuse_row(text, other)

    before = [other for other in entries if int(other.number or 0) <= order]
    after = [other for other in entries if int(other.number or 0) > order]

    if before:
        return _insert_at(text, before[-1].span.end, entry_markdown, before[-1])

    return _insert_at(text, after[0].span.start if after else _first_place(text), entry_markdown)


def _insert_at(text: str, at: int, entry_markdown: str, previous: AdrDocument | None = None) -> str:
    newline = newline_of(text)
    entry = newline.join(entry_markdown.strip().splitlines())
    before, after = text[:at], text[at:]
    if previous is not None:
        # The separator of the entry above (blank lines, a rule) is used again below the new one.
        separator = text[content_end(parse_markdown(text), previous.span) : at]
        if "---" in separator or "***" in separator or "___" in separator:
            return before + entry + (separator if after else newline) + after

    line_ends = before[len(before.rstrip("\r\n")) :].count("\n")
    lead = newline * max(0, 2 - line_ends) if before.strip("\ufeff") else ""
    trail = newline * 2 if after.strip() else newline
    return before + lead + entry + trail + (after if after.strip() else "")


def _first_place(text: str) -> int:
    document = parse_markdown(text)
    for heading in document.headings:
        if heading.level > 1 and section_key(heading.text) in ("tasks", "references"):
            return heading.section.start
    return len(text)


def add_entry(text: str, path: str, entry_markdown: str) -> str:
    """Return the log `text` at `path` with the entry next to its newest one:
    after the last, or above the first.
    """
    entries = read_document(text, path).entries
    if not entries:
        return _insert_at(text, _first_place(text), entry_markdown)

    _refuse_row(text, entries[0])
    if _is_newest_first(entries):
        return _insert_at(text, entries[0].span.start, entry_markdown)

    return _insert_at(text, entries[-1].span.end, entry_markdown, entries[-1])


@dataclass(frozen=True, slots=True)
class EntryHeading:
    """Heading line of a new entry, its number, and its code if it is no `ADR-…`."""

    line: str
    number: str | None
    code: str


def next_entry_heading(
    text: str, path: str, record_id: str, title: str, date: str
) -> EntryHeading | None:
    """Return the heading for a new entry of the log `text` at `path`, in the form of its newest
    one.

    Its number is the record's, so that two branches collide in both or in none; a log with bare,
    gapless numbers gets its own next one; one without numbers gets the date. None if the log has no
    entry.
    """
    entries = read_document(text, path).entries
    if not entries or entries[0].heading_span is None:
        return None

    newest = entries[0] if _is_newest_first(entries) else entries[-1]
    heading = next(
        other for other in parse_markdown(text).headings if other.section.start == newest.span.start
    )
    title_span = next(
        span
        for span in newest.title_spans
        if heading.title.start <= span.start <= heading.title.end
    )
    before, after = (
        text[heading.title.start : title_span.start],
        text[title_span.end : heading.title.end],
    )
    number, code, title_text = None, "", heading_title(title)

    if newest.number is None and newest.legacy_ids:
        code = _next_code(newest.legacy_ids[-1], entries)
        before = before.replace(newest.legacy_ids[-1], code)
    elif newest.number is None:
        before, after = (_STAMP.sub(date, part) for part in (before, after))
        fitting = (
            form for form in _title_forms(title) if _is_dated(f"{before}{form}{after}", title)
        )
        title_text = next(fitting, title_text)
    else:
        chapter, word = _next_chapter(before)
        word, _, remainder = word.partition(newest.number)
        is_bare = not any(char.isalpha() for char in word)
        highest = max(int(entry.number or 0) for entry in entries)
        of_record = int(record_id.rpartition("-")[2])
        number = str(highest + 1 if is_bare else max(of_record, highest + 1)).zfill(
            len(newest.number)
        )
        before = f"{chapter}{word}{number}{remainder}"

        if is_bare or "adr" in word.lower():
            code = ""
        else:
            code = "-".join(f"{word.lstrip('[ ')}{number}".split())

    return EntryHeading(f"{'#' * heading.level} {before}{title_text}{after}", number, code)


def _next_chapter(before: str) -> tuple[str, str]:
    """Return the number of the chapter behind that of a heading, and what comes after it:
    `9.3 ` and `ADR-002 ` of `9.2 ADR-002 `.
    """
    chapter = _CHAPTER.match(before)
    if chapter is None:
        return "", before

    above, _, last = chapter["chapter"].rpartition(".")
    behind = before[chapter.end("chapter") : chapter.end()]
    return f"{above}.{int(last) + 1}{behind}", before[chapter.end() :]


def _next_code(code: str, entries: Sequence[AdrDocument]) -> str:
    """Return the code behind the highest one of an area: `D-API-03`."""
    digits = _LAST_DIGITS.search(code)
    if digits is None:
        return code

    area = code[: digits.start()]
    names = chain.from_iterable(entry.legacy_ids for entry in entries)
    counted = (name.removeprefix(area) for name in names if name.startswith(area))
    numbers = (int(each) for each in counted if each.isdecimal())
    return f"{area}{max(numbers, default=0) + 1:0{len(digits[0])}d}"


def _is_dated(heading: str, title: str) -> bool:
    entries = _read_log(f"## {heading}\n").entries
    return [(entry.number, entry.title) for entry in entries] == [(None, title)]


def _is_newest_first(entries: Sequence[AdrDocument]) -> bool:
    first, last = (
        (int(entry.number or 0), entry.date or "") for entry in (entries[0], entries[-1])
    )
    return first > last


def split_separator(text: str) -> tuple[str, str]:
    """Return an entry's content, and the blank lines and rule after it."""
    end = content_end(parse_markdown(text), Span(0, len(text)))
    return text[:end], text[end:]


def remove_entry(text: str, entry: AdrDocument) -> str:
    """Return the log `text` without the entry and the separator below it."""
    _refuse_row(text, entry)
    before, after = text[: entry.span.start], text[entry.span.end :]
    if not after.strip():
        if before.strip():
            return before.rstrip() + newline_of(text)

        return ""
    return before + after


def _read_log(text: str) -> AdrFile:
    return read_document(text, "decisions.md")


def newline_of(text: str) -> str:
    """Return the first line end of the text."""
    at = text.find("\n")
    if at > 0 and text[at - 1] == "\r":
        return "\r\n"

    return "\n"


def _splice(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    for span, replacement in sorted(
        edits, key=lambda edit: (edit[0].start, edit[0].end), reverse=True
    ):
        text = text[: span.start] + replacement + text[span.end :]
    return text
