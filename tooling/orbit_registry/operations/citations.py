"""Citations in a text: ids with their positions, without examples, and links to files."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.formats.citations import Citation, IdForms, citations_outside, find_citations
from orbit_registry.formats.markdown import is_markdown, parse_markdown, path_from_root, split_link
from orbit_registry.formats.position import Span
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record import Record

MOST_REFERENCES = 200  # so many of one record are kept
_LINK = re.compile(r"\](?:\(|:[ \t]*)<?(?![A-Za-z][A-Za-z0-9+.-]*:|#|//)[^\s()<>]*\.[^\s()<>]*")
"""What a link to a file looks like; a text without one is not parsed."""
_INLINE = re.compile(r"""(?P<image>!?)\[[^][]*\]\((?P<target>[^\s()]+)(?:[ ]+"[^"\n]*")?\)""")
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
    citations = ((each.id, each.position) for each in in_text(text, path, forms))
    return [(cited, position.line, position.column) for cited, position in citations]


def cited_by(record: Record, forms: IdForms) -> list[Citation]:
    """Return what the text of a record's own file surely cites."""
    citations = find_citations(record.prose, forms) if record.kind.in_record else ()
    return [citation for citation in citations if not citation.weak]


def in_text(
    text: str, path: str, forms: IdForms, *, weak: bool = False, code: Sequence[Span] | None = None
) -> Iterator[Citation]:
    """Yield the citations in a file that mean a record,
    those in code blocks and examples left out.
    """
    markdown = is_markdown(path)
    citations = [
        candidate for candidate in find_citations(text, forms) if weak or not candidate.weak
    ]
    if not citations:
        return  # before the text is parsed: a prefix such as `R-` occurs in many words
    if code is None:
        code = parse_markdown(text).code if markdown and _FENCE.search(text) else ()

    at, ticks = (
        0,
        0,
    )  # how far the text was looked at, and the backticks of that line: a long line is read once
    for citation in citations_outside(citations, code):
        start = citation.span.start
        line = text.rfind("\n", at, start) + 1
        if line:
            at, ticks = line, 0
        ticks, at = ticks + text.count("`", at, start), start
        if not (markdown and ticks % 2 and not _is_whole_code(text, citation.span)):
            yield citation


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
    root. `home` is the document that holds the prose: it was parsed to find that, so the prose is
    not again.
    """
    above = "".join(f"{part}\n" for part in (record.title, record.text("summary")) if part)
    text, code, links = f"{above}{record.prose}", None, None
    at = home.find(record.prose) if home and record.prose else -1
    if home and at >= 0 and (_FENCE.search(record.prose) or _LINK.search(record.prose)):
        parsed, end, by = parse_markdown(home), at + len(record.prose), len(above) - at
        code = [
            Span(span.start + by, span.end + by) for span in parsed.code if at <= span.start < end
        ]
        inside = (
            link.target
            for link in parsed.links
            if link.kind != "image" and at <= link.span.start < end
        )
        links = [*_links(above), *inside]

    references = dict.fromkeys(
        citation.id for citation in in_text(text, "record.md", forms, code=code)
    )
    for link in (_links(text) if links is None else links) if _LINK.search(text) else ():
        target = _file_of(record, link)
        if target is not None:
            references[target] = None

    return tuple(reference for reference in references if reference != record.id)[:MOST_REFERENCES]


def _links(text: str) -> Iterator[str]:
    """Most texts are plain enough to be read without a parser, which takes 20 times as long."""
    if any(mark in text for mark in ("`", "~~~", "<", "\\", "]:", "&", "\n    ", "\t")):
        yield from (link.target for link in parse_markdown(text).links if link.kind != "image")
    else:
        yield from (match["target"] for match in _INLINE.finditer(text) if not match["image"])


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
    return None if path.startswith("..") else f"{path}#{anchor}" if anchor else path
