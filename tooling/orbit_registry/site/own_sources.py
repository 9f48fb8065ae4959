"""Links in the sources of the repository's own pages: to records, documents and files, and ids in
sentences that become links.
"""

import posixpath
import re
from collections.abc import Iterator

from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import Document, parse_markdown
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.operations.citations import in_text
from orbit_registry.site.documents import slot
from orbit_registry.site.prose import DEAD_LINK, NO_PAGE, Prose, citation
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.urls import document_url

_ELSEWHERE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|//|#|/)")
_NO_PROSE = re.compile(
    r"<[A-Za-z/!][^<>]*>|\{[^{}\n]*\}"  # tags and comments; attributes, macros
    # definitions, footnotes, files included
    r"|^[ ]{0,3}\*?\[[^\]\n]*\]:.*$|\[\^[^\]\n]*\]|^.*--8<--.*$",
    re.MULTILINE,
)
_MARKED = re.compile(r"[^\w\s.,:;()/#=\"<>&-]")
"""Characters in a tag that a Markdown extension may interpret."""


def rewritten(
    text: str, path: str, docs: str, site: SiteMap, *, generates_pages: bool = False
) -> Prose:
    """Return a page's Markdown with links to records, mirrored documents and files of the
    repository resolved.

    `path` is from the repository's root. A link to another page of the folder is left to the
    generator, and one to a page that a plugin may add. Ids in its sentences become links to their
    records.
    """
    page = site.curated.get(path) or document_url(path, docs)
    document = parse_markdown(text)
    changes = list(_cited(document, path, page, site))
    slots = f"\n\n{slot('cards')}\n" if changes else ""
    diagnostics: list[Diagnostic] = []

    for link in document.links:
        href = link.target
        if _ELSEWHERE.match(href) or link.target_span is None or not href:
            continue

        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), href.partition("#")[0]))
        if target in site.generated or target in site.curated:
            continue

        is_page = target.startswith(f"{docs}/") and target not in site.mirrored
        if is_page and any(
            f"{target}/{name}" in site.curated for name in ("index.md", "README.md")
        ):
            continue

        is_file = is_page and (site.root / target).is_file()
        if is_file and not is_markdown(target):
            continue
        if is_page and generates_pages and not (site.root / target).exists():
            continue

        destination = site.image(path, href) if link.kind == "image" else site.target(path, href)
        if is_file and (destination.url is None or destination.outside):
            continue  # a page that is left out of the site, and no record's

        if destination.problem:
            code, severity = (
                (DEAD_LINK, Severity.WARNING) if destination.broken else (NO_PAGE, Severity.NOTE)
            )
            diagnostics.append(
                Diagnostic(code, severity, destination.problem, Location(path, link.position))
            )

        if destination.url is not None:
            address = destination.address(page) or ""
            changes.append((link.target_span.start, link.target_span.end, address))
        else:
            changes.append((link.span.start, link.span.end, link.text))

    for start, end, new in sorted(set(changes), reverse=True):
        text = text[:start] + new + text[end:]

    return Prose(text + slots, (), tuple(diagnostics))


def _cited(
    document: Document, path: str, page: str, site: SiteMap
) -> Iterator[tuple[int, int, str]]:
    """Yield where ids in sentences become links: the place, and the tag before or after it.

    The tags are HTML, which the generator leaves alone, because a link in Markdown can't say what
    describes it.
    """
    text = document.text
    spans = [(link.span.start, link.span.end) for link in document.links]
    spans += [(span.start, span.end) for span in document.hidden]
    spans += [(heading.title.start, heading.title.end) for heading in document.headings]
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

        opening = _MARKED.sub(lambda match: f"&#{ord(match[0])};", citation(site, page, url))
        yield start, end, f"{opening}{text[start:end]}</a>"
