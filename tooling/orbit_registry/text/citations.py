"""Ids of records named in ordinary text or code comments, with their places; knows nothing of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.text.position import Position, Span

_SHORT_CODE = r"(?:L|R|RES|RT|F|P)-[0-9a-hjkmnp-tv-z]{4,9}"
_LOCAL = re.compile(rf"(?<![\w#-])(?:ADR-[0-9]{{1,9}}|{_SHORT_CODE})(?![\w/]|[.-]\w)")
_NAMESPACE = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,63}/){1,4}")
_NAMESPACE_END = re.compile(r"[\w./#-]*")
_LONGEST_NAMESPACE = 256
_WEAK = re.compile(r"(?<![\w/.-])ADRs?[ \t]{1,2}#?(?P<first>[0-9]{1,6})(?![\w/]|[.-]\w)")
_WEAK_NEXT = re.compile(
    r"(?:[ \t]{0,2},[ \t]{0,2}|[ \t]{1,2}(?:and|or|&)[ \t]{1,2})(?:ADR[ \t])?#?(?P<next>[0-9]{1,6})(?![\w/%]|[.-]\w)"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A record named in a text.

    `id` is normalised only in form (`ADR 12` is `ADR-12`, zeros are kept); `weak` says that the words may
    mean something else (`ADR 12` in prose, `L-shaped`), so it counts only where such a record exists.
    `number` spans the digits or code that a renumbering would replace.
    """

    id: str
    position: Position
    span: Span
    number: Span
    weak: bool


def find_citations(text: str, skip: Sequence[Span] = ()) -> tuple[Citation, ...]:
    """Return every record id in `text` outside the `skip` spans (sorted, not overlapping), in order."""
    newlines = [0, *(match.end() for match in re.finditer("\n", text))]
    starts = [span.start for span in skip]

    def hidden(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < skip[index].end

    found = [
        Citation(cited, _position(newlines, span.start), span, number, weak)
        for cited, span, number, weak in (*_strong(text), *_weak(text))
        if not hidden(span.start)
    ]
    return tuple(sorted(found, key=lambda citation: citation.span.start))


def _strong(text: str) -> Iterator[tuple[str, Span, Span, bool]]:
    for match in _LOCAL.finditer(text):
        start = _namespace_start(text, match.start())
        if start is None:
            continue
        code = match.group().partition("-")[2]
        number = Span(match.end() - len(code), match.end())
        yield text[start : match.end()], Span(start, match.end()), number, not any(c.isdigit() for c in code)


def _namespace_start(text: str, at: int) -> int | None:
    """Return where the namespace before the id at `at` begins (`at`: there is none); None inside a path."""
    if at == 0 or text[at - 1] not in "/.":
        return at
    before = text[max(0, at - _LONGEST_NAMESPACE) : at]
    reversed_match = _NAMESPACE_END.match(before[::-1])
    start = len(before) - (reversed_match.end() if reversed_match else 0)
    namespace = before[start:]
    return at - len(namespace) if _NAMESPACE.fullmatch(namespace) else None


def _weak(text: str) -> Iterator[tuple[str, Span, Span, bool]]:
    for match in _WEAK.finditer(text):
        number = Span(match.start("first"), match.end("first"))
        yield f"ADR-{match['first']}", Span(match.start(), match.end()), number, True
        end = match.end()
        while following := _WEAK_NEXT.match(text, end):
            number = Span(following.start("next"), following.end("next"))
            yield f"ADR-{following['next']}", number, number, True
            end = following.end()


def rewrite_citations(text: str, old: str, new: str, skip: Sequence[Span] = (), *, weak: bool = False) -> str:
    """Return `text` with every citation of the id `old` naming `new`; zeros and words around it stay.

    `weak` says that prose mentions (`ADR 12`) count too; a citation with another namespace is another record.
    """
    code = new.rpartition("/")[2].partition("-")[2]
    parts: list[str] = []
    at = 0
    for citation in find_citations(text, skip):
        if not _names(citation, old, weak):
            continue
        parts.extend((text[at : citation.number.start], code))
        at = citation.number.end
    return "".join((*parts, text[at:]))


def _names(citation: Citation, old: str, weak: bool) -> bool:
    if citation.id == old:
        return weak or not citation.weak
    cited, wanted = citation.id.rpartition("-")[2], old.rpartition("-")[2]
    return weak and citation.weak and old.startswith("ADR-") and cited.isdigit() and int(cited) == int(wanted)


def _position(newlines: Sequence[int], offset: int) -> Position:
    line = bisect_right(newlines, offset)
    return Position(line, offset - newlines[line - 1] + 1)
