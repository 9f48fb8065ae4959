"""How every list of records names one: a line with its id, its title, its status, and what the list adds."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from orbit_registry.records.record import Record
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import status_class


def chip(record: Record) -> str:
    """Return a record's status as a word; the style sheet adds its icon."""
    return f'<span class="orbit-chip {status_class(record)}">{escape(record.status.word)}</span>'


def items_html(rows: Iterable[tuple[Record, str]], page: str) -> str:
    """Return records as a list; with each stands HTML of the list's own, such as a day or a reason."""
    lines = "".join(f"<li>{_named(record, page)}{added}{chip(record)}</li>" for record, added in rows)
    return f'<ul class="orbit-items">{lines}</ul>'


def _named(record: Record, page: str) -> str:
    href = escape(relative(page, url_of(record)))
    name = f'<span class="orbit-name">{headline(record.title)}</span>'
    return f'<a href="{href}"><span class="orbit-id">{escape(record.id)}</span> {name}</a>'
