"""Feeds of the records that changed last, as Atom and JSON Feed."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from html import escape
from urllib.parse import quote
from uuid import UUID

from orbit_registry.model.record import Record
from orbit_registry.site.language import status_word
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import date_of, is_adopted, title_of

ATOM, JSON_FEED = "feed.xml", "feed.json"

ENTRIES = 50
SentenceOf = Callable[[Record], str]  # says a record in one sentence
_BLANKS = {ord("\t"): "&#9;", ord("\n"): "&#10;"}
"""Characters that an XML parser turns into spaces in an attribute."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NO_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 can't hold, escaped or not;
a carriage return, which no reader would give back, is of no use.
"""


def newest(records: Sequence[Record], number: int = ENTRIES) -> list[Record]:
    """Return the records that changed last, the last one first."""
    dated = [record for record in records if _updated(record)]
    return nlargest(number, dated, key=lambda record: (_updated(record), record.sort_key))


def files(
    records: Sequence[Record], title: str, base_url: str | None, sentence_of: SentenceOf
) -> Iterator[tuple[str, str]]:
    """Yield the feeds of the newest records by their path in the site."""
    some = newest(records)
    yield ATOM, atom(some, title, base_url, sentence_of)
    yield JSON_FEED, json_feed(some, title, base_url, sentence_of)


def atom(some: Sequence[Record], title: str, base_url: str | None, sentence_of: SentenceOf) -> str:
    """Return the Atom feed (RFC 4287); without an address of the site links are relative to the
    feed.
    """
    updated = _updated(some[0]) if some else "1970-01-01T00:00:00Z"
    own, home = _attribute(_address(base_url, ATOM)), _attribute(base_url or "")
    links = [f'<link rel="self" href={own}/>', f"<link href={home}/>"] if base_url else []
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(title)}</title>",
        f"<id>{_text(base_url or 'urn:orbit:' + quote(title, errors='replace'))}</id>",
        f"<updated>{_text(updated)}</updated>",
        f"<author><name>{_text(title)}</name></author>",
        *links,
    ]

    entries = [
        f"<entry><title>{_text(_title(record))}</title><id>{_text(_id(record))}</id><updated>"
        f"{_text(_updated(record))}</updated>"
        f"<link href={_attribute(_address(base_url, url_of(record)))}/><category "
        f"term={_attribute(record.kind.name)}/>"
        f"<summary>{_text(_summary(record, sentence_of))}</summary></entry>"
        for record in some
    ]
    return "\n".join([*head, *entries, "</feed>", ""])


def json_feed(
    some: Sequence[Record], title: str, base_url: str | None, sentence_of: SentenceOf
) -> str:
    """Return the JSON Feed (version 1.1)."""
    feed: dict[str, object] = {"version": "https://jsonfeed.org/version/1.1", "title": title}
    if base_url:
        feed |= {"home_page_url": base_url, "feed_url": _address(base_url, JSON_FEED)}

    feed["items"] = [
        {
            "id": _id(record),
            "url": _address(base_url, url_of(record)),
            "title": _title(record),
            "content_text": _summary(record, sentence_of),
            "date_modified": _updated(record),
            "tags": [record.kind.name, *record.scope.tags],
        }
        for record in some
    ]

    return json.dumps(feed, ensure_ascii=False, indent=1) + "\n"


def _title(record: Record) -> str:
    return f"{record.id}: {title_of(record)}"


def _summary(record: Record, sentence_of: SentenceOf) -> str:
    sentence = sentence_of(record)
    word = status_word(record.status)
    if not sentence or sentence == record.title:
        return word

    return f"{word[:1].upper()}{word[1:]}: {sentence}"


def _updated(record: Record) -> str:
    """Return when a record changed last: of a decision that was adopted unchanged its own day, not
    that of the import.
    """
    updated = record.text("updated_at") or ""
    is_unchanged = updated == record.text("created_at")
    if is_adopted(record) and is_unchanged and _DAY.fullmatch(date_of(record)):
        return f"{date_of(record)}T00:00:00Z"

    return updated


def _id(record: Record) -> str:
    """Return the record's lasting name: its uid, which no renumbering changes."""
    try:
        return UUID(record.uid).urn
    except ValueError:
        return f"urn:orbit:{record.uid or record.id}"


def _address(base_url: str | None, url: str) -> str:
    if base_url:
        return f"{base_url.rstrip('/')}/{url}"

    return url or "."


def _text(text: str) -> str:
    return escape(_NO_XML.sub("", text), quote=False)


def _attribute(text: str) -> str:
    return f'"{escape(_NO_XML.sub("", text)).translate(_BLANKS)}"'
