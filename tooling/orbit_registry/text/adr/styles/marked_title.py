"""The status as a mark in the title (`# [ACCEPTED] Use x`, `# Use x (superseded)`), where nothing else states one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.model import AdrDocument, Fact, Relation
from orbit_registry.text.adr.relations import find_phrases
from orbit_registry.text.adr.statement import normalise_status
from orbit_registry.text.markdown import Document
from orbit_registry.text.position import Span

NAME = "title"
_SURE = frozenset({"proposed", "draft", "accepted", "approved", "adopted", "rejected", "declined", "withdrawn",
                   "deprecated", "obsolete", "superseded", "superceded"})  # fmt: skip
"""Words that a title has for no other reason: what is `Open` or `Final` may be anything."""
_SAID = r"(?P<said>(?P<word>[A-Za-z]{5,10})(?:[ ](?:by|in favou?r of)[ ](?:[^\[\]()]|\[[^\[\]]*\]\([^()]*\)){1,80})?)"
_FIRST = re.compile(rf"\[{_SAID}\][ \t:–—-]*(?=\S)")
_LAST = re.compile(rf"(?<=\S)[ \t]+[\[(]{_SAID}[\])][ \t]*$")


def read(header: Header) -> Iterator[Fact]:
    """Yield nothing: a mark counts only once all else was read, see `with_mark`."""
    return iter(())


def with_mark(document: Document, entry: AdrDocument) -> AdrDocument:
    """Return a decision that states no status with the one that its heading's title is marked with."""
    heading = entry.heading_span
    inside = [span for span in entry.title_spans if heading and heading.start <= span.start < heading.end]
    if heading is None or not inside or entry.format != "none" or entry.status != "unknown":
        return entry
    span = inside[-1]
    first = _FIRST.match(document.text, span.start, span.end)
    found = first or _LAST.search(document.text, span.start, span.end)
    if found is None or found["word"].lower() not in _SURE:
        return entry
    said = Span(*found.span("said"))
    title = Span(found.end(), span.end) if first else Span(span.start, found.start())
    shown = (_FIRST if first else _LAST).sub("", entry.title, count=1)
    if shown == entry.title:
        return entry
    position = document.lines.position(said.start)
    relations = [
        Relation(one.rel, one.target, position, one.span, one.text)
        for one in find_phrases(document.text, said.start, said.end)
    ]
    return replace(
        entry,
        title=shown,
        title_spans=tuple(title if one == span else one for one in entry.title_spans),
        status=normalise_status(said.of(document.text))[0],
        status_raw=said.of(document.text),
        status_span=said,
        format=NAME,
        relations=(*relations, *(one for one in entry.relations if one.span not in {new.span for new in relations})),
        facts=(*entry.facts, Fact("status", said.of(document.text), said, NAME)),
    )


def written(fact: Fact, value: str) -> str:
    """Return the status in capitals where the old one was."""
    return value.upper() if fact.raw.isupper() and " " not in value else value


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Titles are never marked."""
    return None
