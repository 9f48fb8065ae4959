"""What the pages are made from: the records that are shown, and all that is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple, cast

from orbit_registry.matching.routes import Routes
from orbit_registry.matching.sync import inputs_of
from orbit_registry.matching.visibility import Visibility, surroundings_of, visibilities
from orbit_registry.model.diagnostic import Location
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import FilesByGlob, files_of_scopes
from orbit_registry.seams import load, targets
from orbit_registry.site.documents import ProseLoader, adjacent_documents
from orbit_registry.site.edits import edits_of
from orbit_registry.site.explorer import unshown
from orbit_registry.site.groups import Groups, groups_of
from orbit_registry.site.home import Home, home_of
from orbit_registry.site.lists import Index
from orbit_registry.site.memo import PageCache
from orbit_registry.site.mentions import citers_of, references_by
from orbit_registry.site.relations import Relations
from orbit_registry.site.search_data import line_of
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.stage import BuildContext
from orbit_registry.site.views import card_html, cited_urls
from orbit_registry.snapshot.references import References
from orbit_registry.snapshot.rows import RouteRows, route_rows

MOST_FILES = 20  # of those that a glob matches, on a record's page


class Written(NamedTuple):
    """What is known of a record's text while neither the record nor its file changes."""

    digest: str
    """A hash of the record and of all that its page says of the text: of an entry of a log it stays
    when another one is edited.
    """
    above: int
    """The lines above the text in its file, where findings count theirs from."""
    references: References


@dataclass(frozen=True, slots=True)
class Published:
    """The records of a site and what relates them; every page is made from this."""

    context: BuildContext
    loader: ProseLoader
    written: Mapping[str, Written]
    """By the record's path."""
    relations: Relations
    groups: Groups
    home: Home
    indexes: Mapping[str, Index]
    """By kind."""
    visibility: Mapping[str, Visibility]
    """Where agents are shown each record, the same for every reader."""
    routes: RouteRows
    """What the files of the repository import and cite of records; see `route_rows`."""
    adjacent: Mapping[str, tuple[str, str]]
    """The documents before and after each, by its URL."""
    origins: Mapping[str, Location]
    """The source of each page that shows a record or a document, by its URL."""
    adopted: Mapping[str, Record]
    """The records that the repository's own pages show, by the URL of the page."""
    has_console: bool
    has_database: bool

    @property
    def is_trusted(self) -> bool:
        """Whether the repository's own pages may load and run what they like: MkDocs runs their
        code anyway.
        """
        config = self.context.sources.user_config
        return config is not None and config.is_trusted

    @property
    def records(self) -> Sequence[Record]:
        """The records that the site shows."""
        return self.context.records

    @property
    def site(self) -> SiteMap:
        """Where everything is on the site."""
        return self.context.sources.site

    @property
    def overlooked(self) -> str:
        """How many live records no edit shows, in a sentence; empty for none."""
        return "; ".join(unshown(self.records, self.visibility))

    @property
    def listed(self) -> list[str]:
        """The files of the repository that the site may name."""
        return listed_files(self.context)


def published(
    context: BuildContext, pages: PageCache, *, has_console: bool, has_database: bool
) -> Published:
    """Return what the pages of a staged site are made from; `pages` remembers what is costly."""
    sources, records = context.sources, context.records
    loader = sources.loader
    site = sources.site
    written = {record.path: _written(record, loader, site, pages) for record in records}
    relations = _relations(context, written, pages)
    by_url = {url_of(record): record for record in records}
    sources.site.preview = cache(partial(_card, by_url, relations.sentences))

    edits = edits_of(sources.publication, records)
    indexes = {}
    for kind in sources.kinds:
        same = [record for record in records if record.kind.name == kind.name]
        indexes[kind.name] = Index(kind, same)

    adopted = {url: record for url, record in by_url.items() if record.page is not None}
    return Published(
        context,
        loader,
        written,
        relations,
        groups_of(records),
        home_of(records, relations, edits),
        indexes,
        *_reach(context),
        adjacent_documents(sources.documents, context.staged.titles),
        _origins(context),
        adopted,
        has_console,
        has_database,
    )


