"""Citations in a text: ids with their positions, without examples, and links to files."""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from orbit_registry.formats.citations import Citation, IdForms, citations_outside, find_citations
from orbit_registry.formats.links import is_markdown, path_from_root, split_link
from orbit_registry.formats.markdown import Link, parse_markdown
from orbit_registry.formats.position import Span, TextLines
from orbit_registry.formats.sources import is_source, spoken_spans
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record import Record

MOST_REFERENCES = 200  # so many of one record are kept
_LINK = re.compile(r"\](?:\(|:[ \t]*)<?(?![A-Za-z][A-Za-z0-9+.-]*:|#|//)[^\s()<>]*\.[^\s()<>]*")
"""What a link to a file looks like; a text without one is not parsed."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)|^(?: {4}|\t)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CitedId:
    """One citation: the id as written, its location,
    and the record whose prose contains it, if any.
    """

    id: str
    location: Location
    record: Record | None = None


def cited_in(text: str | None, path: str, forms: IdForms) -> list[tuple[str, int, int]]:
    """Return the ids that the text of a file cites, each with line and column;
    none where it has no text.
    """
    if text is None:
        return []

    citations = in_text(text, path, forms)
    return [(each.id, each.position.line, each.position.column) for each in citations]


def cited_by(record: Record, forms: IdForms) -> list[Citation]:
    """Return what the text of a record's own file surely cites."""
    citations = find_citations(record.prose, forms) if record.kind.in_record else ()
    return [citation for citation in citations if not citation.weak]


def in_text(
    text: str,
    path: str,
    forms: IdForms,
    *,
    weak: bool = False,
    code: Sequence[Span] | None = None,
) -> Iterator[Citation]:
    """Yield the citations in a file that mean a record: of Markdown none in code blocks and
    examples, of code those in comments and docstrings.
    """
    markdown = is_markdown(path)
    citations = [each for each in find_citations(text, forms) if weak or not each.weak]
    if not citations:
        return  # before the text is parsed: a prefix such as `R-` occurs in many words

    if is_source(path):
        spoken = spoken_spans(path, text)
        for entry in citations:
            if _spoken_around(spoken, entry.span.start, len(text)) is not None:
                yield entry

        return

    if code is None:
        code = parse_markdown(text).code if markdown and _FENCE.search(text) else ()

    # How far the text was read, and the backticks of that line: a long line is read once.
    at, ticks = 0, 0
    for citation in citations_outside(citations, code):
        start = citation.span.start
        line = text.rfind("\n", at, start) + 1
        if line:
            at, ticks = line, 0

        ticks += text.count("`", at, start)
        at = start

        is_example = markdown and ticks % 2 and not _is_whole_code(text, citation.span)
        if not is_example:
            yield citation


_HISTORY = re.compile(
    r"\bsuperse(?:d|ssion)|\breplaced\b|\bformer(?:ly)?\b|\bno longer\b|\bobsolete\b|\bused to\b"
    r"|\brejected\b|\bwas (?:dropped|withdrawn|reverted)\b",
    re.IGNORECASE,
)
"""Words of a line that tells how things came about."""
_DENIAL = re.compile(
    r"\b(?:not|no|nor|none|never|cannot|without|instead|against|rather than|stop(?:ped)? using)\b"
    r"|n['’]t\b|\b(?:rul(?:e|es|ed|ing)|turn(?:s|ed)?|vot(?:e|es|ed))\b.{0,40}\b(?:out|down)\b"
    r"|\b(?:reject|refus|forb[ai]d|prohibit|avoid|declin|abandon|discard|disallow|exclud)\w*"
    r"|\b(?:den(?:y|ies|ied)|bans?|banned|drop(?:s|ped)?|dismiss(?:es|ed)?)\b",
    re.IGNORECASE,
)
"""Words of a comment that says what is not done: it follows a rejection."""


class SourceName(NamedTuple):
    """What a file of code cites at a place."""

    name: str
    line: int
    column: int
    is_sure: bool
    """Whether nothing but a record can be meant."""
    is_history: bool
    """Whether the line says that something was replaced or dropped."""
    is_denial: bool
    """Whether the comment says on that line that something is not done."""


def names_in_source(text: str, path: str, forms: IdForms) -> list[SourceName]:
    """Return what a file of code or configuration cites, by place: ids, documents by their file
    names, with or without `.md`.
    """
    names = [(each.span.start, each.id, _is_sure(each)) for each in find_citations(text, forms)]
    names += [(start, name, True) for start, name, _ in marked_numbers(text, forms)]
    names += [(start, name, True) for start, name in _document_names(text)]
    names += [(match.start(), match[0], False) for match in _SLUG.finditer(text)]
    if not names:
        return []

    spoken = spoken_spans(path, text)
    lines = TextLines(text)
    result: list[SourceName] = []
    for start, name, is_sure in sorted(names):
        comment = _spoken_around(spoken, start, len(text))
        if comment is None:
            continue

        position = lines.position(start)
        line = lines.index_of(start)
        begin, end = lines.starts[line], lines.ends[line]
        is_history = _HISTORY.search(text, begin, end) is not None

        # `if not x:  # ADR-0012` denies nothing: only the comment counts.
        begin, end = max(begin, comment.start), min(end, comment.end)
        is_denial = _DENIAL.search(text, begin, end) is not None
        result.append(
            SourceName(name, position.line, position.column, is_sure, is_history, is_denial)
        )

    return result


