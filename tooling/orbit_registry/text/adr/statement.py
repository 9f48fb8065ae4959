"""A status statement (`Accepted · 2026-05 · [TASK-1] · legacy_id: feature/ADR-001`) cut into its facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.relations import find_phrases
from orbit_registry.text.position import Span

_SEPARATOR = re.compile(r"[ \t]+[·•][ \t\r\n]+|;[ \t\r\n]+|[ \t]+[-–—|][ \t]+(?=\d{4}-\d\d|\[|legacy_id)")
_NESTING = {"(": 1, "[": 1, ")": -1, "]": -1}
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d(?:-\d\d)?(?![\w-])")
_BRACKETED = re.compile(r"\[(?P<task>[A-Za-z][A-Za-z0-9_]{0,20}-?\d[\w-]{0,40}|#\d{1,9})\](?![(\[:])")
_BARE_TASK = re.compile(r"[A-Z][A-Z0-9_]{1,15}-\d{1,9}(?![\w/])")
_LEGACY = re.compile(r"legacy[_ ]ids?`?[ \t]{0,3}[:=][ \t]{0,3}", re.IGNORECASE)
_LEGACY_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,80}(?:/[\w.-]{1,80}){0,4}")
_TRAILING_TASKS = re.compile(r"(?:[ \t,]{1,3}\[[A-Za-z#][\w#-]{0,60}\](?![(\[:])){1,40}[ \t]*$")


def read_statement(text: str, span: Span, style: str) -> Iterator[Fact]:
    """Yield the facts in `text[span]`: the status first, then dates, tasks, legacy ids and superseding remarks."""
    pieces = _pieces(text, span)
    first = _status_piece(text, pieces[0])
    yield Fact("status", first.of(text), first, style)
    yield Fact("statement", span.of(text), span, style)
    for match in _DATE.finditer(text, first.start, first.end):
        yield Fact("status_date", match.group(), Span(match.start(), match.end()), style)
        break
    yield from _tasks(text, Span(first.end, span.end), style)
    for number, piece in enumerate(pieces[1:], start=1):
        dated = _DATE.match(text, piece.start, piece.end)
        if dated:
            yield Fact("date", dated.group(), Span(dated.start(), dated.end()), style)
        bare = _BARE_TASK.match(text, piece.start, piece.end)
        if bare and not bare.group().startswith("ADR-"):
            yield Fact("tasks", bare.group(), Span(bare.start(), bare.end()), style, (bare.group(),))
        legacy = _LEGACY.match(text, _skip_mark(text, piece), piece.end)
        if legacy:
            ids = tuple(match.group() for match in _LEGACY_ID.finditer(text, legacy.end(), piece.end))
            yield Fact("legacy_ids", text[legacy.end() : piece.end], Span(legacy.end(), piece.end), style, ids)
        if any(phrase.rel == "superseded_by" for phrase in find_phrases(text, piece.start, piece.end)):
            whole = Span(pieces[number - 1].end, piece.end)
            yield Fact("superseding", piece.of(text), whole, style)


def _pieces(text: str, span: Span) -> list[Span]:
    """Cut at separators that stand outside brackets and code."""
    pieces: list[Span] = []
    start, depth, at, in_code = span.start, 0, span.start, False
    separators = {match.start(): match.end() for match in _SEPARATOR.finditer(text, span.start, span.end)}
    while at < span.end:
        if depth <= 0 and not in_code and at in separators:
            pieces.append(Span(start, at))
            start = at = separators[at]
            continue
        char = text[at]
        in_code = not in_code if char == "`" else in_code
        depth = max(0, depth + _NESTING.get(char, 0))
        at += 1
    pieces.append(Span(start, span.end))
    if depth > 0 and len(pieces) == 1 and separators:  # a bracket never closed: separators count after all
        return _flat_pieces(span, separators)
    return pieces


def _flat_pieces(span: Span, separators: dict[int, int]) -> list[Span]:
    starts = [span.start, *separators.values()]
    ends = [*separators, span.end]
    return [Span(start, end) for start, end in zip(starts, ends, strict=True)]


def _status_piece(text: str, piece: Span) -> Span:
    """Return the part of the first piece that states the status, without marks and tasks around it."""
    start, end = piece.start, piece.end
    trailing = _TRAILING_TASKS.search(text[start:end])
    if trailing and trailing.start() > 0:
        end = start + trailing.start()
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    while start < end and text[start] in " \t\r\n":
        start += 1
    for mark in ("**", "__", "`", "*", "_"):
        if end - start > 2 * len(mark) and text.startswith(mark, start) and text.endswith(mark, start, end):
            inner = text[start + len(mark) : end - len(mark)]
            if mark not in inner:
                return Span(start + len(mark), end - len(mark))
    return Span(start, end)


def _tasks(text: str, span: Span, style: str) -> Iterator[Fact]:
    for match in _BRACKETED.finditer(text, span.start, span.end):
        if not match["task"].upper().startswith("ADR"):
            yield Fact("tasks", match.group(), Span(match.start(), match.end()), style, (match["task"],))


def _skip_mark(text: str, piece: Span) -> int:
    at = piece.start
    while at < piece.end and text[at] in "`*_":
        at += 1
    return at
