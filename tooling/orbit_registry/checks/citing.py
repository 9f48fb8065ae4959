"""The ids that a file cites, with their places, examples left out; which file is read when, `checks.context` says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from orbit_registry.records.diagnostic import Location
from orbit_registry.records.record import Record
from orbit_registry.text.citations import Citation, IdForms, find_citations
from orbit_registry.text.markdown import parse_markdown
from orbit_registry.text.position import Span

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)|^(?: {4}|\t)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation: the id as written, where, and the record whose prose it stands in, if any."""

    id: str
    location: Location
    record: Record | None = None


def cited_in(path: str, forms: IdForms, read: Callable[[str], str | None]) -> list[tuple[str, int, int]]:
    """Return the ids that a file cites, each with line and column."""
    text = read(path)
    if text is None or not forms.may_stand_in(text):
        return []
    found = ((citation.id, citation.position) for citation in in_text(text, path, forms))
    return [(cited, position.line, position.column) for cited, position in found]


def in_text(text: str, path: str, forms: IdForms, *, weak: bool = False) -> Iterator[Citation]:
    """Yield the citations in a file that mean a record, those in code blocks and examples left out.

    Weak ones are only for those who know which records there are.
    """
    markdown = path.lower().endswith((".md", ".markdown"))
    if not any(weak or not citation.weak for citation in find_citations(text, forms)):
        return  # before the text is parsed: a prefix such as `R-` stands in many a word
    skip = parse_markdown(text).code if markdown and _FENCE.search(text) else ()
    at, ticks = 0, 0  # how far the text was looked at, and the backticks of that line: a long line is read once
    for citation in find_citations(text, forms, skip):
        if citation.weak and not weak:
            continue
        start = citation.span.start
        line = text.rfind("\n", at, start) + 1
        if line:
            at, ticks = line, 0
        ticks, at = ticks + text.count("`", at, start), start
        if not (markdown and ticks % 2 and not _is_whole_code(text, citation.span)):
            yield citation


def _is_whole_code(text: str, span: Span) -> bool:
    """Say whether the code span around a citation says the id alone, and is no example, command or path."""
    return text[span.start - 1 : span.start] == "`" and text[span.end : span.end + 1] == "`"
