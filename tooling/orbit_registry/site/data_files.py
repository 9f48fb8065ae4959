"""Files of a site besides pages: feeds, the data of the search box and of the explorer, the list of
records, the database, and what robots read.
"""

import json
import tempfile
from collections.abc import Sequence, Set
from functools import partial
from html import escape
from pathlib import Path

from orbit_registry.model.rank import rank_order
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.texts import texts_of
from orbit_registry.site import explorer, feeds, search_data
from orbit_registry.site.documents import ProseLoader
from orbit_registry.site.home import RECORDS
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.published import Published
from orbit_registry.site.record_page import LOG_FILE
from orbit_registry.site.search_data import Section
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import in_log, listing

SNAPSHOT, SITEMAP, ROBOTS = "snapshot.duckdb", "sitemap.xml", "robots.txt"


def write_data(
    data: Published,
    pages: PageCache,
    generated: Path,
    urls: Set[str],
    documents: Sequence[Section],
) -> None:
    """Write every such file; `urls` are the pages of the site, `documents` the sections of
    mirrored documents.
    """
    context, out, records = data.context, pages.out, data.records

    if data.has_database:
        _write_database(data, pages)

    title, base_url = context.sources.title, context.base_url
    for path, text in feeds.files(records, title, base_url, partial(_sentence, data)):
        out.write(path, text)

    _write_search(data, pages, generated, documents)

    if "paths/index.md" in context.sources.curated:
        out.write(explorer.DATA, explorer.data(records, half_life_days(), data.routes))

    for index in data.indexes.values():
        folder = f"{index.kind.plural}/"
        log = [list(in_log(each, folder).values()) for each in data.relations.log(index.kind)]
        if log:
            out.write(f"{folder}{LOG_FILE}", json.dumps(log, ensure_ascii=False))

    rows = (listing(record, data.relations) for record in records)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    out.write(RECORDS, '{"records": [\n' + ",\n".join(lines) + "\n]}\n")
    _write_for_robots(data, out, urls)


def _sentence(data: Published, record: Record) -> str:
    return data.relations.sentences[record.path]


def _write_database(data: Published, pages: PageCache) -> None:
    context = data.context
    stamps = {record.path: data.loader.stamp(record) for record in context.collection.records}
    doubts = {path: str(freshness) for path, freshness in context.freshness.items()}
    pages.page(SNAPSHOT, [stamps, doubts, context.citing], partial(_database, context.registry))


def _database(registry: Registry) -> Content:
    from orbit_registry.snapshot.export import export_snapshot  # most builds write none

    with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
        file = Path(folder) / SNAPSHOT
        export_snapshot(registry.workspace, file, reading=registry.reading)
        return Content(file.read_bytes())


def _write_search(
    data: Published, pages: PageCache, generated: Path, documents: Sequence[Section]
) -> None:
    """Write what the search box reads: records in the order of equal hits, and sections of
    pages.
    """
    half_life = half_life_days()
    records = sorted(data.records, key=lambda record: rank_order(record, half_life))
    lists = {page.url for page in data.context.sources.empty.values()}
    mirrored = {document.url for document in data.context.sources.documents}
    excluded = lists | mirrored | data.adopted.keys()
    sections = [*search_data.sections_of(generated, excluded), *documents]
    pages.out.write(search_data.TITLES, search_data.titles(records, data.relations.successors))

    digests = {record.path: data.written[record.path].digest for record in records}
    counts = {}
    for record in records:
        # Counting the words of 1,000 decisions takes 0.6 of 2.5 s of a build after one edit.
        counts[record.path] = pages.value(
            f"{record.path} words", digests[record.path], partial(_counts, data.loader, record)
        )

    key = [[*digests.items()], key_of(sections)]
    pages.page(
        search_data.WORDS, key, lambda: Content(search_data.words(records, counts, sections))
    )


def _counts(loader: ProseLoader, record: Record) -> list[search_data.Packed]:
    return [search_data.packed(text) for text in texts_of(loader.with_full_prose(record))]


def _write_for_robots(data: Published, out: Output, urls: Set[str]) -> None:
    base_url = data.context.base_url
    lines = ["User-agent: *", "Allow: /"]
    if base_url:  # which a sitemap needs
        top = base_url.rstrip("/") + "/"
        out.write(SITEMAP, _sitemap(data, top, urls))
        lines.append(f"Sitemap: {top}{SITEMAP}")

    if ROBOTS not in out.after:  # the repository's own is kept
        out.write(ROBOTS, "\n".join(lines) + "\n")


def _sitemap(data: Published, top: str, urls: Set[str]) -> str:
    changed = {url_of(record): record.text("updated_at") for record in data.records}
    entries = ""
    for url in sorted(urls):
        address = top + relative("", url).removeprefix(".")
        changed_at = changed.get(url)
        modified = f"<lastmod>{escape(changed_at)}</lastmod>" if changed_at else ""
        entries += f"<url><loc>{escape(address)}</loc>{modified}</url>\n"

    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset '
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    )
    return f"{head}{entries}</urlset>\n"
