"""A page of the site as data: what is in it, and where its text comes from."""

from collections.abc import Callable
from dataclasses import dataclass

from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.site.prose import Heading
from orbit_registry.site.search_data import Section
from orbit_registry.site.twins import NOTHING, Markdown


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page, before it is put into a frame.

    `title` and `description` are plain text; `html`, `rail` and `data` are safe HTML.
    """

    url: str
    title: str
    html: str
    """What the page says, its heading included."""
    description: str = ""
    """A sentence for search engines, feeds and lists for agents; "" for the title."""
    contents: tuple[Heading, ...] = ()
    rail: str = ""
    """What is below the navigation: the log around a decision."""
    data: str = ""
    """The element that describes the page to programs (JSON-LD)."""
    sections: tuple[Section, ...] = ()
    """What search reads of the page, besides records."""
    markdown: Markdown = NOTHING
    """The page as Markdown."""
    listed: tuple[str, ...] = ()
    """Pages that list this one, the nearest first; the navigation marks the first that it has."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that is made only if its inputs have changed since the last build."""

    url: str
    inputs: object
    """What JSON can hold; the page says nothing that does not follow from it."""
    make: Callable[[], SitePage]
    above: int = 0
    """The lines above its text in the file; they change where the page does not."""
