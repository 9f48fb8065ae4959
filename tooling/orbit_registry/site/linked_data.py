"""JSON-LD of a page (schema.org): what search engines and agents read of it without its text."""

import json
from collections.abc import Iterable, Mapping

from orbit_registry.model.record import Record
from orbit_registry.site.words import date_of, tags_of

_INERT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end the element, or a line of a script, as JSON writes them."""


def article_data(headline: str, description: str, site: Mapping[str, str], address: str | None, **more: object) -> str:
    """Return the element that describes a page as a `TechArticle`; `site` and `address` say where it is."""
    data = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": headline,
        "description": description,
        "url": address,
        "isPartOf": {"@type": "WebSite", **site},
        **more,
    }
    text = json.dumps({name: value for name, value in data.items() if value}, ensure_ascii=False)
    return f'<script type="application/ld+json">{text.translate(_INERT)}</script>'


def record_data(record: Record) -> dict[str, object]:
    """Return what JSON-LD says of a record: its id, days, status and subjects."""
    return {
        "identifier": record.id,
        "dateCreated": date_of(record),
        "dateModified": record.text("updated_at"),
        "creativeWorkStatus": record.status.word,
        "about": [*_things(tags_of(record))],
    }


def _things(names: Iterable[str]) -> Iterable[dict[str, str]]:
    return ({"@type": "Thing", "name": name} for name in names)
