"""Makes the pages of earlier names: each sends its reader on, or lists the records it may mean; no script is needed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape

from orbit_registry.model.record import Record
from orbit_registry.site.documents import Document
from orbit_registry.site.sitemap import OVERVIEW, folder_anchor, url_of
from orbit_registry.site.urls import legacy_url, record_url, relative

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<link rel="icon" href="data:,">'
)
"""An icon of nothing: for a page without one a browser asks the host's root, which may be another site's."""


def redirect_pages(records: Sequence[Record], base_url: str | None, head: str = HEAD) -> dict[str, str]:
    """Return a page for every legacy id, and for its last part where it has a namespace, by site URL.

    `head` is what each begins with: `HEAD`, with a policy of the site's. A name that goes on after another of its
    record's, `0001-queues` after `0001`, has none: the page that says that there is none resolves it.

    A record that one of the repository's own pages shows has one where its page would stand.
    """
    meant: dict[str, dict[str, Record]] = defaultdict(dict)
    own: dict[str, Record] = {}
    tails: dict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        for name in record.legacy_ids:
            meant[name][record.id] = record
            tails[name.rpartition("/")[2]][record.id] = record
        if record.page is not None:
            own[record_url(record.kind.plural, record.id)] = record
    for tail, held in tails.items():
        if tail and tail not in meant:
            meant[tail] = held
    pages = {
        url: _onward(head, record.id, url, record, base_url)
        for url, record in sorted(own.items())
        if url != record.page
    }
    for name, held in sorted(meant.items()):
        if _goes_on(name, meant):
            continue
        url = legacy_url(name)
        found = [record for _, record in sorted(held.items())]
        if len(found) == 1:
            pages[url] = _onward(head, name, url, found[0], base_url)
        else:
            pages[url] = _choice(head, name, url, found)
    return pages


def _goes_on(name: str, meant: Mapping[str, Mapping[str, Record]]) -> bool:
    """Say whether a name begins with an earlier name and a hyphen, and both mean the same one record."""
    held = meant[name].keys()
    ends = (found.start() for found in re.finditer("-", name))
    return len(held) == 1 and any(name[:end] in meant and meant[name[:end]].keys() == held for end in ends)


def _onward(head: str, name: str, url: str, record: Record, base_url: str | None) -> str:
    target = escape(relative(url, url_of(record)))
    canonical = escape(base_url.rstrip("/") + "/" + url_of(record)) if base_url else target
    said = f"{escape(name)} is now {escape(record.id)}"
    return (
        f'{head}<title>{said}</title><link rel="canonical" href="{canonical}">'
        f'<meta name="robots" content="noindex"><meta http-equiv="refresh" content="0; url={target}"></head>'
        f'<body><p>{said}: <a href="{target}">{escape(record.title)}</a></p></body></html>\n'
    )


def folder_pages(
    documents: Iterable[Document], titles: Container[str], taken: Container[str], head: str = HEAD
) -> dict[str, str]:
    """Return a page for each folder of documents that has none, by site URL: it leads to them in the overview.

    `titles` has the paths of the documents that are listed there, `taken` the URLs of pages; without an overview
    among them there is nowhere to lead to.
    """
    if OVERVIEW not in taken:
        return {}
    folders: dict[str, str] = {}
    for url, path in sorted((one.url, one.path) for one in documents if one.path in titles):
        parts = url.rstrip("/").split("/")[:-1]
        for count in range(1, len(parts) + 1):
            folders.setdefault("/".join(parts[:count]) + "/", "")
        folder = path.rpartition("/")[0]
        if parts and folder.endswith("/".join(parts)):  # not where it is the index of a folder
            folders["/".join(parts) + "/"] = f"#{folder_anchor(folder)}"
    return {url: _folder(head, url, anchor) for url, anchor in sorted(folders.items()) if url not in taken}


def _folder(head: str, url: str, anchor: str) -> str:
    target = escape(relative(url, OVERVIEW) + anchor)
    said = f"Documents in {escape(url)}"
    return (
        f'{head}<title>{said}</title><meta name="robots" content="noindex">'
        f'<meta http-equiv="refresh" content="0; url={target}"></head>'
        f'<body><p><a href="{target}">{said}</a></p></body></html>\n'
    )


def _choice(head: str, name: str, url: str, records: Sequence[Record]) -> str:
    items = "".join(
        f'<li><a href="{escape(relative(url, url_of(record)))}">{escape(record.id)}</a> {escape(record.title)}</li>'
        for record in records
    )
    return (
        f'{head}<title>{escape(name)} means several records</title><meta name="robots" content="noindex"></head>'
        f"<body><h1>{escape(name)} means {len(records)} records</h1><ul>{items}</ul></body></html>\n"
    )
