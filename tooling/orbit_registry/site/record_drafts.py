"""Drafts of the pages of records: a page is made only where its record, or a relation, changed."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from orbit_registry.model.record import Record
from orbit_registry.site.page import Draft, SitePage
from orbit_registry.site.prose import TextOrigin, render
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.published import Published, cards_html
from orbit_registry.site.record_markdown import record_markdown
from orbit_registry.site.record_page import article, article_data, log_html, record_data
from orbit_registry.site.sanitize import unmarked
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.stage import BuildContext
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import linked
from orbit_registry.site.views import record_view
from orbit_registry.site.words import title_of


def record_drafts(data: Published) -> Iterator[Draft]:
    """Yield the page of each record that no page of the repository itself shows."""
    for record in data.records:
        if record.page is None:
            url = url_of(record)
            view = record_view(record, url, data.relations, data.site, data.groups)
            text = data.written[record.path]
            inputs = [text.digest, view, data.context.sources.title]
            make = partial(_record_page, data, record, view)
            yield Draft(url, inputs, make, text.above)


def _record_page(data: Published, record: Record, view: Mapping[str, Any]) -> SitePage:
    url = url_of(record)
    text = data.loader.text(record)
    origin = TextOrigin(text.path, 1, url, record.id)  # the draft has the lines above
    part = text.part
    prose = render(part, origin, data.site, top=2)
    links = TwinLinks(url, data.context.base_url)
    own_words = markdown_of(part, prose, links.address)

    html = article(record.kind, view, prose.html)
    html += cards_html(data.site, html, url)
    summary = unmarked(record.text("summary") or "")
    sentence = data.relations.sentences.get(record.path, "")
    description = summary or sentence or title_of(record)
    title = title_of(record)
    structured = page_data(data.context, url, title, description, record)
    markdown = record_markdown(record.kind, view, own_words, links.address)
    return SitePage(
        url,
        f"{record.id} {title}",
        html,
        description,
        contents=tuple(prose.headings),
        rail=log_html(record.kind, view),
        data=structured,
        markdown=links.page(markdown),
        listed=lists_of(data, record.kind.name),
        diagnostics=data.loader.findings(record, prose.diagnostics),
    )


def lists_of(data: Published, kind_name: str) -> tuple[str, ...]:
    """Return the URLs of the index of a kind, and of the first of its group in the navigation,
    which has the place of both where the navigation is folded.
    """
    kinds = {kind.name: kind for kind in data.context.sources.kinds}
    kind = kinds[kind_name]
    group = [other for other in kinds.values() if other.in_document == kind.in_document]
    urls = [f"{other.plural}/" for other in (kind, *group[:1])]
    return tuple(dict.fromkeys(urls))


def page_data(
    context: BuildContext, url: str, title: str, description: str, record: Record | None
) -> str:
    """Return the JSON-LD of a page: that of its record, if it shows one."""
    base_url = context.base_url
    site = {"name": context.sources.title}
    if base_url:
        site["url"] = base_url

    address = linked(base_url, url, url) if base_url else None
    more = record_data(record) if record else {}
    return article_data(title, description, site, address, **more)
