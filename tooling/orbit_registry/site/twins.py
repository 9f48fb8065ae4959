"""A file for agents next to each finished page: its Markdown."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import partial
from html import unescape
from urllib.parse import urlsplit

from orbit_registry.site.check import PageFacts, resolved
from orbit_registry.site.html_to_markdown import markdown_of
from orbit_registry.site.memo import Content, PageCache
from orbit_registry.site.output import Output
from orbit_registry.site.search_data import lead
from orbit_registry.site.sitemap import HEADING_PREFIX
from orbit_registry.site.urls import file_of, linked

INDEX = "llms.txt"
_MAIN = [
    re.compile(rf"<{start}>(.*)</{end}>", re.DOTALL)
    for start, end in (
        (r'article class="md-content__inner[^>]*', "article"),
        (r"main\b[^>]*", "main"),
        (r"body\b[^>]*", "body"),
    )
]
"""The text of a page: in Material's themes, in others, and where a theme marks none."""
_DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PARAGRAPH = re.compile(r"(?![#>|`<!*-]|\d+\.)")


def twin_path(url: str) -> str:
    """Return the file with the Markdown of a page: `adrs/ADR-0001/index.md`."""
    return file_of(url).removesuffix(".html") + ".md"


@dataclass(frozen=True, slots=True)
class Twin:
    """The Markdown of a page: its file, its title, and a line that says what is in it."""

    path: str
    title: str
    description: str


def write_twins(
    pages: PageCache,
    facts: dict[str, PageFacts],
    urls: Set[str],
    base_url: str | None,
    undescribed: Set[str],
) -> dict[str, Twin]:
    """Write the Markdown of the pages at `urls` and return it by their URL; add the links in it to
    `facts`.

    A page is described by its metadata, one of the `undescribed` by its first sentence.
    """
    twins: dict[str, Twin] = {}
    for url in sorted(urls):
        path = twin_path(url)
        inside = [target for target in facts[url].targets if target.partition("#")[0] in urls]
        key = [pages.out.after[file_of(url)], base_url, inside, url in undescribed]
        make = partial(_twin, pages.out, url, urls, base_url, described=url not in undescribed)
        title, description, targets = pages.page(path, key, make)
        twins[url] = Twin(path, title, description)

        facts[path] = PageFacts(frozenset(), tuple(targets), ())

    return twins


def _twin(
    out: Output, url: str, urls: Set[str], base_url: str | None, *, described: bool
) -> Content:
    html = (out.folder / file_of(url)).read_text("utf-8", "surrogatepass")
    targets: dict[str, None] = {}

    def link(href: str) -> str:
        parts = urlsplit(href)
        target = resolved(url, href)
        if parts.scheme or parts.netloc or target is None:
            return href
        if not parts.path and not parts.query:
            return "#" + parts.fragment.removeprefix(HEADING_PREFIX)

        query, mark = (
            f"?{parts.query}" if parts.query else "",
            f"#{parts.fragment}" if parts.fragment else "",
        )
        if target in urls and not query and (not mark or mark.startswith(f"#{HEADING_PREFIX}")):
            target, mark = twin_path(target), mark.replace(HEADING_PREFIX, "", 1)
            targets[target] = None

        return linked(base_url, url, target) + query + mark

    main = next((match[1] for pattern in _MAIN if (match := pattern.search(html))), "")
    blocks = markdown_of(main, link)
    address = linked(base_url, url, url) if base_url else url or "the start page"
    head = (
        f"> The Markdown of {address}. [llms.txt]({linked(base_url, url, INDEX)}) lists all pages."
    )
    title = next((block for block in blocks if block.startswith("# ")), f"# {url}")

    meta = _DESCRIPTION.search(html) if described else None
    description = unescape(meta[1]) if meta else lead("\n".join(filter(_PARAGRAPH.match, blocks)))
    return Content(
        "\n\n".join([head, *blocks]) + "\n",
        [_ESCAPED.sub(r"\1", lead(title[2:])), " ".join(description.split()), [*targets]],
    )
