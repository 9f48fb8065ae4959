"""Record ids cited in prose and in code comments, with their positions."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from orbit_registry.formats.position import Position, Span, text_lines

_NAMESPACE = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,63}/){1,4}")
_NAMESPACE_END = re.compile(r"[\w./#-]*")
_SOURCE_END = re.compile(r"[a-z0-9-]{1,31}(?![\w./:-])")
_LONGEST_NAMESPACE = 256
_CROCKFORD = "0-9a-hjkmnp-tv-z"
_CODE = rf"(?:[0-9]{{4}}|[{_CROCKFORD}]{{5,9}})"
"""Code after the prefix: `7k3fq`, or a number that another tool gave (`L-0042`)."""
_NUMBERED = re.compile(r"(?P<word>[A-Za-z][A-Za-z0-9]{0,99})-(?P<digits>[0-9]{1,99})")
_SURE_CODE = re.compile(r"0[0-9]*\Z|(?=[a-z]*[0-9])(?=[0-9]*[a-z])")


class NumberedName(NamedTuple):
    """A name with a number, as ids and the names of other series have it: `SEP-0012`."""

    word: str
    digits: str

    @property
    def number(self) -> int:
        """The number, which is the same of any width: `ADR-7` is `ADR-0007`."""
        return int(self.digits)


def numbered_name(text: str) -> NumberedName | None:
    """Return the word and the number in a name; None for another form."""
    match = _NUMBERED.fullmatch(text)
    if match is not None:
        return NumberedName(match["word"], match["digits"])

    return None


@dataclass(frozen=True)
class IdForms:
    """Prefixes of ids that texts cite.

    Patterns begin with letters, so that most of a text is skipped quickly.
    """

    numbered: tuple[str, ...]
    coded: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Names before the ids of inherited records: `org` in `org:ADR-0007`."""

    @property
    def prefixes(self) -> tuple[str, ...]:
        """All prefixes; none begins another, because each ends in its only hyphen."""
        return (*self.numbered, *self.coded)

    @cached_property
    def first(self) -> re.Pattern[str]:
        """What every citation begins with."""
        return re.compile(_any((*self._words, *self.coded)) or r"(?!)")

    @cached_property
    def local(self) -> re.Pattern[str]:
        """Matches an id up to its end; the caller checks what precedes it."""
        numbered = (rf"{re.escape(prefix)}[0-9]{{1,9}}" for prefix in self.numbered)
        coded = (rf"{re.escape(prefix)}{_CODE}" for prefix in self.coded)
        return re.compile(rf"(?:{'|'.join((*numbered, *coded))})(?![\w/]|[.-]\w)")

    @property
    def _words(self) -> tuple[str, ...]:
        """Words before a bare number in prose: `ADR` in `ADR 12`."""
        return tuple(prefix[:-1] for prefix in self.numbered)

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """Matches a number in prose: `ADR 12`, `ADRs #12`."""
        words = "|".join(rf"{word}(?<![\w/.-]{word})" for word in map(re.escape, self._words))
        return re.compile(
            rf"(?P<word>{words})s?[ \t]{{1,2}}#?(?P<first>[0-9]{{1,6}})(?![\w/]|[.-]\w)"
        )

    @cached_property
    def next_mention(self) -> re.Pattern[str]:
        """Matches a further number: `, 13`, ` and ADR 14`."""
        return re.compile(
            r"(?:[ \t]{0,2},[ \t]{0,2}|[ \t]{1,2}(?:and|or|&)[ \t]{1,2})"
            rf"(?:(?:{_any(self._words)})[ \t])?#?(?P<next>[0-9]{{1,6}})(?![\w/%]|[.-]\w)"
        )


_Match = tuple[str, Span, Span, bool]  # of a citation: its id, span, number, and whether it is weak


def _any(texts: Sequence[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Citation:
    """A record cited in a text.

    `id` is normalised only in form (`ADR 12` is `ADR-12`, zeros stay). A `weak` citation may be
    something else (`ADR 12` in prose, `L-shaped`, `P-2048`), so it counts only if such a record
    exists. `number` spans the digits or code that a renumbering replaces.
    """

    id: str
    position: Position
    span: Span
    number: Span
    weak: bool


def find_citations(text: str, forms: IdForms, skip: Sequence[Span] = ()) -> tuple[Citation, ...]:
    """Return the citations in `text`, in order, outside the `skip` spans (sorted, disjoint)."""
    if forms.first.search(text) is None:
        return ()

    matches = sorted((*_strong(text, forms), *_weak(text, forms)), key=lambda entry: entry[1].start)
    if not matches:  # a prefix such as `R-` occurs in many words
        return ()

    lines = text_lines(text)
    citations = [
        Citation(cited, lines.position(span.start), span, number, weak)
        for cited, span, number, weak in matches
    ]
    return citations_outside(citations, skip)


def citations_outside(citations: Sequence[Citation], skip: Sequence[Span]) -> tuple[Citation, ...]:
    """Return the citations that begin in none of the `skip` spans (sorted, disjoint)."""

    def is_hidden(offset: int) -> bool:
        index = bisect_right(skip, offset, key=lambda span: span.start) - 1
        return index >= 0 and offset < skip[index].end

    return tuple(citation for citation in citations if not is_hidden(citation.span.start))


def _strong(text: str, forms: IdForms) -> Iterator[_Match]:
    """Yield ids in their own form: `ADR-0012`, `docs/ADR-0012`, `org:ADR-0012`, `L-7k3fq`."""
    for match in forms.local.finditer(text):
        start = _namespace_start(text, match.start(), forms.sources)
        if start is None:
            continue

        end = match.end()
        prefix, _, code = match.group().partition("-")
        weak = f"{prefix}-" in forms.coded and _SURE_CODE.match(code) is None
        yield text[start:end], Span(start, end), Span(end - len(code), end), weak


def _namespace_start(text: str, at: int, sources: Sequence[str]) -> int | None:
    """Return the start of the namespace before an id: `at` if it has none, None inside a word."""
    if at == 0:
        return at

    last = text[at - 1]
    if last == ":" and (match := _SOURCE_END.match(text[max(0, at - 33) : at - 1][::-1])):
        name = match[0][::-1]
        if name in sources:
            return at - 1 - len(name)

        return at

    if last.isalnum() or last in "_#-":
        return None
    if last not in "/.":
        return at

    # A pattern that ends at a place is matched backwards.
    before = text[max(0, at - _LONGEST_NAMESPACE) : at]
    backwards = _NAMESPACE_END.match(before[::-1])
    size = backwards.end() if backwards else 0
    if _NAMESPACE.fullmatch(before[len(before) - size :]) is None:
        return None

    return at - size


def _weak(text: str, forms: IdForms) -> Iterator[_Match]:
    """Yield ids as people write them: `ADR 12`, `ADRs 12, 13 and 14`."""
    if not forms.numbered:
        return

    for match in forms.mention.finditer(text):
        word = match["word"]
        number = Span(match.start("first"), match.end("first"))
        end = match.end()
        yield f"{word}-{match['first']}", Span(match.start(), end), number, True

        while following := forms.next_mention.match(text, end):
            number = Span(following.start("next"), following.end("next"))
            yield f"{word}-{following['next']}", number, number, True
            end = following.end()
