"""Top-level `key: value` lines of a YAML front matter, read line by line, with the place of each value.

Not a YAML parser: ADR templates put unquoted `{…}` and half-quoted strings into their front matter, which
no YAML parser accepts, and a document that says `status: accepted` there says it all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.text.position import Span

_KEY = re.compile(r"""(?P<quote>["']?)(?P<key>[A-Za-z_][\w .-]{0,60}?)(?P=quote)[ \t]*:(?=[ \t]|$)""")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?[0-9]?[+-]?[ \t]*$")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(?P<item>.*))?$")
_PLAIN_SAFE = re.compile(r"[A-Za-z0-9_][^\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029]*")
_NOT_PLAIN = re.compile(
    r"(?:true|false|null|yes|no|on|off|~|[-+.0-9][-+.0-9_eExXoO:]*|\d{4}-\d\d-\d\d.*)", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")


@dataclass(frozen=True, slots=True)
class Field:
    """One top-level entry: its value as text, as a list, and the span of the value as written (quotes included)."""

    key: str
    value: str
    values: tuple[str, ...]
    span: Span
    line: Span
    """All lines of the entry, last line end included."""


def read_fields(text: str, span: Span) -> tuple[Field, ...]:
    """Return the entries of the front matter that `span` covers, in order; lines that are none are passed over."""
    lines = list(_lines(text, span))
    fields: list[Field] = []
    index = 0
    while index < len(lines):
        start, end, _ = lines[index]
        match = _KEY.match(text, start, end)
        if match is None:
            index += 1
            continue
        last = index + 1
        while last < len(lines) and _continues(text, lines[last], lines[last - 1]):
            last += 1
        while last > index + 1 and not text[lines[last - 1][0] : lines[last - 1][1]].strip():
            last -= 1
        fields.append(_field(text, match["key"], match.end(), lines[index:last]))
        index = last
    return tuple(fields)


def _lines(text: str, span: Span) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end without line end, end) of each line."""
    at = span.start
    while at < span.end:
        match = _LINE.match(text, at, span.end)
        end = match.end() if match else span.end
        yield at, at + len(text[at:end].rstrip("\r\n")), end
        at = end


def _continues(text: str, line: tuple[int, int, int], before: tuple[int, int, int]) -> bool:
    """Say whether a line belongs to the entry above it: indented, a list item, a comment, or blank."""
    content = text[line[0] : line[1]]
    return not content.strip() or content[0] in " \t#" or content.startswith(("- ", "]", "}")) or content == "-"


def _field(text: str, key: str, value_from: int, lines: Sequence[tuple[int, int, int]]) -> Field:
    start, end, _ = lines[0]
    whole = Span(start, lines[-1][2])
    value_start = value_from
    while value_start < end and text[value_start] in " \t":
        value_start += 1
    first = _without_comment(text[value_start:end])
    rest = [text[line[0] : line[1]] for line in lines[1:]]
    if _BLOCK_SCALAR.match(first):
        joined = " ".join(part.strip() for part in rest).strip()
        return Field(key, joined, (joined,) if joined else (), Span(value_start, _end(text, lines)), whole)
    if not first and any(_ITEM.match(line) for line in rest):
        values = tuple(_items(rest))
        return Field(key, ", ".join(values), values, Span(value_start, _end(text, lines)), whole)
    parts = [first, *(_without_comment(line).strip() for line in rest if not line.lstrip().startswith("#"))]
    joined = " ".join(part for part in parts if part)
    value_end = _end(text, lines) if any(parts[1:]) else value_start + len(first)
    scalar = _unquoted(joined)
    values = _flow_items(joined) if _is_list(joined) else ((scalar,) if scalar else ())
    return Field(key, scalar, values, Span(value_start, value_end), whole)


def _end(text: str, lines: Sequence[tuple[int, int, int]]) -> int:
    """Return where the last line of an entry that is not a comment ends."""
    for start, end, _ in reversed(lines):
        content = text[start:end]
        if content.strip() and not content.lstrip().startswith("#"):
            return start + len(content.rstrip())
    return lines[0][1]


def _without_comment(value: str) -> str:
    """Return a value without a trailing ` # comment`; a quoted value keeps its hashes."""
    if value[:1] in ("'", '"'):
        closing = value.find(value[0], 1)
        if closing > 0:
            return value[: closing + 1] + _COMMENT.sub("", value[closing + 1 :]).rstrip()
    return _COMMENT.sub("", value).rstrip()


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    return value


def _is_list(value: str) -> bool:
    """Say whether a value is a flow list; `[0042](x.md)` is a link, `{a, b}` a list that someone meant."""
    return (value.startswith("[") and value.endswith("]") and "](" not in value) or (
        value.startswith("{") and value.endswith("}") and "," in value and ":" not in value
    )


def _flow_items(value: str) -> tuple[str, ...]:
    items: list[str] = []
    part: list[str] = []
    quote = ""
    for char in value[1:-1] + ",":
        if char == "," and not quote:
            item = _unquoted("".join(part).strip())
            if item:
                items.append(item)
            part = []
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and not "".join(part).strip():
            quote = char
        part.append(char)
    if quote:  # an unclosed quote: give what stands there
        items.append("".join(part).strip().rstrip(","))
    return tuple(items)


def _items(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _ITEM.match(line)
        if match and match["item"]:
            item = _unquoted(_without_comment(match["item"].strip()))
            if item:
                yield item


def scalar(value: str, like: str = "") -> str:
    """Return `value` as a YAML scalar on one line, quoted as `like` is, or where it has to be."""
    if like[:1] == "'" and "'" not in value and value.isprintable():
        return f"'{value}'"
    if like[:1] == '"' or not _is_plain(value):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
    return value


def _is_plain(value: str) -> bool:
    return (
        _PLAIN_SAFE.fullmatch(value) is not None
        and (_NOT_PLAIN.fullmatch(value) is None or _DATE.fullmatch(value) is not None)
        and ": " not in value
        and " #" not in value
        and not value.endswith((":", " "))
    )
