"""What the generator made of the repository's own pages, with the parts that come from records."""

import json
import re
from dataclasses import dataclass, replace
from html import unescape

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.site.check import SCRIPT, PageFacts, facts_of
from orbit_registry.site.curated import mark
from orbit_registry.site.documents import BODY, around_prose, slot
from orbit_registry.site.frame import marked, marks_of
from orbit_registry.site.list_pages import part_html
from orbit_registry.site.published import Published, cards_html
from orbit_registry.site.record_drafts import page_data
from orbit_registry.site.record_page import article
from orbit_registry.site.sanitize import Policy
from orbit_registry.site.views import record_view

NOT_FOUND = "404.html"
CARDS = slot("cards")
_SLOT = re.compile(r'<div data-orbit-slot="([a-z0-9_-]+)"></div>')


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A page that the generator made: its text and facts, and what is wrong with it."""

    html: str
    facts: PageFacts
    diagnostics: tuple[Diagnostic, ...] = ()


def own_page(data: Published, html: str, url: str, policy: Policy) -> OwnPage:
    """Return a page of the generator with its parts, its marks and its policy."""
    filled = html
    record = data.adopted.get(url)
    if record is not None:
        view = record_view(record, url, data.relations, data.site, data.groups)
        filled = around_prose(filled, article(record.kind, view, BODY))

    filled = filled.replace(CARDS, cards_html(data.site, filled, url))
    filled = _SLOT.sub(lambda match: part_html(data, match[1], url), filled)
    filled = _with_marks(data, filled, url, record)

    is_theirs = url in data.site.curated.values()
    if data.is_trusted and is_theirs and url != NOT_FOUND:
        return OwnPage(filled, replace(facts_of(filled, url), foreign=()))
    if data.is_trusted:
        policy = policy.allowing(html)

    filled, refused = policy.applied(filled)
    problems = tuple(_refused(code, data.origins.get(url, Location(url))) for code in refused)
    return OwnPage(filled, facts_of(filled, url), problems)


def _with_marks(data: Published, html: str, url: str, record: Record | None) -> str:
    """Return a page with what our templates mark in it; the page for an address that has none is
    for no agent.
    """
    above, _, rest = marked(html).partition(mark("page"))
    facts, _, below = rest.partition(mark("end"))
    html = above + below

    values = {"head": "", "note": ""}
    if url != NOT_FOUND:
        values = marks_of(url, data.context.base_url, _data(data, facts, url, record))

    for name, text in values.items():
        html = html.replace(mark(name), text, 1)

    return html


def _data(data: Published, facts: str, url: str, record: Record | None) -> str:
    """Return the JSON-LD of a document or of one of the repository's own pages, from what our
    template tells of the page.
    """
    if url not in data.site.curated.values():
        return ""

    page = json.loads(facts) if facts else {}
    title = unescape(page.get("title") or data.context.sources.title)
    description = unescape(page.get("description") or "")
    return page_data(data.context, url, title, description, record)


def _refused(code: str, where: Location) -> Diagnostic:
    message = f"an inline script will not run: {' '.join(code.split())[:60]}"
    return Diagnostic(SCRIPT, Severity.WARNING, message, where, "move it to a file")
