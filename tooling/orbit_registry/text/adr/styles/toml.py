"""Metadata in a TOML front matter (`+++`, `status = "accepted"`), as Hugo and Zola have it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.statement import read_statement
from orbit_registry.text.adr.words import field_of
from orbit_registry.text.position import Span

NAME = "toml"
_BLOCK = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(?P<lines>(?:(?!\+\+\+)[^\n]*\n){0,200})\+\+\+[ \t]*(?:\r?\n|\Z)")
_TABLE = re.compile(r"[ \t]*\[+(?P<name>[\w.-]+)\]+")
_TABLES = ("extra", "params", "adr")
"""Tables in which generators have people put keys of their own."""
_PAIR = re.compile(
    r"[ \t]*(?P<key>[\w-]{1,60})[ \t]*=[ \t]*"
    r"(?:\"(?P<double>[^\"\\\r\n]*)\"|'(?P<single>[^'\r\n]*)'|(?P<bare>[^\s\"'\[{#][^\s#]*)|\[(?P<list>[^\[\]\r\n]*)\])"
    r"[ \t]*(?:#[^\r\n]*)?\r?(?=\n)"
)


_SINGLE = "single"
"""Beside a title: it stands in single quotes."""


def block(text: str) -> Span | None:
    """Return the lines between the fences at the top of a text."""
    found = _BLOCK.match(text)
    return Span(*found.span("lines")) if found is not None else None


def read(header: Header) -> Iterator[Fact]:
    """Yield the known keys of the front matter; of a log it speaks of the log, not of its entries."""
    lines = block(header.text) if not header.in_log else None
    if lines is None:
        return
    at, is_ours = lines.start, True
    while at < lines.end:
        end = header.text.find("\n", at) + 1
        table = _TABLE.match(header.text, at, end)
        is_ours = table["name"] in _TABLES if table is not None else is_ours
        pair = _PAIR.match(header.text, at, end) if is_ours else None
        if pair is not None:
            yield from _facts(header.text, pair)
        at = end


def _facts(text: str, pair: re.Match[str]) -> Iterator[Fact]:
    key = field_of(pair["key"])
    group = next(name for name in ("double", "single", "bare", "list") if pair[name] is not None)
    span = Span(*pair.span(group))
    if key == "status":
        yield from read_statement(text, span, NAME)
    elif key is not None:
        raw = span.of(text)
        values = [part.strip().strip("\"'") for part in raw.split(",")] if group == "list" else [raw]
        quoted = (_SINGLE,) if key == "title" and group == _SINGLE else ()
        yield Fact(key, raw, span, NAME, (*(value for value in values if value), *quoted))


def written(fact: Fact, value: str) -> str:
    """Return the value without what would end the string that it stands in, or begin an escape."""
    plain = value.replace("\\", "")
    return plain.replace("'", "’") if _SINGLE in fact.values else plain.replace('"', "'")


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Insert a line above the first table, or at the end."""
    lines = block(header.text)
    if lines is None or header.in_log:
        return None
    table = next((match for match in re.finditer(r"^[ \t]*\[", lines.of(header.text), re.MULTILINE)), None)
    at = lines.start + table.start() if table is not None else lines.end
    newline = "\r\n" if "\r\n" in lines.of(header.text) else "\n"
    return at, f'{key} = "{written(Fact(key, "", Span(0, 0), NAME), value)}"{newline}'
