"""Build of a lake's site: lists over all, then each repository that changed, then the search."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from orbit_fleet.collect import lake_cache
from orbit_fleet.database import open_lake
from orbit_fleet.lake import Lake, Repository
from orbit_fleet.search import weighed
from orbit_fleet.site.ground import Ground, ground
from orbit_fleet.site.lists import (
    AREAS,
    ListPage,
    Overview,
    feed_records,
    list_pages,
    names_in,
    navigation,
    overview_of,
)
from orbit_fleet.site.places import REPOSITORIES, Places, repository_url, root_map
from orbit_fleet.site.repository import member_of, pages_of
from orbit_registry.model.kind import KindTable, load_kinds
from orbit_registry.search.text import terms as terms_of
from orbit_registry.site import feeds
from orbit_registry.site.frame import Frames
from orbit_registry.site.language import ENGLISH, choose, status_word
from orbit_registry.site.output import MANIFEST, Output, SiteResult, open_output, refuse_links
from orbit_registry.site.page import SitePage
from orbit_registry.site.prose import TextOrigin, part_of, render
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.record_page import templates_digest
from orbit_registry.site.sanitize import clean
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.twins import INDEX, TwinLinks, twin_path
from orbit_registry.site.urls import file_of, linked, site_address
from orbit_registry.site.words import status_css
from orbit_registry.snapshot.export import duckdb, quoted
from orbit_registry.workspace.lock import locked

BUILT = "built.json"
"""Which state of each repository the site has."""
LOT = 500
"""Records in a file of those that a search shows."""
FEW = 8
"""So many repositories are written faster by one process."""
_DAY_CELL = re.compile(r"<td>([0-9]{4}-[0-9]{2}-[0-9]{2})</td>")
"""A cell that is a day, which is never broken over two lines."""
SEARCH = "search/parts/"
SEARCH_SQL = Path(__file__).with_name("search.sql")


def build_fleet_site(lake: Lake, out: Path, title: str, base_url: str | None = None) -> SiteResult:
    """Write the site of a lake to a folder; only repositories that changed are written again."""
    started = time.perf_counter()
    lake.check()
    choose(ENGLISH)
    address = site_address(base_url) if base_url else None
    kinds = load_kinds()
    cache = lake_cache(lake) / "site"
    with locked(cache / "build.lock", wait=600):
        known = lake.repositories()
        names = names_in(lake)
        states = [each for each in known if each.repository in names]
        base = ground(cache, title, navigation(), _depths(names), address)
        root = open_output(out)
        job = _Job(lake.given, out, base.frames, title, address)
        keys = {"": _common(kinds, base, job, known)}
        common = _common(kinds, base, job)
        keys.update((each.repository, f"{each.digest} {common}") for each in states)

        before = _built(out)
        written = _Written()
        if all(_is_built(out, before, name, key) for name, key in keys.items()):
            written.built = before
        else:
            root.begin()
            written = _write_repositories(job, states, keys, before)
            overview = overview_of(lake, kinds, title, names)
            _write_lists(root, overview, base, root_map(kinds), address)
            _write_search(root, lake, overview.places, kinds)
            pages = sum(path.endswith(".html") for path in root.after)
            written.built[""] = {"key": keys[""], "pages": pages}
            root.write(BUILT, json.dumps(written.built, indent=0))
            written.removed += root.finish()

    return SiteResult(
        out=out,
        pages=sum(each["pages"] for each in written.built.values()),
        written=root.written + written.files,
        unchanged=root.unchanged,
        removed=written.removed,
        diagnostics=(),
        seconds=time.perf_counter() - started,
        config=None,
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """What each repository's pages need, in whichever process they are made."""

    lake: str
    out: Path
    frames: Frames
    title: str
    base_url: str | None


