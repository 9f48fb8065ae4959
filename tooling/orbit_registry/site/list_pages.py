"""Pages that list records: the further pages of indexes, timelines, tags, words of columns, and
what a search finds."""

from collections.abc import Iterator
from html import escape

from orbit_registry.site import search_page, timeline
from orbit_registry.site.language import labels_of, word
from orbit_registry.site.list_markdown import (
    group_markdown,
    index_markdown,
    tags_markdown,
    timeline_markdown,
)
from orbit_registry.site.lists import Index
from orbit_registry.site.markdown_words import escaped
from orbit_registry.site.page import SitePage
from orbit_registry.site.published import Published
from orbit_registry.site.record_drafts import lists_of
from orbit_registry.site.twins import TwinLinks


def list_pages(data: Published) -> Iterator[SitePage]:
    """Yield every list that the navigation does not name."""
    for index in data.indexes.values():
        yield from _pages_of(data, index)

    if search_page.URL not in data.site.curated.values():
        html = f"<h1>{word('search.title')}</h1>{search_page.page_html(data.context.sources.kinds)}"
        title = word("search.title")
        links = TwinLinks(search_page.URL, data.context.base_url)
        yield SitePage(search_page.URL, title, html, markdown=links.page(f"# {title}", ""))

    for group in data.groups.pages(data.context.sources.kinds):
        listed = lists_of(data, group.kind.name) if group.kind else ()
        links = TwinLinks(group.url, data.context.base_url)
        words = (
            group_markdown(group.records, links)
            if group.records
            else tags_markdown(data.groups.tags, links)
        )
        markdown = links.page(f"# {escaped(group.title)}", words)
        yield SitePage(group.url, group.title, group.html, listed=listed, markdown=markdown)


def _pages_of(data: Published, index: Index) -> Iterator[SitePage]:
    kind = index.kind
    listed = lists_of(data, kind.name)
    urls = list(index.pages)
    for number, url in enumerate(urls[1:], start=2):
        title = f"{labels_of(kind)}, page {number}"
        html = index.html(url, data.relations, data.site)
        links = TwinLinks(url, data.context.base_url)
        words = index_markdown(index, data.relations, data.site, links)
        yield SitePage(
            url,
            title,
            f"<h1>{escape(title)}</h1>{html}",
            listed=listed,
            markdown=links.page(f"# {escaped(title)}", words),
        )

    if index.timed:
        url, title = timeline.url(kind), f"{labels_of(kind)}: timeline"
        html = timeline.timeline_html(kind, index.records)
        html = f"<h1>{escape(title)}</h1>{index.switch(url)}{html}"
        links = TwinLinks(url, data.context.base_url)
        words = timeline_markdown(index.records, links)
        markdown = links.page(f"# {escaped(title)}", words)
        yield SitePage(url, title, html, listed=listed, markdown=markdown)
