"""Rewrites the links of a page that the generator renders itself, where they leave the pages' folder."""

from __future__ import annotations

import posixpath
import re

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.prose import DEAD_LINK, NO_PAGE, Prose
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.urls import document_url, relative
from orbit_registry.text.markdown import parse_markdown

_ELSEWHERE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|//|#|/)")


def rewritten(text: str, path: str, docs: str, site: SiteMap) -> Prose:
    """Return a page's Markdown with links to records, mirrored documents and files of the repository resolved.

    `path` is from the repository's root. A link to another page of the folder stays as it is: the generator knows it.
    """
    page = site.curated.get(path) or document_url(path, docs)
    changes: list[tuple[int, int, str]] = []
    lookups: dict[tuple[str, str], str] = {}
    found: list[Diagnostic] = []
    for link in parse_markdown(text).links:
        written = link.target
        if _ELSEWHERE.match(written) or link.target_span is None or not written:
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), written.partition("#")[0]))
        if target in site.generated or target in site.curated:
            continue
        beside = target.startswith(f"{docs}/") and target not in site.mirrored
        if beside and (site.root / target).is_file():
            continue
        meaning = site.image(path, written) if link.kind == "image" else site.target(path, written)
        lookups[("image" if link.kind == "image" else "link", written)] = meaning.token
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
    return Prose(text, (), tuple((kind, name, token) for (kind, name), token in lookups.items()), tuple(found))
