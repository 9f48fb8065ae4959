"""Previews of cited records: once a page, hidden; a script shows them, a screen reader announces them."""

from __future__ import annotations

import re
from html import escape, unescape

from orbit_registry.model.record import Record
from orbit_registry.site.check import resolved
from orbit_registry.site.prose import card_id
from orbit_registry.site.sanitize import headline
from orbit_registry.site.words import date_of, status_class

_LINK = re.compile(r'<a class="orbit-cite" href="([^"]*)"')


def cited_urls(html: str, page: str) -> list[str]:
    """Return the URLs that the links of a page cite, each once, in order."""
    urls = (resolved(page, unescape(href)) for href in _LINK.findall(html))
    return list(dict.fromkeys(url for url in urls if url is not None))


def card_html(record: Record, url: str, lead: str) -> str:
    """Return the preview of the record at a URL; `lead` is the first line of its text."""
    line = record.text("summary") or lead
    text = f"<span>{headline(line)}</span>" if line and line != record.title else ""
    chip = f'<span class="orbit-chip {status_class(record)}">{escape(record.status.word)}</span>'
    day = f" <small>{escape(date_of(record))}</small>"
    return (
        f'<div class="orbit-card" id="{card_id(url)}"><b>{escape(record.id)} {headline(record.title)}</b>'
        f"<span>{chip}{day}</span>{text}</div>"
    )
