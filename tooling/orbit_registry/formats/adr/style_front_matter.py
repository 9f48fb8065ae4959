"""Metadata in a YAML front matter (`status: accepted`)."""

import re
from collections.abc import Iterator

from orbit_registry.formats.adr.header import Field, Header, Style, scalar
from orbit_registry.formats.adr.model import Fact
from orbit_registry.formats.adr.status_line import normalise_status, read_statement
from orbit_registry.formats.adr.vocabulary import KEY_OF, field_of
from orbit_registry.formats.position import Span

_PAIR = re.compile(r"^[ \t]*(?P<item>-[ \t]+)?(?P<key>target|kind|type)[ \t]*:[ \t]*(?P<value>[^\r\n]*)", re.MULTILINE)


def _read(header: Header) -> Iterator[Fact]:
    if header.in_log:
        return
    yield from _stage_status(header)
    for field in header.fields:
        key = field_of(field.key)
        if field.key.lower() in ("links", "relations"):
            yield from _typed_links(header.text, field)
        elif key == "status":
            yield from _status(header.text, field)
        elif key is not None:
            yield Fact(key, field.value, field.span, "front-matter", field.values)


def _stage_status(header: Header) -> Iterator[Fact]:
    """Yield the status in `stage:` if no other key states one: `stage: released`, but not `stage: production`."""
    if any(field_of(field.key) == "status" for field in header.fields):
        return
    for field in header.fields:
        if field.key.lower() == "stage" and normalise_status(field.value)[0] != "unknown":
            yield from _status(header.text, field)


def _status(text: str, field: Field) -> Iterator[Fact]:
    """Yield the status as the whole value, so that its quotes can change, and the other facts in it."""
    facts = list(read_statement(field.value, Span(0, len(field.value)), "front-matter"))
    yield Fact("status", facts[0].raw, field.span, "front-matter", (field.value, field.span.of(text)))
    yield Fact("statement", field.value, field.span, "front-matter")
    for fact in facts:
        if fact.key in ("tasks", "legacy_ids"):
            yield Fact(fact.key, fact.raw, field.span, "front-matter", fact.values)
        elif fact.key == "date":
            yield Fact("status_date", fact.raw, field.span, "front-matter")


def _typed_links(text: str, field: Field) -> Iterator[Fact]:
    """Yield a fact for each of `links: [{target: 2, kind: supersedes}]`, named after its kind."""
    item: dict[str, re.Match[str]] = {}
    for match in _PAIR.finditer(text, field.line.start, field.line.end):
        item = {**({} if match["item"] else item), match["key"]: match}
        kind = item.get("kind") or item.get("type")
        if kind is not None and "target" in item:
            yield _typed_link(item["target"], kind["value"])
            item = {}


def _typed_link(target: re.Match[str], kind: str) -> Fact:
    relation = kind.strip().strip("\"'").lower().replace("-", " ")
    key = KEY_OF.get(relation) or KEY_OF.get(relation.replace(" ", "_")) or "related_to"
    value = target["value"].strip().strip("\"'")
    span = Span(target.start("value"), target.start("value") + len(target["value"].rstrip()))
    return Fact(key, value, span, "front-matter", (value,))


def _render(fact: Fact, value: str) -> str:
    """Return the value as a YAML scalar; the rest of the old value stays."""
    if fact.key != "status":
        quoted = fact.span.end - fact.span.start == len(fact.raw) + 2
        return scalar(value, '"' if quoted else "") if fact.span.end > fact.span.start else f" {scalar(value)}"
    old, as_written = fact.values
    result = scalar(value + _remainder(old, value), as_written)
    return result if as_written else f" {result}"


def _remainder(old: str, value: str) -> str:
    """Return the rest of the old value after the status (`; supersedes ADR-0045`) that still holds."""
    facts = list(read_statement(old, Span(0, len(old)), "front-matter"))
    remainder = old[facts[0].span.end :]
    if not value.lower().startswith("super"):
        for fact in reversed([fact for fact in facts if fact.key == "superseding"]):
            shift = facts[0].span.end
            remainder = remainder[: fact.span.start - shift] + remainder[fact.span.end - shift :]
    return remainder


def _insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    span = header.document.front_matter
    if span is None or header.in_log:
        return None
    newline = "\r\n" if "\r\n" in header.text[: span.end + 5] else "\n"
    return span.end, f"{key}: {scalar(value)}{newline}"


FRONT_MATTER = Style("front-matter", _read, _render, _insertion)
