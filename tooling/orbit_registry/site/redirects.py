"""Redirect pages of earlier names; they work without a script."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orbit_registry.model.record import Record
from orbit_registry.site.filling import macros
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import legacy_url, record_url, relative

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width">'
    '<link rel="icon" href="data:,">'
)
"""An icon of nothing: for a page without one a browser asks the host's root,
which may be another site's.
"""


class Redirect(NamedTuple):
    """A redirect page, and the URLs of the pages that it leads to."""

    html: str
    targets: tuple[str, ...]


def redirect_pages(
    records: Sequence[Record], base_url: str | None, head: str = HEAD
) -> dict[str, Redirect]:
    """Return a page for every legacy id, and for its last part where it has a namespace, by site
    URL.

    `head` is what each begins with: `HEAD`, with the site's policy. A name that continues another
    of its record's, `0001-queues` after `0001`, has none: the page that says that there is none
    resolves it.

    A record that one of the repository's own pages shows has one at the URL of a record's page.
    """
    by_name: dict[str, dict[str, Record]] = defaultdict(dict)
    tails: dict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        for name in record.legacy_ids:
            by_name[name][record.id] = record
            tails[name.rpartition("/")[2]][record.id] = record

    by_name |= {
        tail: candidates for tail, candidates in tails.items() if tail and tail not in by_name
    }
    moved = {
        record_url(record.kind.plural, record.id): record
        for record in records
        if record.page is not None
    }

    pages = {
        url: _page(head, record.id, url, [record], base_url)
        for url, record in moved.items()
        if url != record.page
    }
    for name, candidates in sorted(by_name.items()):
        if _extends_earlier_name(name, by_name):
            continue

        url = legacy_url(name)
        matches = [record for _, record in sorted(candidates.items())]
        pages[url] = _page(head, name, url, matches, base_url)

    return pages


def _extends_earlier_name(name: str, by_name: Mapping[str, Mapping[str, Record]]) -> bool:
    """Say whether a name begins with an earlier name and a hyphen,
    and both mean the same one record.
    """
    ids = by_name[name].keys()
    ends = (match.start() for match in re.finditer("-", name))
    return len(ids) == 1 and any(
        name[:end] in by_name and by_name[name[:end]].keys() == ids for end in ends
    )


def _page(
    head: str, name: str, url: str, records: Sequence[Record], base_url: str | None = None
) -> Redirect:
    """Return the page at an earlier name of some records; with an address of the site it names
    that of the record.
    """
    targets = tuple([url_of(record) for record in records])
    canonical = f"{base_url.rstrip('/')}/{targets[0]}" if base_url else ""
    addresses = [relative(url, target) for target in targets]
    rows = [*zip(records, addresses, strict=True)]
    html = str(macros("redirect.html").onward(head, name, canonical or addresses[0], rows))
    return Redirect(html, targets)
