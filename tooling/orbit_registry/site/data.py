"""Data files: `records.json`, `paths.json`, `snapshot.duckdb`, `sitemap.xml`, `robots.txt`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence, Set
from html import escape
from pathlib import Path

from orbit_registry.model.record import Record
from orbit_registry.repository.votes import half_life_days
from orbit_registry.site import explorer
from orbit_registry.site.output import Output
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import Relations, listing

RECORDS, SNAPSHOT = "records.json", "snapshot.duckdb"
SITEMAP, ROBOTS = "sitemap.xml", "robots.txt"


def write_records(out: Output, records: Sequence[Record], relations: Relations) -> None:
    """Write the records as data: for scripts and programs, and for the path explorer."""
    out.write(explorer.DATA, explorer.data(records, half_life_days()))
    lines = (json.dumps(listing(record, relations), ensure_ascii=False) for record in records)
    out.write(RECORDS, '{"records": [\n' + ",\n".join(lines) + "\n]}\n")


def made_by(export: Callable[[Path], object]) -> bytes:
    """Return the bytes of a file that `export` writes."""
    with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
        file = Path(folder) / SNAPSHOT
        export(file)
        return file.read_bytes()


def write_for_robots(out: Output, places: Set[str], base_url: str | None, records: Iterable[Record]) -> None:
    """Write what search engines look for; a sitemap needs the address of the site, and `places` are its pages.

    Of the pages of `records` it says when what they show was changed last.
    """
    lines = ["User-agent: *", "Allow: /"]
    if base_url:
        top = base_url.rstrip("/") + "/"
        changed = {url_of(record): record.text("updated_at") for record in records}
        entries = "".join(
            f"<url><loc>{escape(top + relative('', url).removeprefix('.'))}</loc>"
            f"{f'<lastmod>{escape(changed_at)}</lastmod>' if (changed_at := changed.get(url)) else ''}</url>\n"
            for url in sorted(places)
        )
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        out.write(SITEMAP, f"{head}{entries}</urlset>\n")
        lines.append(f"Sitemap: {top}{SITEMAP}")
    if ROBOTS not in out.after:  # the repository's own is kept
        out.write(ROBOTS, "\n".join(lines) + "\n")
