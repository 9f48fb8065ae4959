"""Decisions whose documents are pages of the repository's own site: the page stays, and the record comes to it.

The generator renders the document as it always did; around it stands what a record's page says beside the prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

from orbit_registry.formats.markdown import is_markdown, parse_markdown
from orbit_registry.model.record import Record
from orbit_registry.site.urls import document_url
from orbit_registry.site.words import tags_of

HEAD, FOOT = "record-head", "record-foot"
BODY = '<div class="orbit-own"></div>'
"""Stands in a record's article for the prose that the page has already."""
_HEAD = re.compile(rf'<div data-orbit-slot="{HEAD}" hidden>[^<]*</div>')
_FOOT = f'<div data-orbit-slot="{FOOT}"></div>'
_HEADING = re.compile(r"<h1\b.*?</h1>", re.DOTALL)
_LAST_HEADING = re.compile(r"<h1\b(?:(?!<h1\b).)*?</h1>\s*\Z", re.DOTALL)


def with_own_pages(records: Sequence[Record], files: Iterable[str], docs: str, directories: bool) -> list[Record]:
    """Return the records, those whose document alone makes one of the own pages with its URL.

    `files` are the own files, from the folder `docs`; `directories` says whether a page is a folder.
    """
    held = set(files)
    claims = Counter(record.source.path for record in records if record.source is not None)

    def page(record: Record) -> str | None:
        source = record.source
        if source is None or source.format == "log" or not is_markdown(source.path):
            return None
        if set(source.path) & set("#?%"):  # a site URL is no address: it can't tell these from their meaning there
            return None
        own = source.path.startswith(f"{docs}/") and source.path.removeprefix(f"{docs}/") in held
        return document_url(source.path, docs, directories) if own and claims[source.path] == 1 else None

    return [replace(record, page=url) if (url := page(record)) is not None else record for record in records]


def marks(record: Record) -> str:
    """Return the words that a record is looked up by: the generator's search finds its page by them."""
    return " ".join([record.id, *record.legacy_ids, record.status.word, *tags_of(record)])


def marked(text: str, record: Record) -> str:
    """Return a document's Markdown with the places that the record is put into; the first holds its `marks`."""
    parsed = parse_markdown(text)
    first = parsed.headings[0] if parsed.headings else None
    place = first.body.start if first is not None and first.level == 1 else parsed.content_start
    head = f'<div data-orbit-slot="{HEAD}" hidden>{escape(marks(record))}</div>'
    return f"{text[:place].rstrip()}\n\n{head}\n\n{text[place:].strip()}\n\n{_FOOT}\n".lstrip("\n")


def joined(html: str, article: str) -> str:
    """Return a page with the record's article around the text between the two places; the page's own heading stays."""
    above, _, below = article.partition(BODY)
    head = _HEAD.search(html)
    if head is None:
        return html
    before, after = html[: head.start()], html[head.end() :]
    start = before.rfind("<h1")
    if start >= 0 and _LAST_HEADING.match(before, start):
        own = before[start:].strip()
        before, above = before[:start], _HEADING.sub(lambda _: own, above, count=1)
    return f"{before}{above}{after.replace(_FOOT, below, 1)}"
