"""Writes what the site has beside pages: records as data for scripts and programs, feeds, what robots ask for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence, Set
from html import escape
from pathlib import Path

from orbit_registry.records.record import Record
from orbit_registry.site import explorer, feeds, finder
from orbit_registry.site.memo import Made, Memo, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.rows import rows_by_id
from orbit_registry.site.urls import relative
from orbit_registry.site.views import Relations, listing
from orbit_registry.store.votes import half_life_days

RECORDS, SNAPSHOT = "records.json", "snapshot.duckdb"
SITEMAP, ROBOTS = "sitemap.xml", "robots.txt"


def write_data(
    out: Output,
    records: Sequence[Record],
    relations: Relations,
    title: str,
    base_url: str | None,
    same: Set[str],
) -> None:
    """Write the records as data and as feeds; those whose ids are in `same` are as the last build wrote them."""
    out.write(explorer.DATA, explorer.data(records, half_life_days(), out.read(explorer.DATA), same))
    out.write(feeds.ATOM, feeds.atom(records, title, base_url))
    out.write(feeds.JSON_FEED, feeds.json_feed(records, title, base_url))
    held = rows_by_id(out.read(RECORDS))
    rows = (
        (held.get(one.id) if one.id in same else None) or json.dumps(listing(one, relations), ensure_ascii=False)
        for one in records
    )
    out.write(RECORDS, '{"records": [\n' + ",\n".join(rows) + "\n]}\n")


def write_search(out: Output, memo: Memo, records: Sequence[Record], lead: Callable[[Record], str]) -> None:
    """Write what the search box finds records by; `lead` is how a record's text begins."""
    # What the generator made a page of, its own search finds.
    entries = [finder.entry(one, lead(one)) for one in records if one.page is None]
    key = key_of(entries)
    known = memo.fresh(finder.DATA, key, lambda *_: "")
    if known is not None and all(map(out.keep, (finder.DATA, finder.TERMS, finder.ROWS))):
        return
    for path, text in finder.files(entries):
        out.write(path, text)
    memo.put(finder.DATA, Made(key, finder.DATA))


def write_snapshot(out: Output, export: Callable[[Path], object]) -> None:
    """Write the database for download, which `export` makes as a file."""
    with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
        file = Path(folder) / SNAPSHOT
        export(file)
        out.write(SNAPSHOT, file.read_bytes())


def write_for_robots(out: Output, places: Set[str], base_url: str | None) -> None:
    """Write what search engines look for; a sitemap needs the address of the site, and `places` are its pages."""
    lines = ["User-agent: *", "Allow: /"]
    if base_url:
        top = base_url.rstrip("/") + "/"
        entries = "".join(
            f"<url><loc>{escape(top + relative('', url).removeprefix('.'))}</loc></url>\n" for url in sorted(places)
        )
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        out.write(SITEMAP, f"{head}{entries}</urlset>\n")
        lines.append(f"Sitemap: {top}{SITEMAP}")
    if ROBOTS not in out.after:  # the repository's own is kept
        out.write(ROBOTS, "\n".join(lines) + "\n")
