"""Styles in which a document states its metadata:
front matter, items and lines, sections, a table, a badge.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from html import escape
from itertools import chain, islice
from typing import get_args
from urllib.parse import quote, unquote

from orbit_registry.formats.adr.front_matter import Data, Field, name_in, scalar
from orbit_registry.formats.adr.header import (
    LINK as _MARKDOWN_LINK,
)
from orbit_registry.formats.adr.header import (
    ROLES,
    Header,
    Style,
    key_value,
    split_key_values,
    visible_lines,
    whole_line,
)
from orbit_registry.formats.adr.headings import heading_value, section_key, section_level
from orbit_registry.formats.adr.html_table import html_images, html_lines, html_tables
from orbit_registry.formats.adr.model import HISTORY, OTHER_KEY, Fact, Rel
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.relations import NOTICE, find_phrases, opening_phrases
from orbit_registry.formats.adr.status_line import normalise_status, read_statement, value_facts
from orbit_registry.formats.adr.vocabulary import KEY_OF, field_of, read_date, word_set
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.markdown import Cell, Heading, Table, within
from orbit_registry.formats.position import Span
from orbit_registry.formats.untrusted import first_hidden
from orbit_registry.formats.wording import plain

_BULLET = re.compile(r"[ \t]{0,3}[*+-][ \t]{1,4}")
_ITEM = re.compile(r"[ \t]*[*+-][ \t]+")
_DEFINES = re.compile(r"[ ]{0,3}[:：][ \t]+(?=\S)")
_NESTED = pattern("nested")
_DEFINED = pattern("defined")
_LINE_ENDS = ("\n", "\r\n", "\r")
_NAMES_ONE = re.compile(r"\d|\]\(|\[\[")
_OF_DECISIONS = frozenset(get_args(Rel))
_LINE_LEAD = re.compile(r"([ \t]{0,3}(?:[*+-][ \t]{1,4}|>[ \t]{0,3}))?(\*\*)?")


def _read_items(header: Header) -> Iterator[Fact]:
    text = header.text
    lines = list(header.lines())
    for index, line in enumerate(lines):
        bullet = _BULLET.match(text, line.start, line.end)
        for part in split_key_values(text, bullet.end(), line.end) if bullet else ():
            pair = key_value(text, part.start, part.end)
            if pair is None:
                continue

            key, span = pair
            below = lines[index + 1 :]
            names = tuple(_items_below(text, below)) if span.start == span.end else ()
            if names and key in ROLES:
                yield Fact(key, "", span, "bullets", names)
                continue

            if part.end == line.end:
                span = _with_lines_below(text, key, span, below)

            yield from value_facts(text, key, _without_comment(text, span), "bullets")


def _with_lines_below(text: str, key: str, span: Span, lines: Sequence[Span]) -> Span:
    """Return the value of an item with what is written below it: a value where the item has none,
    and more decisions where it names some.
    """
    end = span.end
    for line in lines:
        content = text[line.start : line.end]
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
            if value is None or key not in _OF_DECISIONS:
                return value or span

            span, end = value, value.end
            continue

        if not _lists_decision(text, key, line):
            break

        end = line.start + len(content.rstrip())

    return span if span.start == span.end else Span(span.start, end)


def _lists_decision(text: str, key: str, line: Span) -> bool:
    """Say whether a line below a key continues its decisions: words, or an item of a list."""
    item = _ITEM.match(text, line.start, line.end)
    if key in ROLES and item is not None and line.end - item.end() <= _SHORT:
        return key_value(text, item.end(), line.end) is None

    if key not in _OF_DECISIONS:
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

    is_date = key == "date" and read_date(content) is not None
    is_status = key == "status" and _is_status(content)
    names = key in _OF_DECISIONS and _NAMES_ONE.search(content) is not None
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
        content = text[line.start : line.end]
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

            below = _alone(text, open_key, line.start, line.end) if pair is None else None
            if below is not None:
                yield from value_facts(text, open_key, below, "line")

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


def _defined(text: str, above: Span, line: Span) -> tuple[str, Span] | None:
    """Return key and value of a list of definitions: `Status`, and below it `: Accepted`."""
    mark = _DEFINES.match(text, line.start, line.end)
    key = KEY_OF.get(plain(above.of(text).strip(" \t*_"))) if mark is not None else None
    if mark is None or key not in ("status", "date", *ROLES):
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


def _alone(text: str, key: str, start: int, end: int) -> Span | None:
    """Return the span of a line that is little more than a status or a date, below a bare key:
    `**Status:**`.
    """
    bullet = _BULLET.match(text, start, end)
    content = text[bullet.end() if bullet else start : end].strip()
    is_date = key == "date" and read_date(content) is not None and len(content) <= _SHORT
    if not is_date and not (key == "status" and _is_status(content)):
        return None

    at = text.index(content, start)
    return Span(at, at + len(content))


def _mark_above(text: str, start: int) -> int:
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    mark = NOTICE.match(text, above, start) if above < start else None
    return above if mark is not None and not text[mark.end() : start].strip(' \t\r\n"') else start


def _continues(content: str) -> bool:
    """Say whether a line continues the paragraph above: no heading, list, table or relation."""
    bare = content.lstrip()
    if _OTHER_KEY.match(bare):
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
    return value if fact.raw else f" {value}"


BULLETS = Style("bullets", _read_items, _render_line, partial(_insert_line, _read_items))
LINES = Style("line", _read_lines, _render_line, partial(_insert_line, _read_lines))


_NAMES_DECISION = pattern("names_decision")
_MOST_PATHS, _LONGEST_PATH = 200, 500  # limits of a record's scope


def _read_front_matter(header: Header) -> Iterator[Fact]:
    if header.in_log:
        return

    yield from _stage_status(header)

    for field in header.fields:
        name = field.key.lower()
        key = field_of(field.key)
        if name in ("links", "relations"):
            yield from _typed_links(field)
        elif name == "affects":
            globs, refused = _affected_paths(field.data)
            yield Fact("paths", field.value, field.span, "front-matter", tuple(globs))
            yield Fact("refused_paths", field.value, field.span, "front-matter", tuple(refused))
        elif key == "status":
            yield from _status_value(header.text, field)
        elif key is not None:
            yield _front_fact(key, field)
        elif names := tuple(filter(_NAMES_DECISION.fullmatch, field.values)):
            yield Fact(OTHER_KEY, field.key, field.span, "front-matter", names, is_list=True)


def _front_fact(key: str, field: Field) -> Fact:
    # What `path` begins is a condition here, and no file that a record is about.
    values = field.pairs if key == "revisit_when" else field.values
    if key in _OF_DECISIONS and isinstance(field.data, dict):  # `supersedes: {ADR-1: the first}`
        keys = tuple(filter(_NAMES_DECISION.fullmatch, field.data))
        values = keys or values

    return Fact(key, field.value, field.span, "front-matter", values, field.is_list)


def _stage_status(header: Header) -> Iterator[Fact]:
    """Yield the status in `stage:` if no other key states one: `stage: released`, but not `stage:
    production`.
    """
    if any(field_of(field.key) == "status" for field in header.fields):
        return
    for field in header.fields:
        if field.key.lower() == "stage" and normalise_status(field.value)[0] != "unknown":
            yield from _status_value(header.text, field)


def _status_value(text: str, field: Field) -> Iterator[Fact]:
    """Yield the status as the whole value, so that its quotes can change,
    and the other facts in it.
    """
    facts = list(read_statement(field.value, Span(0, len(field.value)), "front-matter"))
    span = field.alone or field.span
    yield Fact("status", facts[0].raw, span, "front-matter", (field.value, span.of(text)))
    yield Fact("statement", field.value, field.span, "front-matter")

    for fact in facts:
        if fact.key in ("tasks", "legacy_ids"):
            yield Fact(fact.key, fact.raw, field.span, "front-matter", fact.values)
        elif fact.key == "date":
            yield Fact("status_date", fact.raw, field.span, "front-matter")


def _affected_paths(data: Data) -> tuple[list[str], list[str]]:
    """Return the globs of `affects: [{type: path, pattern: "src/**"}]`, and what is none;
    other types name no files.
    """
    items = data if isinstance(data, list) else [data]
    globs: list[str] = []
    refused: list[str] = []
    for item in items:
        if not item:
            continue

        kind, pattern = None, item
        if isinstance(item, dict):
            kind, pattern = item.get("type"), item.get("pattern", "")

        if (
            kind == "path"
            and isinstance(pattern, str)
            and len(globs) < _MOST_PATHS
            and _is_path_glob(pattern)
        ):
            globs.append(pattern)
        elif kind is None or kind == "path" or get_close_matches(str(kind), ["path"]):
            refused.append(str(pattern))

    selects = any(not glob.startswith("!") for glob in globs)
    return (globs, refused) if selects else ([], [*globs, *refused])


def _is_path_glob(text: str) -> bool:
    is_short = len(text) <= _LONGEST_PATH and first_hidden(text) is None
    return is_short and isinstance(parse_glob(text), Glob)


def _typed_links(field: Field) -> Iterator[Fact]:
    """Yield a fact for each of `links: [{target: 2, kind: supersedes}]`, named after its kind, of
    `{supersedes: [2]}`, and of `[ADR-0002]`.
    """
    items = field.data if isinstance(field.data, list) else [field.data]
    for index, item in enumerate(items):
        span = field.places[index] if field.places else field.span
        for kind, target in _links_of(item):
            key = _relation_named(kind)
            yield Fact(key, target, span, "front-matter", (target,), is_list=True)


def _links_of(item: Data) -> Iterator[tuple[str, str]]:
    """Yield the kind and the target of each link in an item."""
    if not isinstance(item, dict):
        if isinstance(item, str) and _NAMES_DECISION.fullmatch(item):
            yield "references", item

        return

    kind = item.get("kind") or item.get("type")
    target = name_in({name: value for name, value in item.items() if name != "type"})
    if isinstance(kind, str) and target:
        yield kind, target
        return

    for name, value in item.items():
        targets = value if isinstance(value, list) else [value]
        texts = (text for text in targets if isinstance(text, str))
        yield from ((name, text) for text in filter(_NAMES_DECISION.fullmatch, texts))


def _relation_named(kind: str) -> str:
    relation = kind.strip().lower().replace("-", " ")
    return KEY_OF.get(relation) or KEY_OF.get(relation.replace(" ", "_")) or "related_to"


def _render_scalar(fact: Fact, value: str) -> str:
    if fact.key != "status":
        length = fact.span.end - fact.span.start
        quote = '"' if length == len(fact.raw) + 2 else ""
        return scalar(value, quote) if length else f" {scalar(value)}"

    old, as_written = fact.values
    result = scalar(value + _remainder(old, value), as_written)
    return result if as_written else f" {result}"


def _remainder(old: str, value: str) -> str:
    """Return the rest of the old value after the status (`;
    supersedes ADR-0045`) that still holds.
    """
    facts = list(read_statement(old, Span(0, len(old)), "front-matter"))
    remainder = old[facts[0].span.end :]
    if not value.lower().startswith("super"):
        for fact in reversed([fact for fact in facts if fact.key == "superseding"]):
            shift = facts[0].span.end
            remainder = remainder[: fact.span.start - shift] + remainder[fact.span.end - shift :]

    return remainder


def _insert_key(header: Header, key: str, value: str) -> tuple[int, str] | None:
    span = header.document.front_matter
    if span is None or header.in_log:
        return None
    newline = "\r\n" if "\r\n" in header.text[: span.end + 5] else "\n"
    return span.end, f"{key}: {scalar(value)}{newline}"


FRONT_MATTER = Style("front-matter", _read_front_matter, _render_scalar, _insert_key)


def _read_table(header: Header) -> Iterator[Fact]:
    for zone in header.zone:
        for table in within(header.document.tables, zone, lambda table: table.span.start):
            for key, cell in pairs(table):
                if cell.span is not None and key == "status":
                    yield from read_statement(header.text, cell.span, "table")
                elif cell.span is not None:
                    raw = cell.span.of(header.text)
                    yield Fact(key, raw, cell.span, "table", (raw,))


def _read_html(header: Header) -> Iterator[Fact]:
    for zone in header.zone:
        tables = html_tables(header.document, zone)
        for table in chain(tables, html_lines(header.document, zone)):
            for key, cell in pairs(table):
                if cell.span is None or not cell.text:
                    continue

                is_plain = not {"<", "&"} & set(cell.span.of(header.text))
                if key == "status" and is_plain:
                    yield from read_statement(header.text, cell.span, "html")
                    continue

                yield Fact(key, cell.text, cell.span, "html", (cell.text,))
                if key == "status":
                    yield Fact("statement", cell.text, cell.span, "html")


def _render_html(fact: Fact, value: str) -> str:
    return _MARKDOWN_LINK.sub(r'<a href="\g<url>">\g<text></a>', escape(value, quote=False))


_PAIR = 2  # cells of a row that is a key and its value


def pairs(table: Table) -> Iterator[tuple[str, Cell]]:
    """Yield (key, value cell) of a table with rows of key and value,
    or with one row under the keys.
    """
    first = [_key(cell) for cell in table.rows[0]] if table.rows else []
    if len(table.rows) == 2 and sum(key is not None for key in first) > 1:
        for key, cell in zip(first, table.rows[1], strict=False):
            if key:
                yield key, cell
        return

    below = table.rows[1:]
    has_columns = len(first) > _PAIR and below and not any(_key(row[0]) for row in below if row)
    for row in below if has_columns else table.rows:
        of_row = list(zip(map(_key, row[::2]), row[1::2], strict=False))
        is_all_keys = len(row) % 2 == 0 and all(key for key, _ in of_row)
        for key, cell in of_row if is_all_keys else of_row[:1]:
            if key:
                yield key, cell


def title_and_number(table: Table) -> tuple[int, int | None] | None:
    """Return the columns of the title and of the number in a table of decisions; None if it is
    none.
    """
    keys = [_key(cell) for cell in table.rows[0]]
    names = [plain(cell.text.strip("*_: ")) for cell in table.rows[0]]
    titles = [
        index
        for index, name in enumerate(names)
        if keys[index] in ("title", "name") or section_key(name) == "decision"
    ]
    if "status" not in keys or not titles:
        return None

    numbers = [index for index, key in enumerate(keys) if key == "number"]
    numbers += [index for index, name in enumerate(names) if name in _NUMBER_COLUMNS]
    return titles[0], next(iter(numbers), None)


def row_facts(text: str, table: Table, row: Sequence[Cell]) -> Iterator[Fact]:
    """Yield the facts in a row of a table of decisions."""
    for head, cell in zip(table.rows[0], row, strict=False):
        key = _key(head)
        if key is None or cell.span is None or key in ("number", "title", "name"):
            continue

        raw = cell.span.of(text)
        if key == "status":
            yield from read_statement(text, cell.span, "table")
        elif key in _OF_DECISIONS:
            values = tuple(_ROW_CODE.sub(r"\g<number>", raw).split(", "))
            yield Fact(key, raw, cell.span, "html", values)
        elif raw:
            yield Fact(key, raw, cell.span, "table", (raw,))


def _key(cell: Cell) -> str | None:
    return field_of(plain(cell.text.strip().strip("*_:").strip()).removesuffix("(s)"))


_ROW_CODE = pattern("row_code")
_NUMBER_COLUMNS = word_set("number_columns")


def _escaped(value: str) -> str:
    return value.replace("|", "\\|")


def _insert_row(header: Header, key: str, value: str) -> tuple[int, str] | None:
    for fact in _read_table(header):
        start = header.text.rfind("\n", 0, fact.span.start) + 1
        end = header.text.find("\n", fact.span.end)
        row = header.text[start : end if end >= 0 else len(header.text)]
        if row.count("|") == 3 and end >= 0:
            newline = "\r\n" if row.endswith("\r") else "\n"
            return end + 1, f"| {key.capitalize()} | {_escaped(value)} |{newline}"
    return None


_URL = pattern("url")


def _read_badge(header: Header) -> Iterator[Fact]:
    yield from islice(_badges(header), 1)


def _badges(header: Header) -> Iterator[Fact]:
    for zone in header.zone:
        links = within(header.document.links, zone, lambda link: link.span.start)
        of_links = (link.target_span for link in links if link.kind == "image")
        for span in chain(of_links, html_images(header.document, zone)):
            url = span.of(header.text) if span is not None else ""
            match = _URL.search(url)
            if span is not None and match is not None:
                words = unquote(match["status"]).replace("--", "\0").replace("_", " ")
                raw = words.replace("\0", "-")
                yield Fact("status", raw, span, "badge", (url,))


def _render_badge(fact: Fact, value: str) -> str:
    encoded = quote(value.replace("-", "--").replace(" ", "_"), safe="")
    return _URL.sub(
        lambda match: f"{match['lead']}{encoded}{match['tail'] or ''}", fact.values[0], count=1
    )


TABLE = Style("table", _read_table, lambda _, value: _escaped(value), _insert_row)
HTML = Style("html", _read_html, _render_html, lambda *_: None)
BADGE = Style("badge", _read_badge, _render_badge, lambda *_: None)


_DEFINITION = pattern("definition")
_BOLD_KEY = pattern("bold_key")
_LINE = re.compile(r"[^\s][^\r\n]*(?<=\S)")
_LEAD = re.compile(r"[ \t]{0,3}(?:[*+-][ \t]{1,4})?")
_BOX = pattern("box")
_KEYS = frozenset({"status", "date", "deciders", "tags"})
_DATED_STATUS = pattern("dated_status")
_FEWEST = 2  # lines of a history


def _read_sections(header: Header) -> Iterator[Fact]:
    level = section_level(
        [(heading.level, section_key(heading.text)) for heading in header.headings]
    )
    for heading in header.headings:
        key = section_key(heading.text)
        if key not in _KEYS or heading.level > level:
            continue
        if key == "status":
            yield from _status(header, heading)
            continue

        value = _in_heading(header, heading)
        spans = [value] if value is not None else _paragraphs(header, heading)
        if spans:
            first = spans[0]
            texts = tuple(span.of(header.text) for span in spans) if key == "deciders" else ()
            values = texts or (first.of(header.text),)
            yield Fact(key, first.of(header.text), first, "section", values)


def _paragraphs(header: Header, heading: Heading) -> list[Span]:
    text = header.text
    following = within(header.headings, heading.body, lambda other: other.section.start)
    end = following[0].section.start if following else heading.body.end
    spans: list[Span] = []
    open_end = -1

    for line in visible_lines(
        header.document, Span(heading.body.start, end), header.document.hidden
    ):
        content = text[line.start : line.end].strip()
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
        stop = line.start + len(text[line.start : line.end].rstrip())
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
    return (
        Span(heading.title.start + value[1], heading.title.start + value[2])
        if value is not None
        else None
    )


def _status(header: Header, heading: Heading) -> Iterator[Fact]:
    paragraphs = _paragraphs(header, heading)
    in_heading = _in_heading(header, heading)
    if in_heading is not None:
        yield from read_statement(header.text, in_heading, "section")
        yield from _remarks(header, in_heading, paragraphs)
        return

    if paragraphs and (cell := _cell(header, paragraphs[0])) is not None:
        yield from read_statement(header.text, cell, "section")
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
    lines: list[tuple[str, Span]] = []
    for line in visible_lines(header.document, heading.body, header.document.hidden):
        content = line.of(text)
        lead = _LEAD.match(content)
        bare = content[lead.end() if lead else 0 :].rstrip(" \t\\")
        if not bare.strip():
            continue

        match = _DATED_STATUS.fullmatch(bare)
        status = match and (match["status"] or match["first"])
        if match is None or normalise_status(status)[0] == "unknown":
            return None

        start = line.start + content.index(bare)
        lines.append((match["date"] or match["last"], Span(start, start + len(bare))))

    if len(lines) < _FEWEST:
        return None

    day, latest = max(lines, key=lambda each: (each[0], each[1].start))
    history = Span(lines[0][1].start, lines[-1][1].end)
    at = text.index(day, latest.start)
    return [
        *read_statement(text, latest, "section"),
        Fact("date", day, Span(at, at + len(day)), "section"),
        Fact(HISTORY, history.of(text), history, "section"),
    ]


def _cell(header: Header, first: Span) -> Span | None:
    start = Span(first.start, first.start + 1)
    for table in within(header.document.tables, start, lambda table: table.span.start):
        for key, cell in pairs(table):
            if key != "status" or cell.span is None:
                continue

            if normalise_status(cell.span.of(header.text))[0] != "unknown":
                return cell.span

    return None


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
            if (pair := key_value(text, part.start, part.end)) is not None and pair[0] in _KEYS:
                yield pair


def _remarks(header: Header, first: Span, paragraphs: Sequence[Span]) -> Iterator[Fact]:
    for span in paragraphs:
        pair = key_value(header.text, span.start, span.end)
        if pair and pair[0] == "date":
            yield Fact("date", pair[1].of(header.text), pair[1], "section")
            continue

        yield Fact("statement", span.of(header.text), span, "section")

        if any(
            phrase.rel == "superseded_by"
            for phrase in find_phrases(header.text, span.start, span.end)
        ):
            start = header.text.rfind("\n", 0, span.start) + 1
            while start > first.end and header.text[start - 1] in "\r\n \t":
                start -= 1

            yield Fact(
                "superseding",
                span.of(header.text),
                Span(max(start, first.end), span.end),
                "section",
            )


def _quoted(header: Header, heading: Heading) -> Span | None:
    quotes = []
    for line in visible_lines(header.document, heading.body, header.document.hidden):
        content = header.text[line.start : line.end].rstrip()
        start = line.start + len(content) - len(content.lstrip("> \t"))
        span = Span(start, line.start + len(content))
        if not NOTICE.match(content) and normalise_status(span.of(header.text))[0] != "unknown":
            quotes.append(span)
    return quotes[0] if len(quotes) == 1 else None


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
    return capital if fact.raw else f"\n\n{capital}"


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
