"""Metadata in tables, of Markdown or of HTML, and in badges."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain, islice
from urllib.parse import quote, unquote

from orbit_registry.formats.adr.header import LINK, Header, Style
from orbit_registry.formats.adr.headings import section_key
from orbit_registry.formats.adr.html_table import html_images, html_lines, html_tables
from orbit_registry.formats.adr.model import RELS, Fact
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.status_line import normalise_status, read_statement, value_facts
from orbit_registry.formats.adr.vocabulary import field_of, read_date, word_set
from orbit_registry.formats.markdown import Cell, Table, within
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain


def _read_table(header: Header) -> Iterator[Fact]:
    for zone in header.zone:
        for table in within(header.document.tables, zone, lambda table: table.span.start):
            stage = latest_stage(header.text, table)
            for key, span in stage.items():
                yield from value_facts(header.text, key, span, "table")

            for key, cell in () if stage else pairs(table):
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

                yield from _html_facts(header.text, key, cell, cell.span)


def _html_facts(text: str, key: str, cell: Cell, span: Span) -> Iterator[Fact]:
    is_plain = not {"<", "&"} & set(span.of(text))
    if key == "status" and is_plain:
        yield from read_statement(text, span, "html")
        return

    yield Fact(key, cell.text, span, "html", (cell.text,))
    if key == "status":
        yield Fact("statement", cell.text, span, "html")


def _render_html(fact: Fact, value: str) -> str:
    return LINK.sub(r'<a href="\g<url>">\g<text></a>', escape(value, quote=False))


_PAIR = 2  # cells of a row that is a key and its value
_FEWEST_STAGES = 2  # rows of a history


def pairs(table: Table) -> Iterator[tuple[str, Cell]]:
    """Yield (key, value cell) of a table with rows of key and value,
    or with one row under the keys.
    """
    first = [_key(cell) for cell in table.rows[0]] if table.rows else []
    is_of_rows = len(table.rows) == _PAIR and sum(key is not None for key in first) > 1
    if is_of_rows and not _names_keys(table.rows[1]):
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


def _names_keys(row: Sequence[Cell]) -> bool:
    """Say whether each second cell of a row is a key: `| Deciders | Ada | Tags | data |`."""
    return len(row) > _PAIR and len(row) % 2 == 0 and all(map(_key, row[::2]))


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


def row_facts(text: str, table: Table, row: Sequence[Cell], style: str) -> Iterator[Fact]:
    """Yield the facts in a row of a table of decisions, of Markdown or of HTML."""
    for head, cell in zip(table.rows[0], row, strict=False):
        key = _key(head)
        if key is None or cell.span is None or key in ("number", "title", "name"):
            continue

        raw = cell.text if style == "html" else cell.span.of(text)
        if key in RELS:
            values = tuple(_ROW_CODE.sub(r"\g<number>", raw).split(", "))
            yield Fact(key, raw, cell.span, "html", values)
        elif style == "html":
            yield from _html_facts(text, key, cell, cell.span)
        elif key == "status":
            yield from read_statement(text, cell.span, style)
        elif raw:
            yield Fact(key, raw, cell.span, style, (raw,))


def latest_stage(text: str, table: Table) -> Mapping[str, Span]:
    """Return status and date in the latest row of a history; empty for a table that is none: each
    row of a history has a known status and a day.
    """
    rows = [dict(_cells_of_row(table, row)) for row in table.rows[1:]]
    days = [_day_of_stage(text, row) for row in rows]
    if len(rows) < _FEWEST_STAGES or not all(days):
        return {}

    _, latest = max(zip(days, rows, strict=True), key=lambda each: each[0])
    return {key: cell for key, cell in latest.items() if key in ("status", "date")}


def _day_of_stage(text: str, row: Mapping[str, Span]) -> str:
    if "status" not in row or "date" not in row:
        return ""

    is_known = normalise_status(row["status"].of(text))[0] != "unknown"
    if is_known:
        return read_date(row["date"].of(text)) or ""

    return ""


def _cells_of_row(table: Table, row: Sequence[Cell]) -> Iterator[tuple[str, Span]]:
    """Yield key and place of each cell of a row, whose keys are in the first row."""
    for head, cell in zip(table.rows[0], row, strict=False):
        key = _key(head)
        if key is not None and cell.span is not None:
            yield key, cell.span


def _key(cell: Cell) -> str | None:
    return field_of(cell.text.strip().strip("*_:").strip())


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
    yield from islice(_badges(header), 2)


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
                yield Fact("statement", raw, span, "badge")


def _render_badge(fact: Fact, value: str) -> str:
    encoded = quote(value.replace("-", "--").replace(" ", "_"), safe="")
    return _URL.sub(
        lambda match: f"{match['lead']}{encoded}{match['tail'] or ''}", fact.values[0], count=1
    )


TABLE = Style("table", _read_table, lambda _, value: _escaped(value), _insert_row)
HTML = Style("html", _read_html, _render_html, lambda *_: None)
BADGE = Style("badge", _read_badge, _render_badge, lambda *_: None)
