"""A file for agents next to each page: its Markdown, of records and documents from their own text."""

import posixpath
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from jinja2 import Environment, FileSystemLoader, pass_context
from jinja2.runtime import Context

from orbit_registry.formats.markdown import is_markdown
from orbit_registry.site.check import resolved
from orbit_registry.site.markdown import Address, destination, markdown_of, plain, with_addresses
from orbit_registry.site.record_page import FOLDER
from orbit_registry.site.sitemap import HEADING_PREFIX, SiteMap
from orbit_registry.site.urls import document_url, file_of, linked

INDEX = "llms.txt"
_MAIN = [
    re.compile(rf"<{start}>(.*)</{end}>", re.DOTALL)
    for start, end in (
        (r'article class="md-content__inner[^>]*', "article"), (r"main\b[^>]*", "main"), (r"body\b[^>]*", "body"),
    )
]  # fmt: skip
"""The text of a page: in Material's themes, in others, and where a theme marks none."""
_BODY = re.compile(r"<body\b[^>]*>")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|/")
_STAGED = re.compile(r'<div data-orbit-slot="[^>]*>[^<]*</div>|<a class="orbit-cite"[^>]*>(?P<name>[^<]*)</a>')
"""What staging adds to a page of the repository: places for records, and links from what it cites."""
_TITLE = re.compile(r"# (.*)\n*")
_BLANK_LINES = re.compile(r"\n{3,}")
_PLACE = "\0"  # of the text of a record or document in its template


def twin_path(url: str) -> str:
    """Return the file with the Markdown of a page: `adrs/ADR-0001/index.md`."""
    return file_of(url).removesuffix(".html") + ".md"


def announced(html: str, url: str, base_url: str | None, data: str = "") -> str:
    """Return a page that names its Markdown and the list of all pages, in its head, with `data`, and in its text."""
    twin, index = linked(base_url, url, twin_path(url)), linked(base_url, url, INDEX)
    # The space: Material looks for a sitemap next to each `link[rel=alternate]`, which it takes for a language.
    link = f'<link rel="alternate " type="text/markdown" href="{escape(twin)}">'
    note = f"For AI agents: the Markdown of this page is at {twin}. All pages are listed in {index}."
    html = html.replace("</head>", f"{link}{data}</head>", 1)
    return _BODY.sub(lambda body: f'{body[0]}<p class="orbit-agents" aria-hidden="true">{escape(note)}</p>', html, 1)


@dataclass(frozen=True, slots=True)
class Twin:
    """The Markdown of a page: its file, its title, and a line that says what is in it."""

    path: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class PageLinks:
    """How the Markdown of the page at `url` names what it links to; `files` are the pages that are no folders."""

    url: str
    base_url: str | None
    files: Set[str]

    def address(self, href: str) -> str:
        """Return a link of the page; one to another page leads to the Markdown of that."""
        parts, target = urlsplit(href), resolved(self.url, href)
        if parts.scheme or parts.netloc or target is None:
            return href
        if not parts.path and not parts.query:
            return f"#{parts.fragment.removeprefix(HEADING_PREFIX)}"
        query, mark = f"?{parts.query}" if parts.query else "", f"#{parts.fragment}" if parts.fragment else ""
        is_page = target in ("", *self.files) or target.endswith("/")
        if is_page and not query and (not mark or mark.startswith(f"#{HEADING_PREFIX}")):
            target, mark = twin_path(target), mark.replace(HEADING_PREFIX, "", 1)
        return linked(self.base_url, self.url, target) + query + mark

    def of_text(self, path: str, site: SiteMap) -> Address:
        """Return how links of the repository's file at `path` are named."""

        def address(target: str, is_image: bool) -> str | None:
            there = site.image(path, target) if is_image else site.target(path, target)
            href = there.address(self.url)
            return href if href is None or there.outside else self.address(href)

        return address

    def of_page(self, name: str, docs: Path, directories: bool) -> Address:
        """Return how links of a staged page are named: they lead to files in the folder, or from the finished page."""

        def address(target: str, is_image: bool) -> str:
            if _ELSEWHERE.match(target):
                return target
            file, hash_mark, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(file)))
            if not (docs / path).is_file():
                return self.address(target)
            page = twin_path(document_url(path, "", directories)) if is_markdown(path) else path
            return linked(self.base_url, self.url, page) + hash_mark + anchor

        return address

    def headed(self, text: str) -> str:
        """Return the Markdown of the page as its file has it."""
        page = linked(self.base_url, self.url, self.url) if self.base_url else self.url or "the start page"
        index = linked(self.base_url, self.url, INDEX)
        return f"> The Markdown of {page}. [llms.txt]({index}) lists all pages.\n\n{text.strip()}\n"


def page_markdown(html: str, links: PageLinks) -> str:
    """Return the text of a page without a source of its own as Markdown."""
    main = next((match[1] for pattern in _MAIN if (match := pattern.search(html))), "")
    return markdown_of(main, links.address)


def staged_markdown(text: str, address: Address) -> str:
    """Return a staged page of the repository as Markdown."""
    return with_addresses(_STAGED.sub(lambda added: added["name"] or "", text), address)


def heading_of(text: str) -> str:
    """Return the title of a page's Markdown; "" without one."""
    return match[1] if (match := _TITLE.match(text)) else ""


@cache
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=False)  # Markdown, by our own templates
    environment.filters["plain"] = lambda text: plain(str(text))
    environment.filters["linked"] = _linked
    return environment


@pass_context
def _linked(context: Context, text: str, url: str | None) -> str:
    return f"[{plain(text)}]({destination(context['links'].address(url))})" if url else plain(text)


def _written(template: str, links: PageLinks, body: str, **values: object) -> str:
    text = _environment().get_template(template).render(links=links, body=_PLACE, **values)
    before, _, after = _BLANK_LINES.sub("\n\n", text).partition(_PLACE)
    return f"{before}{body}{after}"


def record_markdown(view: Mapping[str, Any], prose: str, links: PageLinks) -> str:
    """Return the page of a record: what is known of it, its text, and what cites it."""
    prose = prose.removeprefix(title[0]) if (title := _TITLE.match(prose)) and title[1] == view["title"] else prose
    return _written("record.md", links, prose, record=view)


def document_markdown(
    title: str, banner: str, text: str, citers: Mapping[str, Any], applying: Sequence[Mapping[str, Any]],
    links: PageLinks,
) -> str:  # fmt: skip
    """Return the page of a mirrored document: its text, the records that apply to it, and what cites it."""
    head = "" if _TITLE.match(text) else title
    return _written("document.md", links, text, title=head, banner=banner, citers=citers, applying=applying)
