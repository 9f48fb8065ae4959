"""The feeds of what changed last, as Atom and as JSON Feed; they say what and where, never a record's whole text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID
from xml.sax.saxutils import escape, quoteattr

from orbit_registry.records.record import Record
from orbit_registry.site.sitemap import url_of

ATOM, JSON_FEED = "feed.xml", "feed.json"
ENTRIES = 50


def newest(records: Sequence[Record], number: int = ENTRIES) -> list[Record]:
    """Return the records that changed last, the last one first."""
    dated = [record for record in records if record.text("updated_at")]
    return sorted(dated, key=lambda one: (one.text("updated_at") or "", one.sort_key), reverse=True)[:number]


def atom(records: Sequence[Record], title: str, base_url: str | None) -> str:
    """Return the Atom feed (RFC 4287); without an address of the site links are relative to the feed."""
    some = newest(records)
    updated = some[0].text("updated_at") if some else "1970-01-01T00:00:00Z"
    own = [f'<link rel="self" href={quoteattr(_address(base_url, ATOM))}/>'] if base_url else []
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(title)}</title>",
        f"<id>{_text(base_url or 'urn:orbit:' + title)}</id>",
        f"<updated>{updated}</updated>",
        f"<author><name>{_text(title)}</name></author>",
        *own,
    ]
    entries = [
        f"<entry><title>{_text(_title(one))}</title><id>{_id(one)}</id><updated>{one.text('updated_at')}</updated>"
        f"<link href={quoteattr(_address(base_url, url_of(one)))}/><category term={quoteattr(one.kind.name)}/>"
        f"<summary>{_text(one.status.word)}</summary></entry>"
        for one in some
    ]
    return "\n".join([*head, *entries, "</feed>", ""])


def json_feed(records: Sequence[Record], title: str, base_url: str | None) -> str:
    """Return the JSON Feed (version 1.1)."""
    feed: dict[str, object] = {"version": "https://jsonfeed.org/version/1.1", "title": title}
    if base_url:
        feed |= {"home_page_url": base_url, "feed_url": _address(base_url, JSON_FEED)}
    feed["items"] = [
        {
            "id": _id(one),
            "url": _address(base_url, url_of(one)),
            "title": _title(one),
            "content_text": one.status.word,
            "date_modified": one.text("updated_at"),
            "tags": [one.kind.name, *one.scope.tags],
        }
        for one in newest(records)
    ]
    return json.dumps(feed, ensure_ascii=False, indent=1) + "\n"


def _title(record: Record) -> str:
    return f"{record.id}: {record.title}"


def _id(record: Record) -> str:
    """Return the record's lasting name: its uid, which no renumbering changes."""
    try:
        return UUID(record.uid).urn
    except ValueError:
        return f"urn:orbit:{escape(record.uid or record.id)}"


def _address(base_url: str | None, url: str) -> str:
    return f"{base_url.rstrip('/')}/{url}" if base_url else url or "."


def _text(text: str) -> str:
    """Return a text for XML: escaped, without what XML can't hold."""
    return escape("".join(one for one in text if one >= " " or one in "\t\n"))
