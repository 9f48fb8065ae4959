"""A file for agents next to each page: its Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from orbit_registry.site.check import resolved
from orbit_registry.site.destinations import HEADING_PREFIX
from orbit_registry.site.urls import LEGACY, file_of, linked

INDEX = "llms.txt"


def twin_path(url: str) -> str:
    """Return the file with the Markdown of a page: `adrs/ADR-0001/index.md`."""
    return file_of(url).removesuffix(".html") + ".md"


class Markdown(NamedTuple):
    """A page as Markdown, and the files of the site that it leads to."""

    text: str = ""
    targets: Sequence[str] = ()


NOTHING = Markdown()


@dataclass(frozen=True, slots=True)
class Twin:
    """The Markdown of a page: its file, its title, and a line that says what is in it."""

    path: str
    title: str
    description: str
    group: str = ""
    """The year or the tag by which a long list is divided."""
    sentence: str = ""
    """What a decision says in one sentence."""


@dataclass
class TwinLinks:
    """How the Markdown of a page names what the page links to: other pages by their Markdown."""

    url: str
    base_url: str | None
    targets: dict[str, None] = field(default_factory=dict)

    def address(self, href: str) -> str:
        """Return the address of a link that leads from the page."""
        parts = urlsplit(href)
        target = resolved(self.url, href)
        if parts.scheme or parts.netloc or target is None:
            return href
        if not parts.path and not parts.query:
            return "#" + parts.fragment.removeprefix(HEADING_PREFIX)

        query = f"?{parts.query}" if parts.query else ""
        mark = f"#{parts.fragment}" if parts.fragment else ""
        is_heading = not mark or mark.startswith(f"#{HEADING_PREFIX}")
        if _is_page(target) and not query and is_heading:
            target, mark = twin_path(target), mark.replace(HEADING_PREFIX, "", 1)
            self.targets[target] = None

        return linked(self.base_url, self.url, target) + query + mark

    def page(self, *parts: str) -> Markdown:
        """Return the Markdown of the page, from its parts."""
        own = linked(self.base_url, self.url, self.url) if self.base_url else self.url
        index = linked(self.base_url, self.url, INDEX)
        head = f"> The Markdown of {own or 'the start page'}. [{INDEX}]({index}) lists all pages."
        text = "\n\n".join(filter(None, [head, *parts]))
        return Markdown(f"{text}\n", tuple(self.targets))


def _is_page(url: str) -> bool:
    has_page = not url or url.endswith(("/", ".html"))
    return has_page and not url.startswith(f"{LEGACY}/")
