"""Metadata in a table of the header, and the status as a badge image."""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from orbit_registry.formats.adr.header import Header, Style
from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.status_line import read_statement
from orbit_registry.formats.adr.vocabulary import KEY_OF, plain
from orbit_registry.formats.markdown import Cell, Table, within


def _read_table(header: Header) -> Iterator[Fact]:
    tables = header.document.tables
    for table in (table for zone in header.zone for table in within(tables, zone, lambda table: table.span.start)):
        for key, cell in pairs(table):
            if cell.span is None:
                continue
            if key == "status":
                yield from read_statement(header.text, cell.span, "table")
            else:
                raw = cell.span.of(header.text)
                yield Fact(key, raw, cell.span, "table", (raw,))


def pairs(table: Table) -> Iterator[tuple[str, Cell]]:
    """Yield (key, value cell) of a table with rows of key and value, or with one row under the keys."""
    first = [_key(cell) for cell in table.rows[0]] if table.rows else []
    if len(table.rows) == 2 and sum(key is not None for key in first) > 1:
        for key, cell in zip(first, table.rows[1], strict=False):
            if key:
                yield key, cell
        return
    for row in table.rows:
        key = _key(row[0]) if len(row) > 1 else None
        if key:
            yield key, row[1]


def _key(cell: Cell) -> str | None:
    return KEY_OF.get(plain(cell.text.strip().strip("*_:").strip()))


def _escaped(value: str) -> str:
    return value.replace("|", "\\|")


def _insert_row(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Insert a row under the first known one, in a table of keys and values."""
    for fact in _read_table(header):
        start = header.text.rfind("\n", 0, fact.span.start) + 1
        end = header.text.find("\n", fact.span.end)
        row = header.text[start : end if end >= 0 else len(header.text)]
        if row.count("|") == 3 and end >= 0:
            newline = "\r\n" if row.endswith("\r") else "\n"
            return end + 1, f"| {key.capitalize()} | {_escaped(value)} |{newline}"
    return None


_URL = re.compile(r"/badge/status-(?P<status>(?:[^-/?#]|--){1,60})(?P<tail>-[\w]{1,30})?(?=[.?#]|$)", re.IGNORECASE)


def _read_badge(header: Header) -> Iterator[Fact]:
    links = header.document.links
    for link in (link for zone in header.zone for link in within(links, zone, lambda link: link.span.start)):
        if link.kind != "image" or link.target_span is None:
            continue
        match = _URL.search(link.target_span.of(header.text))
        if match:
            raw = unquote(match["status"]).replace("--", "\0").replace("_", " ").replace("\0", "-")
            yield Fact("status", raw, link.target_span, "badge", (link.target_span.of(header.text),))
            return


def _render_badge(fact: Fact, value: str) -> str:
    encoded = quote(value.replace("-", "--").replace(" ", "_"), safe="")
    return _URL.sub(lambda match: f"/badge/status-{encoded}{match['tail'] or ''}", fact.values[0], count=1)


TABLE = Style("table", _read_table, lambda _, value: _escaped(value), _insert_row)
BADGE = Style("badge", _read_badge, _render_badge, lambda *_: None)
