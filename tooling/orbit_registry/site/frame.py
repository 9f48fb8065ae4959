"""The frame of pages: what the generator made of an empty page, cut at marks of our own.

The templates in `site-overrides` and the sources of empty pages print the marks. Nothing here knows
the theme's markup.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.site.curated import mark
from orbit_registry.site.memo import key_of
from orbit_registry.site.page import SitePage
from orbit_registry.site.record_page import contents_html
from orbit_registry.site.sanitize import Policy
from orbit_registry.site.twins import INDEX, twin_path
from orbit_registry.site.urls import file_of, linked, relative

_MARK = re.compile(r"@@orbit:([a-z]+)@@")
_END = "end"
"""The mark after the text that the generator shows where the content will be."""


class FrameError(OrbitError):
    """The theme gave no page that others can be put into."""

    exit_code = 3


HEAD, NOTE = mark("head"), mark("note")


@dataclass(frozen=True, slots=True)
class Frame:
    """An empty page: its parts, and between them the names of what is put there."""

    parts: tuple[str, ...]
    marks: tuple[str, ...]
    key: str
    """A digest of its text."""

    def filled(self, values: Mapping[str, str]) -> str:
        """Return a page; a mark without a value is left out."""
        texts = [self.parts[0]]
        for name, part in zip(self.marks, self.parts[1:], strict=True):
            texts += (values.get(name, ""), part)

        return "".join(texts)


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a build: those of the pages that the navigation names, and one a depth."""

    by_url: Mapping[str, Frame]
    by_depth: Mapping[int, Frame]
    base_url: str | None

    def of(self, url: str) -> Frame:
        """Return the frame of a page."""
        return self.by_url.get(url) or self.by_depth[url.count("/")]

    def put(self, page: SitePage) -> str:
        """Return the HTML of a page."""
        values = marks_of(page.url, self.base_url, page.data)
        values["title"] = escape(page.title)
        values["description"] = escape(page.description or page.title)
        values["address"] = escape(address_of(self.base_url, page.url))
        values["lists"] = escape(" ".join(relative(page.url, url) for url in page.listed))
        values["toc"] = contents_html(page.contents)
        values["rail"] = page.rail
        values["content"] = page.html
        return self.of(page.url).filled(values)


def address_of(base_url: str | None, url: str) -> str:
    """Return a page's address on the web; from the site's root if the site has no address."""
    if base_url:
        return f"{base_url.rstrip('/')}/{url}"

    return url


def marks_of(url: str, base_url: str | None, data: str) -> dict[str, str]:
    """Return what each page has in its head and above its text: where its Markdown and the list of
    all pages are, and its `data`.
    """
    twin = linked(base_url, url, twin_path(url))
    index = linked(base_url, url, INDEX)
    # The space: Material looks for a sitemap next to each `link[rel=alternate]`, which it takes for
    # a language.
    link = f'<link rel="alternate " type="text/markdown" href="{escape(twin)}">'
    note = (
        f"For AI agents: the Markdown of this page is at {twin}. All pages are listed in {index}."
    )
    return {
        "head": f"{link}{data}",
        "note": f'<p class="orbit-agents" aria-hidden="true">{escape(note)}</p>',
    }


def empty_pages(generated: Path, urls: Iterable[str]) -> dict[str, str]:
    """Return what the generator made of the empty pages at `urls`."""
    try:
        return {url: (generated / file_of(url)).read_text("utf-8") for url in urls}
    except OSError as error:
        message = f"the generator made no empty page: {error.filename}"
        hint = "delete the folder `.orbit/state/cache`, then build again"
        raise FrameError(message, hint=hint) from None


def frame_of(html: str, policy: Policy, address: str = "", *, compiled: bool = False) -> Frame:
    """Return the frame of an empty page, whose `address` is replaced by that of each page in it.

    `compiled` lets its pages run WebAssembly.
    """
    html, _ = policy.applied(without_indentation(html), compiled=compiled)
    if address:
        html = html.replace(escape(address), mark("address"))

    before, content, after = marked(html).partition(mark("content"))
    if not content:
        raise FrameError(
            "the theme's page has no place for records",
            hint="let its templates print `page.content` where others do",
        )

    _, end, below = after.partition(mark(_END))
    pieces = _MARK.split(before + content + (below if end else after))
    return Frame(tuple(pieces[::2]), tuple(pieces[1::2]), key_of(html))


def without_indentation(html: str) -> str:
    """Return a page without the indentation of the theme's templates, a quarter of a record's page.

    A page with text whose spaces count is left alone.
    """
    if "<pre" in html or "<textarea" in html:
        return html

    lines = (line.strip() for line in html.splitlines())
    return "\n".join(filter(None, lines))


def marked(html: str) -> str:
    """Return a page of the generator with the marks that every page has, also where a template of
    the repository replaces the blocks that print them.
    """
    if HEAD not in html:
        html = html.replace("</head>", f"{HEAD}</head>", 1)

    if NOTE not in html:
        above, body, below = html.partition("<body")
        attributes, close, text = below.partition(">")
        html = f"{above}{body}{attributes}{close}{NOTE}{text}"

    return html