@dataclass
class _Written:
    """What became of the repositories' pages."""

    built: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The key and the number of pages of each repository."""
    files: int = 0
    removed: int = 0


def _depths(names: Iterable[str]) -> list[int]:
    """Return how deep pages are: those of areas, of a repository, of its lists and its records."""
    depths = [2]
    for name in names:
        depth = repository_url(name).count("/")
        depths += (depth, depth + 1, depth + 2)

    return depths


def _common(kinds: KindTable, base: Ground, job: _Job, states: Sequence[Repository] = ()) -> str:
    """Return a text that changes when pages of repositories in some states do."""
    common = [version("orbit-registry"), templates_digest(list(kinds)), base.key]
    common += [job.title, job.base_url or ""]
    for state in states:  # pages say on which day a repository was seen, not when
        common.append(str(replace(state, last_seen_at=state.last_seen_at[:10])))

    return hashlib.sha256("\n".join(common).encode()).hexdigest()


def _is_built(out: Path, before: Mapping[str, Mapping[str, Any]], name: str, key: str) -> bool:
    """Say whether a site has the pages of a repository, or those over all, as they would be now."""
    folder = out / repository_url(name) if name else out
    return before.get(name, {}).get("key") == key and (folder / "index.html").is_file()


def _write_repositories(
    job: _Job,
    states: Sequence[Repository],
    keys: Mapping[str, str],
    before: Mapping[str, dict[str, Any]],
) -> _Written:
    written = _Written()
    changed = []
    for state in states:
        name = state.repository
        if _is_built(job.out, before, name, keys[name]):
            written.built[name] = before[name]
        else:
            changed.append(state)

    for state, counts in zip(changed, _each(job, changed), strict=True):
        pages, files, removed = counts
        written.built[state.repository] = {"key": keys[state.repository], "pages": pages}
        written.files += files
        written.removed += removed

    for name in before.keys() - keys.keys():
        written.removed += _remove(job.out, name)

    return written


def _built(out: Path) -> dict[str, dict[str, Any]]:
    """Return which state of each repository the site has."""
    try:
        built: dict[str, dict[str, Any]] = json.loads((out / BUILT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}

    return built


def _each(job: _Job, states: Sequence[Repository]) -> Iterator[tuple[int, int, int]]:
    """Yield what was written of each repository, in the same order."""
    write = partial(_write_repository, job)
    if len(states) <= FEW:
        yield from map(write, states)
        return

    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield from pool.map(write, states)


def _write_repository(job: _Job, state: Repository) -> tuple[int, int, int]:
    """Write the pages of a repository; return how many there are, are new, and were removed."""
    folder = job.out / repository_url(state.repository)
    refuse_links(job.out, folder)
    member = member_of(Lake(job.lake), load_kinds(), state, job.title, job.base_url)
    # A folder without a manifest has the pages of repositories below this one, or none.
    is_new = not (folder / MANIFEST).is_file()
    output = Output(folder, {}) if is_new else open_output(folder)
    output.begin()
    pages = 0
    for page in pages_of(member):
        _write(output, job.frames, page, page.url.removeprefix(member.url))
        pages += 1

    removed = output.finish()
    return pages, output.written, removed


def _remove(out: Path, name: str) -> int:
    """Remove the pages of a repository that the lake has no longer."""
    folder = out / repository_url(name).rstrip("/")
    refuse_links(out, folder)
    removed = open_output(folder).finish()
    (folder / MANIFEST).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another repository's pages are below
        while folder != out / REPOSITORIES:
            folder.rmdir()
            folder = folder.parent

    return removed


def _write(output: Output, frames: Frames, page: SitePage, path: str) -> None:
    output.write(file_of(path), frames.put(page))
    output.write(twin_path(path), page.markdown.text)


def _write_lists(
    root: Output, overview: Overview, base: Ground, site: SiteMap, base_url: str | None
) -> None:
    """Write the theme's files, the pages over all repositories, and their list for agents."""
    for path, content in base.assets():
        root.write(path, content)

    lines = [f"# {overview.title}", ""]
    for page in list_pages(overview):
        _write(root, base.frames, _site_page(page, site, base_url), page.url)
        lines.append(f"- [{page.title}]({linked(base_url, '', twin_path(page.url))})")

    root.write(INDEX, "\n".join([*lines, ""]))
    newest = list(feed_records(overview))
    for path, text in feeds.files(newest, overview.title, base_url, lambda record: record.prose):
        root.write(path, text)


def _site_page(page: ListPage, site: SiteMap, base_url: str | None) -> SitePage:
    part = part_of(page.text)
    prose = render(part, TextOrigin("index.md", 1, page.url), site)
    links = TwinLinks(page.url, base_url)
    text = links.page(markdown_of(part, prose, links.address))
    listed = (AREAS,) if page.url.startswith(AREAS) else ()
    html = _DAY_CELL.sub(r"<td><time>\1</time></td>", clean(prose.html))
    return SitePage(page.url, page.title, html, markdown=text, listed=listed)


def _write_search(root: Output, lake: Lake, places: Places, kinds: KindTable) -> None:
    """Write the index of the search: words by how they begin, and records in lots."""
    with open_lake(lake) as connection:
        _fill_named(connection)
        connection.execute(weighed(SEARCH_SQL.read_text("utf-8")))
        names = []
        for (start,) in connection.execute("FROM starts").fetchall():
            part = connection.execute(f"FROM part({quoted(start)})").fetchone()
            assert part is not None
            names.append(start.encode().hex())
            root.write(f"{SEARCH}{names[-1]}.json", part[0])

        count = connection.execute("SELECT count(*) FROM documents").fetchone()
        about = {"count": count[0] if count else 0, "parts": names}
        root.write(f"{SEARCH}about.json", json.dumps(about))

        columns = "repository, id, title, kind, status, sentence"
        documents = connection.execute(f"SELECT {columns} FROM documents ORDER BY number")
        number = 0
        while rows := documents.fetchmany(LOT):
            lot = [_hit(row, places, kinds) for row in rows]
            root.write(f"{SEARCH}lot-{number}.json", json.dumps(lot, ensure_ascii=False))
            number += 1


def _fill_named(connection: duckdb.DuckDBPyConnection) -> None:
    """Make a table of the terms of ids and of repositories' names, which no text has."""
    sql = "SELECT DISTINCT unnest([id, repository]) FROM records"
    names, terms = [], []
    for (name,) in connection.execute(sql).fetchall():
        for term in dict.fromkeys(terms_of(name)):
            names.append(name)
            terms.append(term)

    table = "CREATE TEMPORARY TABLE named AS SELECT unnest($names) AS name, unnest($terms) AS term"
    connection.execute(table, {"names": names, "terms": terms})


def _hit(row: Sequence[str], places: Places, kinds: KindTable) -> list[str]:
    """Return what a search shows of a record."""
    repository, record_id, title, kind, name, sentence = row
    status = kinds[kind].status(name)
    url = places.record(repository, record_id)
    look = [status_word(status), status_css(status)]
    return [repository, record_id, title, url, *look, sentence]
