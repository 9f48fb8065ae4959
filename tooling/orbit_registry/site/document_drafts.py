"""Drafts of the pages of mirrored documents."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.site.documents import (
    MirroredDocument,
    document_html,
    document_markdown,
    document_prose,
)
from orbit_registry.site.page import Draft, SitePage
from orbit_registry.site.prose import part_of
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.published import Published, cards_html
from orbit_registry.site.record_drafts import page_data
from orbit_registry.site.record_markdown import about_markdown
from orbit_registry.site.record_page import about
from orbit_registry.site.search_data import sections_in
from orbit_registry.site.stage import published_text
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.views import document_view


def document_drafts(data: Published) -> Iterator[Draft]:
    """Yield the page of each document that can be read."""
    titles = data.context.staged.titles
    edit = data.site.forge.edit
    for document in data.context.sources.documents:
        if document.path in titles:
            view = document_view(
                document.path,
                document.url,
                data.adjacent[document.url],
                data.relations,
                data.site,
            )
            inputs = [document.stamp, edit(document.path), view, data.context.sources.title]
            yield Draft(document.url, inputs, partial(_document_page, data, document, view))


def _document_page(data: Published, document: MirroredDocument, view: tuple[Any, ...]) -> SitePage:
    sources, staged = data.context.sources, data.context.staged
    url, title = document.url, staged.titles[document.path]
    problems: list[Diagnostic] = []
    text = published_text(sources.loader, document.path, problems) or ""
    part = part_of(text)
    prose = document_prose(document, part, data.site)
    html = document_html(document, prose, title, data.site)
    html += about(*view) + cards_html(data.site, html, url)

    links = TwinLinks(url, data.context.base_url)
    words = markdown_of(part, prose, links.address)
    words = document_markdown(document, prose, words, title, data.site)
    markdown = links.page(words, about_markdown(view, links.address))
    description = staged.descriptions[document.path]
    return SitePage(
        url,
        title,
        html,
        description,
        contents=prose.headings,
        data=page_data(data.context, url, title, description, None),
        markdown=markdown,
        listed=("documents/",),
        sections=tuple(sections_in(prose.html, prose.headings, url, title)),
        diagnostics=(*problems, *prose.diagnostics),
    )
