"""Rewrites a page that the generator renders itself: links that leave the pages' folder, and ids of records."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from orbit_registry.formats.markdown import Document, is_markdown, parse_markdown
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.operations.citations import in_text
from orbit_registry.site.documents import slot
from orbit_registry.site.prose import DEAD_LINK, NO_PAGE, Prose, citation
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.urls import document_url, relative

_ELSEWHERE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|//|#|/)")
_NO_PROSE = re.compile(
    r"<[A-Za-z/!][^<>]*>|\{[^{}\n]*\}"  # tags and comments; attributes, macros
    r"|^[ ]{0,3}\*?\[[^\]\n]*\]:.*$|\[\^[^\]\n]*\]|^.*--8<--.*$",  # definitions, footnotes, files included
    re.MULTILINE,
)
_MARKED = re.compile(r"[^\w\s.,:;()/#=\"<>&-]")
"""Characters that a Markdown extension may take for its own where they stand in a tag."""


def rewritten(text: str, path: str, docs: str, site: SiteMap) -> Prose:
    """Return a page's Markdown with links to records, mirrored documents and files of the repository resolved.

    `path` is from the repository's root. A link to another page of the folder stays as it is: the generator knows it.
    Ids in its sentences become links to their records.
    """
    page = site.curated.get(path) or document_url(path, docs)
    document = parse_markdown(text)
    changes = list(_cited(document, path, page, site))
    slots = f"\n\n{slot('cards')}\n" if changes else ""
    found: list[Diagnostic] = []
    for link in document.links:
        written = link.target
        if _ELSEWHERE.match(written) or link.target_span is None or not written:
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), written.partition("#")[0]))
        if target in site.generated or target in site.curated:
            continue
        beside = target.startswith(f"{docs}/") and target not in site.mirrored
        if beside and any(f"{target}/{name}" in site.curated for name in ("index.md", "README.md")):
            continue
        is_file = beside and (site.root / target).is_file()
        if is_file and not is_markdown(target):
            continue
        meaning = site.image(path, written) if link.kind == "image" else site.target(path, written)
        if is_file and (meaning.url is None or meaning.outside):
            continue  # a page that is left out of the site, and no record's
        if meaning.problem:
            code, severity = (DEAD_LINK, Severity.WARNING) if meaning.broken else (NO_PAGE, Severity.NOTE)
            found.append(Diagnostic(code, severity, meaning.problem, Location(path, link.position)))
        if meaning.url is not None:
            address = meaning.url if meaning.outside else relative(page, meaning.url)
            changes.append((link.target_span.start, link.target_span.end, address))
        else:
            changes.append((link.span.start, link.span.end, link.text))
    for start, end, new in sorted(set(changes), reverse=True):
        text = text[:start] + new + text[end:]
    return Prose(text + slots, (), tuple(found))


def _cited(document: Document, path: str, page: str, site: SiteMap) -> Iterator[tuple[int, int, str]]:
    """Yield where ids in sentences become links: the place, and the tag before or after it.

    The tags are HTML, which the generator leaves alone, because a link in Markdown can't say what describes it.
    """
    text = document.text
    spans = [(link.span.start, link.span.end) for link in document.links]
    spans += [(one.start, one.end) for one in (*document.hidden, *(heading.title for heading in document.headings))]
    spans += [match.span() for match in _NO_PROSE.finditer(text)]
    if document.front_matter is not None:
        spans.append((0, document.content_start))
    for cited in in_text(text, path, site.forms, weak=True):
        start, end = cited.span.start, cited.span.end
        if any(first <= start < last for first, last in spans):
            continue
        url = site.cited(cited.id, path)
        if url is None or url == page:
            continue
        if text[start - 1 : start] == "`" == text[end : end + 1]:
            start, end = start - 1, end + 1
        opening = _MARKED.sub(lambda found: f"&#{ord(found[0])};", citation(site, page, url))
        yield start, end, f"{opening}{text[start:end]}</a>"