def _is_sure(citation: Citation) -> bool:
    """Say whether nothing but a record is meant: an id, or a number with zeros as in `ADR 0012`."""
    number = citation.id.rpartition("-")[2]
    return not citation.weak or (number.startswith("0") and number.isdigit() and len(number) > 2)


def _spoken_around(spoken: Sequence[Span] | None, offset: int, end: int) -> Span | None:
    """Return the comment or text that an offset is in; None where it is in code."""
    if spoken is None:
        return Span(0, end)

    index = bisect_right(spoken, offset, key=lambda span: span.start) - 1
    is_within = index >= 0 and offset < spoken[index].end
    if is_within:
        return spoken[index]

    return None


@lru_cache(maxsize=4)  # asked for each file
def _marker(forms: IdForms) -> re.Pattern[str]:
    words = "|".join(re.escape(prefix[:-1]) for prefix in forms.numbered) or "(?!)"
    return re.compile(
        rf"@(?<![\w@]@)(?P<word>(?i:{words}))(?:[ \t]{{0,2}}[:=(#]|[ \t])[ \t]{{0,2}}#?"
        r"(?P<number>[0-9]{1,9})(?![\w/]|[.-]\w)"
    )


def marked_numbers(text: str, forms: IdForms) -> Iterator[tuple[int, str, Span]]:
    """Yield start, id and digits of the numbers behind a marker: `@adr 0012` is ADR-0012."""
    for match in _marker(forms).finditer(text):
        name = f"{match['word'].upper()}-{match['number']}"
        yield match.start(), name, Span(*match.span("number"))


_DOCUMENT_END = re.compile(r"\.(?:md|markdown)(?![\w/-]|\.\w)(?P<anchor>#[\w-]{1,200})?")
_NAME_BEFORE = re.compile(r"[\w./%+@~:-]{1,300}")
_LONGEST_NAME = 300


def _document_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the file names of Markdown documents, with folders and anchors as written."""
    for end in _DOCUMENT_END.finditer(text) if "." in text else ():
        before = text[max(0, end.start() - _LONGEST_NAME) : end.start()]
        name = _NAME_BEFORE.match(before[::-1])
        if name is not None:
            start = end.start() - name.end()
            yield start, text[start : end.end()]


# The first digit comes first, so that the search can skip to it.
_SLUG = re.compile(
    r"[0-9](?<![\w./-][0-9])[0-9]{0,8}[-_][A-Za-z][A-Za-z0-9]{0,60}[-_][\w-]{1,200}(?!/|\.\w)"
)


def _is_whole_code(text: str, span: Span) -> bool:
    """Say whether the code span around a citation says the id alone, and is no example,
    command or path.
    """
    return text[span.start - 1 : span.start] == "`" and text[span.end : span.end + 1] == "`"


def references_of(record: Record, forms: IdForms, home: str | None = None) -> tuple[str, ...]:
    """Return what a record's texts refer to, in their order: ids as written, and files, from the
    root, with anchors.

    A link in a document, or in a text that was taken over, counts from the folder of that text in
    the project; one that begins with a dot in another record from its folder, any other from the
    root. `home` is the document that holds the prose, and may say below it where a link leads.
    """
    above = "".join(f"{part}\n" for part in (record.title, record.text("summary")) if part)
    text = f"{above}{record.prose}"
    citations = in_text(text, "record.md", forms)
    references = dict.fromkeys(citation.id for citation in citations)

    links = [*_links(above), *_links(record.prose, home or "")]
    targets = (_file_of(record, link.target) for link in links if link.kind != "image")
    references |= dict.fromkeys(filter(None, targets))
    references.pop(record.id, None)
    return tuple(references)[:MOST_REFERENCES]


def _links(text: str, home: str = "") -> Sequence[Link]:
    """Return the links in a text, which may be a part of its home."""
    if not _LINK.search(text):
        return ()

    start = home.find(text)
    if start < 0:
        return parse_markdown(text).links

    inside = range(start, start + len(text))
    return [link for link in parse_markdown(home).links if link.span.start in inside]


def _file_of(record: Record, target: str) -> str | None:
    file, anchor = split_link(target)
    if (
        not file
        or _SCHEME.match(file)
        or "." not in posixpath.basename(file)
        or any(map(str.isspace, file))
    ):
        return None

    if record.kind.in_document:
        folder = posixpath.dirname(record.source.path) if record.source else record.folder
    elif record.kind.in_file:
        folder = posixpath.dirname(record.text("path") or "")
    else:
        folder = record.folder if file.startswith(".") else ""

    path = path_from_root(file, folder)
    if path.startswith(".."):
        return None

    if anchor:
        return f"{path}#{anchor}"

    return path
