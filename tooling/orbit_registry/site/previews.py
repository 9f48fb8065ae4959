"""Makes the previews of cited records: once a page, hidden; a script shows them, a screen reader announces them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape, unescape

from orbit_registry.records.record import Record
from orbit_registry.site.check import resolved
from orbit_registry.site.memo import key_of
from orbit_registry.site.prose import card_id
from orbit_registry.site.sanitize import headline
from orbit_registry.site.words import date_of, status_class

_LINK = re.compile(r'<a class="orbit-cite" href="([^"]*)"')


class Previews:
    """The previews of a site's records, by URL; `lead` gives the first line of a record's text."""

    def __init__(self, records: Mapping[str, Record], lead: Callable[[Record], str]) -> None:
        self._records = records
        self._lead = lead
        self.token = cache(self._token)

    def on(self, html: str, page: str) -> list[str]:
        """Return the URLs of the records that a page's links cite, each once, in order."""
        found = (resolved(page, unescape(href)) for href in _LINK.findall(html))
        return [url for url in dict.fromkeys(found) if url is not None and url in self._records]

    def html(self, urls: Iterable[str]) -> str:
        """Return the previews of some records, hidden; "" for none."""
        cards = "".join(self._card(url) for url in urls)
        return f'<div class="orbit-cards" hidden>{cards}</div>' if cards else ""

    def _token(self, url: str) -> str:
        return key_of(self._card(url)) if url in self._records else ""

    def _card(self, url: str) -> str:
        record = self._records[url]
        line = record.text("summary") or self._lead(record)
        said = f"<span>{headline(line)}</span>" if line and line != record.title else ""
        chip = f'<span class="orbit-chip {status_class(record)}">{escape(record.status.word)}</span>'
        day = f" <small>{escape(date_of(record))}</small>"
        return (
            f'<div class="orbit-card" id="{card_id(url)}"><b>{escape(record.id)} {headline(record.title)}</b>'
            f"<span>{chip}{day}</span>{said}</div>"
        )
