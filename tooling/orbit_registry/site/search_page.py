"""The page of a search's results, which `?q=` opens and a script fills."""

from collections.abc import Sequence
from html import escape

from orbit_registry.model.kind import Kind
from orbit_registry.site.language import labels_of, word
from orbit_registry.site.urls import relative

URL = "search/"


def page_html(kinds: Sequence[Kind]) -> str:
    """Return what is on the page before its script runs, and all there is without one."""
    links = [
        f'<a href="{relative(URL, f"{kind.plural}/")}">{escape(labels_of(kind))}</a>'
        for kind in kinds
    ]
    return (
        '<div data-orbit-results><form class="orbit-lookup" role="search" hidden>'
        f'<label for="orbit-search-text">{word("search.for")}</label>'
        '<input id="orbit-search-text" name="q" type="search" autocomplete="off">'
        f'<button class="md-button" type="submit">{word("search.title")}</button></form>'
        '<p role="status" data-orbit-count></p><div data-orbit-found></div>'
        f"<p data-orbit-plain>{word('search.plain', lists=', '.join(links))}</p></div>"
    )
