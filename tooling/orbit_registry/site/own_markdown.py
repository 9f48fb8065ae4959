"""Markdown of the repository's own pages, which the generator renders: their sources, with links
that lead to the site.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from orbit_registry.formats.links import is_markdown
from orbit_registry.site.destinations import ASSETS
from orbit_registry.site.documents import title_of
from orbit_registry.site.list_pages import part_markdown
from orbit_registry.site.markdown_words import escaped
from orbit_registry.site.memo import Content
from orbit_registry.site.prose import TextOrigin, part_of, render
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.published import Published
from orbit_registry.site.record_markdown import record_markdown
from orbit_registry.site.search_data import Section, lead, sections_of
from orbit_registry.site.stage import published_text
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import document_url
from orbit_registry.site.views import record_view

_SLOT = re.compile(r'<div data-orbit-slot="([a-z0-9_-]+)"></div>')
Sections = Callable[[], Mapping[str, Sequence[Section]]]
"""Gives what the generator's search reads of its pages, by page."""


def own_twin(data: Published, url: str, sections: Sections) -> Content:
    """Return one of the repository's own pages as Markdown, with its title, a sentence that says
    what is in it, and the files of the site that it leads to.

    A page that a plugin adds has no source: its Markdown is what the generator's search reads.
    """
    links = TwinLinks(url, data.context.base_url)
    path = data.origins[url].path if url in data.adopted else _source_of(data, url)
    text = published_text(data.loader, path, []) if path else None
    if text is None or path is None:
        return _searched(sections().get(url, ()), links)

    part = part_of(_SLOT.sub("", text))
    curated = {**_generated(data), **data.site.curated}
    site = replace(data.site, curated=curated, assets=set(), questions={}, probed=set())
    prose = render(part, TextOrigin(path, 1, url), site)
    words = markdown_of(part, prose, partial(_address, data, links))

    title = title_of(part.read.structure.headings, path)
    record = data.adopted.get(url)
    if record is not None:
        view = record_view(record, url, data.relations, data.site, data.groups)
        below = words.partition("\n")[2] if words.startswith("# ") else words
        page = links.page(record_markdown(record.kind, view, below, links.address))
    else:
        parts = (part_markdown(data, name, links) for name in _SLOT.findall(text))
        page = links.page(words, *parts)

    return Content(page.text, [title, lead(text) or title, list(page.targets)])


def sections_by_page(generated: Path) -> dict[str, list[Section]]:
    """Return what the generator's search reads of its pages, by page."""
    by_page: dict[str, list[Section]] = defaultdict(list)
    for section in sections_of(generated, ()):
        by_page[section.page].append(section)

    return by_page


def _source_of(data: Published, url: str) -> str | None:
    return next((path for path, page in data.site.curated.items() if page == url), None)


def _generated(data: Published) -> dict[str, str]:
    """Return the pages that we add to the repository's own, by the file that each would have:
    `docs/adrs/index.md`.
    """
    config = data.context.sources.user_config
    if config is None:
        return {}

    paths = filter(is_markdown, data.site.generated)
    return {path: document_url(path, config.docs, config.directories) for path in paths}


def _searched(sections: Sequence[Section], links: TwinLinks) -> Content:
    page = links.page(*map(_section, sections))
    title = sections[0].title if sections else links.url
    text = next((section.text for section in sections if section.text), "")
    return Content(page.text, [title, lead(text) or title, list(page.targets)])


def _address(data: Published, links: TwinLinks, href: str) -> str:
    """Return the address of a link; the generator leaves the pictures of these pages where their
    sources have them.
    """
    config = data.context.sources.user_config
    pictures = f"{ASSETS}{config.docs}/" if config else ASSETS
    return links.address(href.replace(pictures, "", 1))


def _section(section: Section) -> str:
    heading = f"## {escaped(section.title)}" if section.anchor else f"# {escaped(section.title)}"
    if section.text:
        return f"{heading}\n\n{escaped(section.text)}"

    return heading