def listed_files(context: BuildContext) -> list[str]:
    """Return the files of the repository that the site may name."""
    leaves_out = context.sources.publication.leaves_out
    return [path for path in context.sources.site.listed or () if not leaves_out(path)]


def cards_html(site: SiteMap, html: str, page: str) -> str:
    """Return the previews of the records that a page cites."""
    cards = "".join(site.preview(url) for url in cited_urls(html, page))
    if cards:
        return f'<div class="orbit-cards" hidden>{cards}</div>'

    return ""


def _origins(context: BuildContext) -> dict[str, Location]:
    origins = {}
    for document in context.sources.documents:
        origins[document.url] = Location(document.path)

    for record in context.records:
        origins[url_of(record)] = Location(record.source.path if record.source else record.path)

    return origins


def _card(by_url: Mapping[str, Record], sentences: Mapping[str, str], url: str) -> str:
    record = by_url.get(url)
    if record:
        return card_html(record, url, sentences.get(record.path, ""))

    return ""


def _relations(
    context: BuildContext, written: Mapping[str, Written], pages: PageCache
) -> Relations:
    records, site = context.records, context.sources.site
    citers = citers_of(
        records,
        lambda record: written[record.path].references,
        context.citing,
        site,
        context.staged.titles,
    )
    return Relations(
        records,
        context.freshness,
        due=context.due,
        built=context.built,
        citers=citers,
        matches=_matches(context, pages),
        checks=_checks(context),
        sentences={path: text.references.sentence for path, text in written.items()},
    )


def _written(record: Record, loader: ProseLoader, site: SiteMap, pages: PageCache) -> Written:
    def read() -> Written:
        text = loader.text(record)
        names = references_by(text, site.forms, line_of(record, text.text))
        return Written(loader.digest(record, text), text.first_line - 1, names)

    digest, above, row = pages.value(record.path, loader.stamp(record), read)
    return Written(digest, above, References.from_row(row))


def _matches(context: BuildContext, pages: PageCache) -> Mapping[str, FilesByGlob]:
    """Return the files that the records' scopes match, as far as the site may name them."""
    files = listed_files(context)
    scopes = {record.path: record.globs for record in context.records if record.globs}
    matches = pages.value(
        "matches", [scopes, files], lambda: files_of_scopes(scopes, files, MOST_FILES)
    )
    return cast(Mapping[str, FilesByGlob], matches)


def _checks(context: BuildContext) -> dict[str, dict[str, Any]]:
    if not any("checks" in record.data for record in context.records):
        return {}

    files = [*context.citing, *context.checked]
    sources = context.sources
    shown: dict[str, dict[str, Any]] = {}
    for target in targets("checks_on_pages"):
        shown |= load(target)(sources.publication, context.records, files, sources.site)

    return shown


def _reach(
    context: BuildContext,
) -> tuple[Mapping[str, Visibility], RouteRows]:
    """Return where agents are shown each record, and what leads files to them; no withheld file
    counts.
    """
    publication = context.sources.publication
    inputs = inputs_of(publication.workspace, context.registry.reading)
    around = surroundings_of(publication.workspace, inputs)
    files = [path for path in around.files if not publication.leaves_out(path)]

    # The records of the site may lack parts of their scopes, which are not published.
    whole = {record.path: record for record in around.records}
    records = [whole.get(record.path, record) for record in context.records]
    judged = visibilities(records, replace(around, files=files, personal=(), project=""))
    visibility = {path: entry.with_text(publication.text) for path, entry in judged.items()}
    routes = Routes(around.cited, around.imported)
    return visibility, route_rows(routes, context.records, publication.leaves_out)
