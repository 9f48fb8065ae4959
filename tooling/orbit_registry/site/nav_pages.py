"""The pages that the navigation names, and the parts that the repository's own pages can show."""

from collections.abc import Callable, Iterator, Mapping
from html import escape

from orbit_registry.formats.markdown import slug
from orbit_registry.seams import load
from orbit_registry.site import console, explorer, health, home, lists
from orbit_registry.site import map as record_map
from orbit_registry.site.curated import EmptyPage, extra_pages, pages_besides
from orbit_registry.site.edits import built_from, edits_of
from orbit_registry.site.language import labels_of
from orbit_registry.site.markdown_words import escaped
from orbit_registry.site.mentions import tasks_html
from orbit_registry.site.overview_markdown import part_markdown
from orbit_registry.site.page import SitePage
from orbit_registry.site.published import Published
from orbit_registry.site.twins import TwinLinks

RECORDS, SNAPSHOT = "records.json", "snapshot.duckdb"
MOST_ON_A_LANDING = 8


def nav_pages(data: Published) -> Iterator[SitePage]:
    """Yield the start page, the indexes, and the pages besides, where the repository has none of
    its own at their address.
    """
    sources = data.context.sources
    for empty in sources.empty.values():
        title = empty.title or sources.title
        links = TwinLinks(empty.url, data.context.base_url)
        markdown = links.page(*_markdown(data, empty, links))
        html = _content(data, empty)
        yield SitePage(empty.url, title, html, empty.description, markdown=markdown)


def _markdown(data: Published, empty: EmptyPage, links: TwinLinks) -> list[str]:
    for index in data.indexes.values():
        if empty.url == f"{index.kind.plural}/":
            part = part_markdown(data, f"index-{index.kind.name}", links)
            return [f"# {escaped(index.kind.labels)}", part]

    if not empty.url:
        title = f"# {escaped(data.context.sources.title)}"
        return [title, escaped(empty.lead), part_markdown(data, "home", links)]

    part = part_markdown(data, pages_besides()[empty.url.rstrip("/")].part, links)
    return [f"# {escaped(empty.title)}", part]


def _content(data: Published, empty: EmptyPage) -> str:
    for index in data.indexes.values():
        if empty.url == f"{index.kind.plural}/":
            return _titled(labels_of(index.kind), index.html(empty.url, data.relations, data.site))

    if not empty.url:
        return _home(data, empty)

    part = pages_besides()[empty.url.rstrip("/")].part
    return _titled(empty.title, part_html(data, part, empty.url))


def _titled(title: str, html: str) -> str:
    return f'<h1 id="{slug(title)}">{escape(title)}</h1>\n{html}'


def _home(data: Published, empty: EmptyPage) -> str:
    parts = [_paths(data, ""), _counts(data, ""), _home_events(data, "")]
    lead = f'<p class="orbit-about">{escape(empty.lead)}</p>'
    title = data.context.sources.title
    return _titled(title, "\n".join([lead, *parts]))


def _paths(data: Published, url: str) -> str:
    return explorer.box(url, data.records, data.overlooked, MOST_ON_A_LANDING)


def _explorer(data: Published, _: str) -> str:
    return explorer.page_html(data.records, data.overlooked)


def _console(data: Published, _: str) -> str:
    return console.page_html(data.records, works=data.has_console, database=data.has_database)


def _map(data: Published, _: str) -> str:
    return record_map.map_html(data.records, data.relations)


def _counts(data: Published, url: str) -> str:
    return lists.counts_html(data.indexes.values(), data.context.freshness, url)


def _home_events(data: Published, url: str) -> str:
    publication = data.context.sources.publication
    files = [RECORDS, SNAPSHOT] if data.has_database else [RECORDS]
    edits = edits_of(publication, data.records)
    decided = home.decided_html(data.records, data.relations, url)
    lately = home.lately_html(data.records, data.relations, url, files, edits)

    commit, day = built_from(publication)
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
        health.coverage_of(publication, data.records),
        data.visibility,
    )


def _index(kind_name: str, data: Published, url: str) -> str:
    index = data.indexes[kind_name]
    return index.html(f"{index.kind.plural}/", data.relations, data.site)


PARTS: Mapping[str, Callable[[Published, str], str]] = {
    "paths": _paths,
    "explorer": _explorer,
    "console": _console,
    "map": _map,
    "counts": _counts,
    "home": _home_events,
    "tasks": _tasks,
    "documents": _documents,
    "health": _health,
}
"""What a page can show by its name; see `docs/reference/site.md`."""


def part_html(data: Published, name: str, url: str) -> str:
    """Return the part with a name on the page at `url`; empty for a name that means none."""
    part = PARTS.get(name)
    if part is not None:
        return part(data, url)

    page = extra_pages().get(name)
    if page is not None:
        return str(load(page.html)(data, url))

    index = name.removeprefix("index-")
    return _index(index, data, url) if index in data.indexes else ""
