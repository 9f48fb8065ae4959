"""Redirect pages of earlier names; they work without a script."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape

from orbit_registry.model.record import Record
from orbit_registry.site.language import counted, word
from orbit_registry.site.sanitize import headline
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


_NO_INDEX = '<meta name="robots" content="noindex">'
_ONWARD = '<meta http-equiv="refresh" content="0; url={}">'


def redirect_pages(
    records: Sequence[Record], base_url: str | None, head: str = HEAD
) -> dict[str, str]:
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
        url: _redirect(head, record.id, url, record, base_url)
        for url, record in moved.items()
        if url != record.page
    }
    for name, candidates in sorted(by_name.items()):
        if _extends_earlier_name(name, by_name):
            continue

        url = legacy_url(name)
        matches = [record for _, record in sorted(candidates.items())]
        is_clear = len(matches) == 1
        pages[url] = (
            _redirect(head, name, url, matches[0], base_url)
            if is_clear
            else _choice(head, name, url, matches)
        )

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


def _page(head: str, title: str, links: str, body: str) -> str:
    return f"{head}<title>{title}</title>{links}</head><body>{body}</body></html>\n"


def _redirect(head: str, name: str, url: str, record: Record, base_url: str | None) -> str:
    target = escape(relative(url, url_of(record)))
    canonical = escape(base_url.rstrip("/") + "/" + url_of(record)) if base_url else target
    title = word("redirect.now", name=escape(name), id=escape(record.id))
    links = f'<link rel="canonical" href="{canonical}">{_NO_INDEX}{_ONWARD.format(target)}'
    return _page(
        head, title, links, f'<p>{title}: <a href="{target}">{headline(record.title)}</a></p>'
    )


def _choice(head: str, name: str, url: str, records: Sequence[Record]) -> str:
    items = "".join(
        (
            f'<li><a href="{escape(relative(url, url_of(record)))}">{escape(record.id)}</a> '
            f"{headline(record.title)}</li>"
        )
        for record in records
    )
    heading = counted("redirect.means", len(records), name=escape(name))
    title = word("redirect.several", name=escape(name))
    return _page(head, title, _NO_INDEX, f"<h1>{heading}</h1><ul>{items}</ul>")
