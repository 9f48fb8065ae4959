"""Pages that list records: those that the navigation names, and the further ones; and the parts
that the repository's own pages can show.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import NamedTuple

from orbit_registry.formats.markdown import slug
from orbit_registry.model.kind import Kind
from orbit_registry.seams import load
from orbit_registry.site import console, explorer, health, home, list_markdown, lists, timeline
from orbit_registry.site import map as record_map
from orbit_registry.site.curated import EmptyPage, extra_pages, pages_besides
from orbit_registry.site.edits import built_from
from orbit_registry.site.filling import macros
from orbit_registry.site.language import labels_of, word
from orbit_registry.site.list_markdown import items
from orbit_registry.site.lists import Index
from orbit_registry.site.markdown_words import escaped
from orbit_registry.site.mentions import tasks_html
from orbit_registry.site.page import SitePage
from orbit_registry.site.published import Published
from orbit_registry.site.record_drafts import lists_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import SEARCH, relative

MOST_ON_A_LANDING = 8
Html = Callable[[Published, str], str]
Words = Callable[[Published, TwinLinks], str]


class Part(NamedTuple):
    """What a page can show by a name: as HTML, for the page at a URL, and as Markdown."""

    html: Html
    markdown: Words


NOTHING = Part(lambda *_: "", lambda *_: "")


def list_pages(data: Published) -> Iterator[SitePage]:
    """Yield every page that lists records, where the repository itself has none at its
    address.
    """
    kinds = data.context.sources.kinds
    for empty in data.context.sources.empty.values():
        yield _in_nav(data, empty)

    for index in data.indexes.values():
        yield from _pages_of(data, index)

    if SEARCH not in data.site.curated.values():
        title = word("search.title")
        yield _page(data, SEARCH, title, f"<h1>{title}</h1>{_search_html(kinds)}", lambda _: "")

    for group in data.groups.pages(kinds):
        listed = lists_of(data, group.kind.name) if group.kind else ()
        words = partial(items, data, group.records)
        if not group.records:
            words = partial(list_markdown.tags_markdown, data.groups.tags)

        yield _page(data, group.url, group.title, group.html, words, listed)


def part_html(data: Published, name: str, url: str) -> str:
    """Return the part with a name on the page at `url`; empty for a name that means none."""
    return _part(data, name).html(data, url)


def part_markdown(data: Published, name: str, links: TwinLinks) -> str:
    """Return the part with a name as Markdown; empty for a name that means none."""
    return _part(data, name).markdown(data, links)


def _part(data: Published, name: str) -> Part:
    index = data.indexes.get(name.removeprefix("index-"))
    if index:
        return _index_part(index)

    page = extra_pages().get(name)
    if page:
        return Part(load(page.html), load(page.markdown))

    return PARTS.get(name, NOTHING)


def _page(
    data: Published,
    url: str,
    title: str,
    html: str,
    words: Callable[[TwinLinks], str],
    listed: Sequence[str] = (),
    description: str = "",
) -> SitePage:
    links = TwinLinks(url, data.context.base_url)
    markdown = links.page(f"# {escaped(title)}", words(links))
    return SitePage(url, title, html, description, listed=tuple(listed), markdown=markdown)


def _in_nav(data: Published, empty: EmptyPage) -> SitePage:
    url, title = empty.url, empty.title
    indexes = {f"{index.kind.plural}/": index for index in data.indexes.values()}
    heading = title or data.context.sources.title
    if url in indexes:
        part = _index_part(indexes[url])
        heading = labels_of(indexes[url].kind)
    elif url:
        part = _part(data, pages_besides()[url.rstrip("/")].part)
    else:
        part = Part(partial(_home, empty.lead), partial(_home_markdown, empty.lead))

    # A folder's name, as in `my_project`, may be broken between its words on a small screen.
    name = escape(heading).replace("_", "_<wbr>")
    html = f'<h1 id="{slug(heading)}">{name}</h1>\n{part.html(data, url)}'
    page = _page(data, url, heading, html, partial(part.markdown, data), (), empty.description)
    return replace(page, title=title or data.context.sources.title)


def _pages_of(data: Published, index: Index) -> Iterator[SitePage]:
    """Yield the further pages of an index, and its timeline."""
    labels = labels_of(index.kind)
    listed = lists_of(data, index.kind.name)
    part = _index_part(index)
    for number, url in enumerate(list(index.pages)[1:], start=2):
        title = word("list.page", labels=labels, n=number)
        html = f"<h1>{escape(title)}</h1>{index.html(url, data.relations)}"
        yield _page(data, url, title, html, partial(part.markdown, data), listed)

    if index.timed:
        url, title = timeline.url(index.kind), word("list.timeline.of", labels=labels)
        html = timeline.timeline_html(index.kind, index.records)
        html = f"<h1>{escape(title)}</h1>{index.switch(url)}{html}"
        yield _page(data, url, title, html, partial(items, data, index.records[::-1]), listed)


def _index_part(index: Index) -> Part:
    def html(data: Published, url: str) -> str:
        page = url if url in index.pages else f"{index.kind.plural}/"
        return index.html(page, data.relations)

    def markdown(data: Published, links: TwinLinks) -> str:
        return list_markdown.index_markdown(data, index, links)

    return Part(html, markdown)


def _search_html(kinds: Sequence[Kind]) -> str:
    """Return what is on the page of a search's results before its script runs, and all there is
    without one.
    """
    links = [(relative(SEARCH, f"{kind.plural}/"), labels_of(kind)) for kind in kinds]
    return str(macros("lists.html").search(links))


def _home(lead: str, data: Published, url: str) -> str:
    parts = (_paths(data, url), _counts(data, url), _home_events(data, url))
    about = [f'<p class="orbit-about">{escape(lead)}</p>'] if lead else []
    return "\n".join([*about, *parts])


def _home_markdown(lead: str, data: Published, links: TwinLinks) -> str:
    about = [escaped(lead)] if lead else []
    return "\n\n".join([*about, list_markdown.home(data, links)])


def _paths(data: Published, url: str) -> str:
    return explorer.box(url, data.records, data.overlooked, MOST_ON_A_LANDING, data.listed)


def _explorer(data: Published, _: str) -> str:
    return explorer.page_html(data.records, data.overlooked, data.listed)


def _console(data: Published, _: str) -> str:
    return console.page_html(data.records, works=data.has_console, database=data.has_database)


def _map(data: Published, _: str) -> str:
    return record_map.map_html(data.records, data.relations)


def _counts(data: Published, url: str) -> str:
    return lists.counts_html(data.indexes.values(), data.context.freshness, url)


def _home_events(data: Published, url: str) -> str:
    decided = home.decided_html(data.home.decided, data.records, data.relations, url)
    lately = home.lately_html(data.home.first, data.home.others, url)

    commit, day = built_from(data.context.sources.publication)
    built = home.built_html(commit, day, data.site.forge.change(commit))
    return f'<div class="orbit-home">{decided}{lately}</div>{built}'


def _tasks(data: Published, _: str) -> str:
    return tasks_html(data.context.sources.tasks, data.site)


def _documents(data: Published, url: str) -> str:
    return lists.documents_html(data.context.sources.documents, data.context.staged.titles, url)


def _health(data: Published, _: str) -> str:
    # A file that can't be read may be one whose name is withheld.
    publication = data.context.sources.publication
    problems = () if publication.is_active else data.context.problems
    return health.health_html(
        data.records,
        problems,
        data.context.freshness,
        data.relations.today,
        health.coverage_of(publication, data.records, data.routes),
        data.visibility,
    )


OVERVIEWS: Mapping[str, Part] = {
    "home": Part(_home_events, list_markdown.home),
    "counts": Part(_counts, list_markdown.counts),
    "map": Part(_map, list_markdown.relations),
    "health": Part(_health, list_markdown.needs),
    "console": Part(_console, list_markdown.queries),
}
PARTS: Mapping[str, Part] = {
    **OVERVIEWS,
    "paths": Part(_paths, list_markdown.paths),
    "explorer": Part(_explorer, list_markdown.paths),
    "tasks": Part(_tasks, list_markdown.tasks),
    "documents": Part(_documents, list_markdown.documents),
}
"""What a page can show by its name; see `docs/reference/site.md`."""
