"""Finds and rewrites what names a record in any text: ids, anchors, folder paths, and links to its document.

Which record a mention means is not decided here: the caller says so, line by line.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import Link, is_markdown, parse_markdown
from orbit_registry.formats.position import Position, Span, TextLines

CitationMap = Callable[[str, str, str], str | None]
"""(path, line, id as written) → the id it should be; the same one where it stays, None where it can't be told."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SEQUENCE = re.compile(r"([A-Z][A-Z0-9]*-)(\d{1,9})\Z")


@dataclass(frozen=True, slots=True)
class Unclear:
    """A mention that was left as it is, because nothing tells which record it means."""

    path: str
    position: Position
    id: str
    line: str

    def as_dict(self) -> dict[str, object]:
        """Return the mention as JSON shows it."""
        data = {"path": self.path, "line": self.position.line, "column": self.position.column}
        return {**data, "id": self.id, "text": self.line}


@dataclass(frozen=True, slots=True)
class DocumentMoves:
    """Documents that move: old path → new path, and which of them can be told by their bare name."""

    paths: Mapping[str, str] = field(default_factory=dict)
    unique_names: frozenset[str] = frozenset()
    """File names that only one file of the project has."""
    owners: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Document path → what an id in a link to it becomes."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text with its mentions rewritten: how many were, and which could not be."""

    text: str
    count: int = 0
    unclear: tuple[Unclear, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mention:
    id: str
    start: int
    number: Span


def _numbered(record_id: str) -> tuple[str, int] | None:
    """Return the word before the hyphen of a numbered id and its number, whatever its width."""
    match = _SEQUENCE.match(record_id)
    return (match[1][:-1], int(match[2])) if match else None


def number_of(record_id: str) -> int | None:
    """Return the number in an id such as `ADR-0007`, whatever its width."""
    match = _SEQUENCE.match(record_id)
    return int(match[2]) if match else None


def search_patterns(ids: frozenset[str], moves: DocumentMoves) -> list[str]:
    """Return extended regular expressions for `git grep -i` that match every line with a mention, and few others."""
    patterns = []
    for word, number in sorted({numbered for record_id in ids if (numbered := _numbered(record_id)) is not None}):
        name = word.lower()
        patterns += [f"{name}-0*{number}([^0-9]|$)", f"{name}s?[[:space:]].*[^0-9]0*{number}([^0-9]|$)"]
        patterns.append(f"{name}s?[[:space:]]+0*{number}([^0-9]|$)")
    for path in sorted(moves.paths):
        name = path.rpartition("/")[2]
        patterns += [re.sub(r"[][\\.^$*+?{}()|]", r"\\\g<0>", text) for text in dict.fromkeys((name, quote(name)))]
    return patterns


def rewrite_mentions(
    text: str, path: str, forms: IdForms, ids: frozenset[str], meaning: CitationMap, moves: DocumentMoves
) -> Rewritten:
    """Return `text` with each mention as `meaning` says; `ids` are those whose number may have changed."""
    lines = TextLines(text)
    markdown = is_markdown(path)
    links = parse_markdown(text).links if markdown and (moves.paths or moves.owners) else ()
    owned = [(link.span, owner) for link in links if (owner := moves.owners.get(_target(path, link.target) or ""))]
    edits: dict[tuple[int, int], str] = {}
    unclear: list[Unclear] = []
    for mention in _mentions(text, forms, ids):
        index = lines.index_of(mention.number.start)
        line = text[lines.starts[index] : lines.ends[index]]
        new = _by_link(mention, owned) or meaning(path, line, mention.id)
        if new is None:
            unclear.append(Unclear(path, lines.position(mention.start), mention.id, line.strip()[:200]))
        elif new != mention.id:
            edits[mention.number.start, mention.number.end] = new.rpartition("-")[2]
    for span, new in _file_names(text, path, links, moves):
        edits[span.start, span.end] = new
    return Rewritten(_spliced(text, edits), len(edits), tuple(unclear))


def _spliced(text: str, edits: Mapping[tuple[int, int], str]) -> str:
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits.items()):
        if start >= at:
            parts += (text[at:start], new)
            at = end
    return "".join((*parts, text[at:]))


def _mentions(text: str, forms: IdForms, ids: frozenset[str]) -> Iterator[_Mention]:
    """Yield each mention of the ids, and of their numbers in another width."""
    numbers = {_numbered(record_id) for record_id in ids} - {None}
    for citation in find_citations(text, forms):
        if _numbered(citation.id) in numbers:
            yield _Mention(citation.id, citation.span.start, citation.number)
    for name in sorted(ids):
        for match in _folder_pattern(name).finditer(text):
            yield _Mention(name, match.start(), Span(*match.span("number")))


def _folder_pattern(record_id: str) -> re.Pattern[str]:
    """Return what matches an anchor (`#adr-0007-title`) or a record's folder (`.orbit/adrs/ADR-0007/`)."""
    prefix, number = record_id.rsplit("-", 1)
    folder = rf"\.orbit/[a-z_]+/{re.escape(prefix)}-(?=\d)"
    return re.compile(rf"(?:#(?i:{re.escape(prefix)})-|{folder})(?P<number>{number})(?![A-Za-z0-9_])")


def _by_link(mention: _Mention, owned: Sequence[tuple[Span, Mapping[str, str]]]) -> str | None:
    """Return what an id inside a link becomes, where the link's target belongs to one record."""
    for span, owner in owned:
        if span.start <= mention.number.start < span.end:
            return owner.get(mention.id)
    return None


def _target(path: str, target: str) -> str | None:
    """Return the file that a link in the document at `path` leads to, from the root."""
    file = unquote(target.partition("#")[0].partition("?")[0])
    if not file or _SCHEME.match(file):
        return None
    if file.startswith("/"):
        return posixpath.normpath(file.lstrip("/"))
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), file))


def _file_names(text: str, path: str, links: tuple[Link, ...], moves: DocumentMoves) -> Iterator[tuple[Span, str]]:
    """Yield the file names to replace: in links to a moved document, and wherever its name is unmistakable."""
    for link in links:
        new = moves.paths.get(_target(path, link.target) or "")
        if new is None or link.target_span is None:
            continue
        old_name = posixpath.basename(_target(path, link.target) or "")
        target = link.target_span.of(text)
        for name, becomes in ((old_name, posixpath.basename(new)), (quote(old_name), quote(posixpath.basename(new)))):
            at = target.partition("#")[0].rfind(name)
            if at >= 0:
                start = link.target_span.start + at
                yield Span(start, start + len(name)), becomes
                break
    for old, new in moves.paths.items():
        folder, _, name = old.rpartition("/")
        lead = r"(?<![\w.-])" if name in moves.unique_names else rf"(?<![\w./-])(?:\./)?{re.escape(folder)}/"
        for match in re.finditer(rf"{lead}(?P<name>{re.escape(name)})(?![\w-]|\.\w)", text):
            yield Span(*match.span("name")), new.rpartition("/")[2]
