"""Output pages: record pages, filled slots, redirects, lists and data files."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from html import escape, unescape
from pathlib import Path
from typing import Any, cast

from orbit_registry.errors import OrbitError
from orbit_registry.matching.visibility import (
    Visibility,
    summaries,
    surroundings_of,
    visibilities,
)
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.kind import Kind
from orbit_registry.model.rank import rank_order
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import FilesByGlob, files_of_scopes
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.texts import counts_of, texts_of
from orbit_registry.site import (
    console,
    explorer,
    feeds,
    health,
    home,
    lists,
    llms,
    search_data,
    search_page,
    timeline,
)
from orbit_registry.site import map as record_map
from orbit_registry.site.check import (
    DEAD_ANCHOR,
    FOREIGN,
    SCRIPT,
    PageFacts,
    check_pages,
    facts_of,
    located,
    merged,
)
from orbit_registry.site.code import DIAGRAM_ID
from orbit_registry.site.config import files_in
from orbit_registry.site.curated import SHELL, SHELL_DEPTHS, shell_url
from orbit_registry.site.documents import BODY as OWN
from orbit_registry.site.documents import ProseLoader, adjacent_documents, around_prose, slot
from orbit_registry.site.groups import groups_of
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.mentions import citers_of, references_by, tasks_html
from orbit_registry.site.npm import FETCHING, MERMAID, mermaid_files, mermaid_key
from orbit_registry.site.output import Output, Progress
from orbit_registry.site.prose import TextOrigin, render
from orbit_registry.site.record_page import (
    about,
    article,
    article_data,
    contents_html,
    log_html,
    record_data,
)
from orbit_registry.site.redirects import HEAD, redirect_pages
from orbit_registry.site.sanitize import Policy, policy_of, unmarked
from orbit_registry.site.search_data import line_of
from orbit_registry.site.sitemap import ASSETS, url_of
from orbit_registry.site.stage import DOCS, BuildContext
from orbit_registry.site.twins import Twin, announced, write_twins
from orbit_registry.site.urls import document_url, file_of, linked, relative
from orbit_registry.site.views import (
    Relations,
    card_html,
    cited_urls,
    document_view,
    listing,
    record_view,
)
from orbit_registry.site.words import title_of
from orbit_registry.snapshot.references import References
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text

_VERBATIM = re.compile(
    r"(<(?:pre|script|style|textarea)\b.*?</(?:pre|script|style|textarea)>)", re.DOTALL
)
_INDENTED = re.compile(r"[ \t\r]*\n\s*")
"""The theme's indentation, a quarter of a record's page;
a line's end is left, which is a space like any other.
"""
_MARK = re.compile(r"@@orbit:(title|description|address|data|toc|rail|content)@@")
_OF_PAGE = re.compile(r'<meta (?:name|property)="(description|og:title)" content="([^"]*)"')
_CONTENT = re.compile(r"<h1[^>]*>\s*@@orbit:content@@.*?</h1>", re.DOTALL)
"""The place for content where the theme renders the empty page like any other:
as a heading, so that it adds none.
"""
_EDITS = re.compile(rf"<a\b[^>]*{SHELL}/[^>]*>.*?</a>", re.DOTALL)
"""The theme's edit and view links of the empty page, which has no source."""


class ShellError(OrbitError):
    """The theme gave no page that records can be put into."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Shell:
    """The empty page of one depth: its parts, and between them the names of what is put there,
    in the theme's order.
    """

    parts: tuple[str, ...]
    order: tuple[str, ...]

    def under(self, indexes: Iterable[str]) -> Shell:
        """Return the shell with the first of some pages that the navigation links to,
        as the shell does, as current.
        """
        links = [f'<a href="{escape(index)}" class="md-nav__link">' for index in indexes]
        plain = next((link for link in links if any(link in part for part in self.parts)), links[0])
        marked = plain.replace('link">', 'link md-nav__link--active">')
        return replace(self, parts=tuple(part.replace(plain, marked) for part in self.parts))

    def page(
        self,
        url: str,
        title: str,
        content: str,
        toc: str,
        base_url: str | None,
        description: str | None = None,
        data: str = "",
        rail: str = "",
    ) -> str:
        """Return a page; `title` and `description` are text, `content`,
        `toc`, `data` and `rail` are safe HTML.
        """
        values = {
            "title": escape(title),
            "description": escape(description or title),
            "address": escape(address_of(base_url, url)),
            "data": data,
            "toc": toc,
            "rail": rail,
            "content": content,
        }

        out = [self.parts[0]]
        for mark, part in zip(self.order, self.parts[1:], strict=True):
            out += [values[mark], part]

        return "".join(out)


def address_of(base_url: str | None, url: str) -> str:
    """Return a page's address on the web; from the site's root if the site has no address."""
    return f"{base_url.rstrip('/')}/{url}" if base_url else url


def empty_pages(generated: Path) -> dict[int, str]:
    """Return the generator's empty pages by depth, as they are."""
    try:
        return {
            depth: (generated / file_of(shell_url(depth))).read_text("utf-8")
            for depth in SHELL_DEPTHS
        }
    except OSError as error:
        message = f"the generator made no empty page: {error.filename}"
        raise ShellError(
            message, hint="delete the folder `.orbit/state/cache`, then build again"
        ) from None


def shells_of(pages: dict[int, str], policy: Policy, base_url: str | None) -> dict[int, Shell]:
    """Return the shells by depth, each with its policy."""
    return {
        depth: _cut(policy.applied(html)[0], shell_url(depth), base_url)
        for depth, html in pages.items()
    }


def _cut(html: str, url: str, base_url: str | None) -> Shell:
    parted = _VERBATIM.split(html)
    parted[::2] = [_INDENTED.sub("\n", part) for part in parted[::2]]
    html = announced(_EDITS.sub("", "".join(parted)), url, base_url, "@@orbit:data@@")
    if base_url:
        html = html.replace(escape(address_of(base_url, url)), "@@orbit:address@@")

    parts = _MARK.split(_CONTENT.sub("@@orbit:content@@", html, count=1))
    if "content" not in parts[1::2]:
        raise ShellError(
            "the theme's page has no place for records",
            hint="let its templates print `page.content` where others do",
        )

    return Shell(tuple(parts[::2]), tuple(parts[1::2]))


RECORDS, SNAPSHOT = "records.json", "snapshot.duckdb"
SITEMAP, ROBOTS, NOT_FOUND = "sitemap.xml", "robots.txt", "404.html"
CARDS = slot("cards")
_SLOT = re.compile(r'<div data-orbit-slot="([a-z0-9_-]+)"></div>')
MOST_ON_A_LANDING = 8
MOST_FILES = 20  # of those that a glob matches, on a record's page
_LEFT_OUT = re.compile(rf"(?:{SHELL}/.*|sitemap\.xml(?:\.gz)?|.*\.map)\Z")
_THEMES_SEARCH = re.compile(
    r"(?:search/search_index\.json|search\.json|assets/javascripts/(?:workers|lunr)/.*)\Z"
)
"""What the theme's own search reads, which our search box replaces."""
_SEARCH_BOX = "data-orbit-search="


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was made: its text and facts, and what is wrong with it."""

    html: str
    facts: PageFacts
    diagnostics: tuple[Diagnostic, ...] = ()


class Expansion:
    """One expansion of the records and the generated pages."""

    def __init__(
        self,
        context: BuildContext,
        generated: Path,
        pages: PageCache,
        *,
        database: bool,
        console: bool,
        progress: Progress,
    ) -> None:
        """Expand `context` into the folder of `pages`;
        `console` says whether to unpack the SQL console's archives.
        """
        sources = context.sources
        self.context, self.generated, self.pages, self.out = context, generated, pages, pages.out
        self.database, self.console, self.progress = database, console, progress
        self.records, self.freshness, self.base_url = (
            context.records,
            context.freshness,
            context.base_url,
        )

        self.kinds, self.site, self.tasks = sources.kinds, sources.site, sources.tasks
        self.loader = ProseLoader(sources.publication, context.registry.reading.states)
        self.groups = groups_of(self.records)
        self.adjacent = adjacent_documents(sources.documents, context.staged.titles)
        self.by_url = {url_of(record): record for record in self.records}

        self.card = cache(self._card)
        self.site.preview = self.card
        # What the repository's own pages load and run is its own business, where MkDocs runs it
        # anyway.
        self.is_trusted = sources.user_config is not None and sources.user_config.is_trusted
        self.user_urls = frozenset(self.site.curated.values())
        self.adopted = {
            url: record for url, record in self.by_url.items() if record.page is not None
        }

        self.kind_shells: dict[tuple[str, int], Shell] = {}
        self.facts: dict[str, PageFacts] = {}
        self.origins: dict[str, Location] = {}
        self.diagnostics: list[Diagnostic] = []

    def run(self) -> list[Diagnostic]:
        """Write every page and return what is wrong with them."""
        empty = empty_pages(self.generated)
        self.has_search_box = all(_SEARCH_BOX in html for html in empty.values())
        shell = merged(facts_of(html, "") for html in empty.values())
        self.policy = policy_of(empty.values(), shell.foreign if self.is_trusted else ())
        self.shells = shells_of(empty, self.policy, self.base_url)

        self.shell_key = key_of(sorted(empty.items()), self.base_url, self.is_trusted)
        self._record_pages()
        self._generated_files()
        self._lists()
        onward = redirect_pages(self.records, self.base_url, self.policy.applied(HEAD)[0])

        for url, page in onward.items():
            self._write(url, Page(page, facts_of(page, url)))

        self._assets()
        places = self.facts.keys() - onward.keys()
        self._data(places)
        self._for_agents(places)
        wrong = check_pages(self.facts, set(self.out.after), self.origins, shell)
        wrong = [
            self._located(problem)
            for problem in wrong
            if problem.code != FOREIGN or not self.is_trusted
        ]

        return [*self.pages.diagnostics, *self.diagnostics, *wrong]

    @cached_property
    def relations(self) -> Relations:
        """Relations of the shown records."""
        context = self.context
        citers = citers_of(
            self.records, self._references, context.citing, self.site, context.staged.titles
        )
        return Relations(
            self.records,
            self.freshness,
            due=context.due,
            built=context.built,
            citers=citers,
            matches=self._matches(),
            checks=self._checks(),
            sentences={record.path: self._sentence(record) for record in self.records},
        )

    def _checks(self) -> dict[str, dict[str, Any]]:
        if not any("checks" in record.data for record in self.records):
            return {}

        from orbit_registry.site.enforced import checks_by_record  # few collections have checks

        return checks_by_record(
            self.context.sources.publication,
            self.records,
            [*self.context.citing, *self.context.checked],
            self.site,
        )

    def _matches(self) -> Mapping[str, FilesByGlob]:
        """Return the files that the records' scopes match, as far as the site may name them."""
        leaves_out = self.context.sources.publication.leaves_out
        files = [path for path in self.site.listed or () if not leaves_out(path)]
        scopes = {record.path: record.globs for record in self.records if record.globs}

        return cast(
            Mapping[str, FilesByGlob],
            self.pages.value(
                "matches", [scopes, files], lambda: files_of_scopes(scopes, files, MOST_FILES)
            ),
        )

    @cached_property
    def indexes(self) -> Mapping[str, lists.Index]:
        """The indexes, by kind."""
        return {
            kind.name: lists.Index(
                kind, [record for record in self.records if record.kind.name == kind.name]
            )
            for kind in self.kinds
        }

    @cached_property
    def visibility(self) -> Mapping[str, Visibility]:
        """Where agents are shown each record, the same for every reader; no withheld file
        counts.
        """
        publication = self.context.sources.publication
        around = surroundings_of(publication.workspace)
        files = [path for path in around.files if not publication.leaves_out(path)]

        # The records of the site may lack parts of their scopes, which are not published.
        whole = {record.path: record for record in around.records}
        records = [whole.get(record.path, record) for record in self.records]
        judged = visibilities(records, replace(around, files=files, personal=(), project=""))
        return {path: entry.with_text(publication.text) for path, entry in judged.items()}

    @cached_property
    def overlooked(self) -> str:
        """How many live records no edit shows, in a sentence; empty for none."""
        return "; ".join(summaries(self.records, self.visibility))

    def _references(self, record: Record) -> References:
        def read() -> References:
            text = self.loader.text(record)
            return references_by(text, self.site.forms, line_of(record, text.text))

        return References.from_row(self.pages.value(record.path, self.loader.stamp(record), read))

    def _sentence(self, record: Record) -> str:
        return self._references(record).sentence

    def _card(self, url: str) -> str:
        record = self.by_url.get(url)
        return card_html(record, url, self._sentence(record)) if record else ""

    def _cards(self, html: str, page: str) -> str:
        cards = "".join(map(self.card, cited_urls(html, page)))
        return f'<div class="orbit-cards" hidden>{cards}</div>' if cards else ""

    def _lists(self) -> None:
        for index in self.indexes.values():
            title = index.kind.labels
            later = enumerate([*index.pages][1:], start=2)
            pages = {
                url: (f"{title}, page {n}", index.html(url, self.relations, self.site))
                for n, url in later
            }
            if index.timed:
                url = timeline.url(index.kind)
                content = index.switch(url) + timeline.timeline_html(index.kind, index.records)
                pages[url] = f"{title}: timeline", content

            for url, (name, content) in pages.items():
                self._write(
                    url, self._listed(index.kind, url, name, f"<h1>{escape(name)}</h1>{content}")
                )

        for page in self.groups.pages(self.kinds):
            self._write(page.url, self._listed(page.kind, page.url, page.title, page.html))

    def _located(self, diagnostic: Diagnostic) -> Diagnostic:
        if diagnostic.code != DEAD_ANCHOR:
            return diagnostic

        try:
            return located(
                diagnostic,
                read_text(self.site.root / diagnostic.location.path, limit=DOCUMENT_LIMIT),
            )
        except OrbitError:
            return diagnostic

    def _write(self, url: str, page: Page) -> None:
        self.out.write(file_of(url), page.html)
        self.diagnostics += page.diagnostics
        if url != NOT_FOUND:
            self.facts[url] = page.facts

    def _record_pages(self) -> None:
        for number, record in enumerate(self.records, start=1):
            url = url_of(record)
            self.origins[url] = Location(record.source.path if record.source else record.path)

            if record.page is None:
                view = record_view(record, url, self.relations, self.site, self.groups)
                key = [self.shell_key, self.loader.stamp(record), view]
                make = partial(self._record_page, record, url, view)
                ids, targets, foreign = self.pages.page(file_of(url), key, make)
                self.facts[url] = PageFacts(frozenset(ids), tuple(targets), tuple(foreign))

            self.progress("pages", number, len(self.records))

    def _record_page(self, record: Record, url: str, view: dict[str, Any]) -> Content:
        text = self.loader.text(record)
        prose = render(
            text.text, TextOrigin(text.path, text.first_line, url, record.id), self.site, top=2
        )
        content = article(record.kind, view, prose.html)
        content += self._cards(content, url)
        toc = contents_html(prose.headings)

        summary = unmarked(record.text("summary") or "")
        description = summary or self._sentence(record) or title_of(record)
        data = self._described(url, title_of(record), description, record)
        html = self._shell(record.kind, url.count("/")).page(
            url,
            f"{record.id} {title_of(record)}",
            content,
            toc,
            self.base_url,
            description,
            data,
            log_html(record.kind, view),
        )
        facts = facts_of(content, url)
        value = [sorted(facts.ids), list(facts.targets), list(facts.foreign)]

        return Content(html, value, self.loader.findings(record, prose.diagnostics))

    def _described(self, url: str, title: str, description: str, record: Record | None) -> str:
        home = {"name": self.context.sources.title, "url": self.base_url or ""}
        address = linked(self.base_url, url, url) if self.base_url else None
        more = record_data(record) if record else {}

        return article_data(
            title,
            description,
            {name: value for name, value in home.items() if value},
            address,
            **more,
        )

    def _shell(self, kind: Kind, depth: int) -> Shell:
        """Return the shell of a depth with the kind's index, or its folded group,
        as current in the navigation.
        """
        if (kind.name, depth) not in self.kind_shells:
            group = [
                other
                for other in self.context.sources.kinds
                if other.in_document == kind.in_document
            ]
            indexes = (
                relative(shell_url(depth), f"{other.plural}/") for other in (kind, *group[:1])
            )
            self.kind_shells[kind.name, depth] = self.shells[depth].under(indexes)

        return self.kind_shells[kind.name, depth]

    def _generated_files(self) -> None:
        pages = {document.url: document.path for document in self.context.sources.documents}
        for file in sorted(path for path in self.generated.rglob("*") if path.is_file()):
            path = file.relative_to(self.generated).as_posix()
            if _LEFT_OUT.match(path) or (self.has_search_box and _THEMES_SEARCH.match(path)):
                continue
            if not path.endswith(".html"):
                self.out.write(path, file.read_bytes())
                continue

            url = (
                path.removesuffix("index.html")
                if path.endswith("/index.html") or path == "index.html"
                else path
            )

            html = file.read_text("utf-8", "replace")

            if url in pages:
                self.origins[url] = Location(pages[url])

            self._write(url, self._filled(html, url))

    def _filled(self, html: str, url: str) -> Page:
        empty = html
        if record := self.adopted.get(url):
            view = record_view(record, url, self.relations, self.site, self.groups)
            html = around_prose(html, article(record.kind, view, OWN))
        filled = _SLOT.sub(
            lambda slot: self._slot(slot[1], url), html.replace(CARDS, self._cards(html, url))
        )
        return self._under_policy(url, filled, empty)

    def _under_policy(self, url: str, html: str, empty: str = "") -> Page:
        """Return a page with its policy; `empty` is what the generator made of it."""
        if url != NOT_FOUND:
            html = announced(html, url, self.base_url, self._data_of_page(html, url))
        if self.is_trusted and url in self.user_urls:
            return Page(html, replace(facts_of(html, url), foreign=()))

        policy = self.policy.allowing(empty) if self.is_trusted else self.policy
        page, refused = policy.applied(html, compiled=url == console.PAGE and self.console)
        where = self.origins.get(url, Location(url or "index.html"))
        messages = (
            f"an inline script will not run: {' '.join(code.split())[:60]}" for code in refused
        )
        problems = (
            Diagnostic(SCRIPT, Severity.WARNING, message, where, "move it to a file")
            for message in messages
        )

        return Page(page, facts_of(page, url), tuple(problems))

    def _data_of_page(self, html: str, url: str) -> str:
        """Return the JSON-LD of a document or of one of the repository's own pages,
        "" for other pages.
        """
        if url not in self.origins and url not in self.user_urls:
            return ""
        metadata = {name: unescape(text) for name, text in _OF_PAGE.findall(html)}
        title = metadata.get("og:title", self.context.sources.title)
        return self._described(url, title, metadata.get("description", ""), self.adopted.get(url))

    def _slot(self, name: str, url: str) -> str:
        records, documents = self.records, self.context.sources.documents
        match name:
            case "paths":
                scoped = any(record.globs for record in records)
                most = MOST_ON_A_LANDING
                return explorer.box(url, records, self.overlooked, most) if scoped else ""
            case "explorer":
                return explorer.page_html(records, self.overlooked)
            case "console":
                return console.page_html(records, works=self.console, database=self.database)
            case "search":
                return search_page.page_html(self.context.sources.kinds)
            case "map":
                return record_map.map_html(records, self.relations)
            case "counts":
                return lists.counts_html(self.indexes.values(), self.freshness, url)
            case "home":
                files = [RECORDS, SNAPSHOT] if self.database else [RECORDS]
                decided = home.decided_html(records, self.relations, url)
                lately = home.lately_html(records, self.relations, url, files)
                return f'<div class="orbit-home">{decided}{lately}</div>'
            case "about":
                path = self.origins[url].path
                return about(
                    *document_view(path, url, self.adjacent[url], self.relations, self.site)
                )
            case "tasks":
                return tasks_html(self.tasks, self.site)
            case "documents":
                return lists.documents_html(documents, self.context.staged.titles, url)
            case "enforced":
                from orbit_registry.site.enforced import enforced_html

                return enforced_html(self.context.sources.publication, records)
            case "health":
                # A file that can't be read may be one whose name is withheld.
                publication = self.context.sources.publication
                problems = () if publication.is_active else self.context.problems
                today = self.relations.today
                coverage = health.coverage_of(publication, records)
                return health.health_html(
                    records, problems, self.freshness, today, coverage, self.visibility
                )

        index = self.indexes.get(name.removeprefix("index-"))
        return (
            index.html(f"{index.kind.plural}/", self.relations, self.site)
            if index is not None
            else ""
        )

    def _listed(self, kind: Kind | None, url: str, title: str, content: str) -> Page:
        shell = self._shell(kind, url.count("/")) if kind else self.shells[url.count("/")]
        return Page(shell.page(url, title, content, "", self.base_url), facts_of(content, url))

    def _assets(self) -> None:
        for path in sorted(self.site.assets):
            self.out.write(ASSETS + path, (self.site.root / path).read_bytes())
        if self.console:
            self._write_lazily(console.FILES, console.VERSION, console.unpacked)
        if any(f"{DIAGRAM_ID}1" in facts.ids for facts in self.facts.values()):
            self._diagrams()

    def _diagrams(self) -> None:
        """Write what draws diagrams; nothing is fetched or unpacked if the last build did."""
        allowed = self.context.registry.workspace.config.site.get("diagrams", True)
        problems: list[Diagnostic | None] = []

        @cache
        def files() -> Mapping[str, bytes]:
            if allowed and not MERMAID.path.is_file():
                self.progress(FETCHING, 0, 1)
            contents, problem = mermaid_files(allowed=allowed)
            problems.append(problem)
            return contents

        names = self.pages.value("diagrams", [allowed, mermaid_key()], lambda: sorted(files()))
        self._write_lazily(names, [MERMAID.sha512, len(names)], files)
        self.diagnostics += filter(None, problems)

    def _write_lazily(
        self,
        paths: Iterable[str],
        key: object,
        make: Callable[[], Mapping[str, str] | Mapping[str, bytes]],
    ) -> None:
        contents = cache(make)
        for path in paths:
            self.pages.page(path, key, partial(lambda path: Content(contents()[path]), path))

    def _data(self, places: Set[str]) -> None:
        records = self.records

        if self.database:
            stamps = {
                record.path: self.loader.stamp(record) for record in self.context.collection.records
            }
            doubts = {path: str(freshness) for path, freshness in self.freshness.items()}
            self.pages.page(SNAPSHOT, [stamps, doubts, self.context.citing], self._snapshot)

        for path, text in feeds.files(
            records, self.context.sources.title, self.base_url, self._sentence
        ):
            self.out.write(path, text)

        self._search_data()

        if "paths/index.md" in self.context.sources.curated:
            self.out.write(explorer.DATA, explorer.data(records, half_life_days()))

        lines = (
            json.dumps(listing(record, self.relations), ensure_ascii=False) for record in records
        )
        self.out.write(RECORDS, '{"records": [\n' + ",\n".join(lines) + "\n]}\n")
        _write_for_robots(self.out, places, self.base_url, records)

    def _search_data(self) -> None:
        """Write what the search box reads: records in the order of equal hits,
        and sections of pages.
        """
        half_life = half_life_days()
        records = sorted(self.records, key=lambda record: rank_order(record, half_life))
        sources = self.context.sources
        directories = sources.user_config is None or sources.user_config.directories
        own = (name for name in sources.curated if name not in sources.user_files)
        excluded = {
            document_url(f"{DOCS}/{name}", DOCS, directories) for name in own
        } | self.adopted.keys()
        sections = search_data.sections_of(self.generated, excluded)

        self.out.write(search_data.TITLES, search_data.titles(records, self.relations.successors))
        stamps = {record.path: self.loader.stamp(record) for record in records}

        def count(record: Record) -> list[str]:
            return [
                search_data.packed(counts_of(text))
                for text in texts_of(self.loader.with_full_prose(record))
            ]

        # Counting the words of 1,000 decisions takes 0.6 of 2.5 s of a build after one edit.
        counts = {
            record.path: self.pages.value(
                f"{record.path} words", stamps[record.path], partial(count, record)
            )
            for record in records
        }

        key = [[*stamps.items()], key_of(sections)]
        self.pages.page(
            search_data.WORDS, key, lambda: Content(search_data.words(records, counts, sections))
        )

    def _for_agents(self, urls: Set[str]) -> None:
        sources, out, records = self.context.sources, self.out, self.records
        twins = write_twins(self.pages, self.facts, urls, self.base_url, self.user_urls)
        documents = [document.url for document in sources.documents]
        sections = llms.sections_of(self._page_groups(), self.kinds, records, documents, twins)
        ranked = sorted(records, key=lambda record: rank_order(record, half_life_days()))

        files = [
            path for path in self.site.listed or () if not sources.publication.leaves_out(path)
        ]
        summary = twins[""].description if "" in twins else sources.title
        out.write(
            llms.FULL, llms.full_text(sources.title, summary, sections, out.folder, self.base_url)
        )
        bundles = []

        for folder, chosen in llms.by_folder(ranked, files).items():
            text = llms.bundle(folder, [twins[url] for url in chosen], out.folder, self.base_url)
            out.write(llms.bundle_path(folder), text)
            bundles.append(Twin(llms.bundle_path(folder), f"{folder}/", llms.count_of(chosen)))

        sections.insert(-1, llms.Section("Records by folder", llms.BUNDLES, bundles))

        for path, text in llms.lists(sources.title, summary, sections, self.base_url):
            if path not in out.after:  # the repository's own is kept
                out.write(path, text)

    def _page_groups(self) -> dict[str, list[str]]:
        """Return the URLs of the repository's own pages by the part of the navigation that names
        them.
        """
        user_config, curated = self.context.sources.user_config, self.site.curated
        groups: dict[str, list[str]] = {"Pages": []}
        for entry in self.context.staged.nav:
            title, below = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
            group = groups.setdefault(title if isinstance(below, list) else "Pages", [])
            paths = (f"{user_config.docs}/{name}" for name in files_in([entry]) if user_config)
            group += [curated[path] for path in paths if path in curated]

        listed = {url for group in groups.values() for url in group}
        groups["Pages"] += [url for url in curated.values() if url not in listed]
        return groups

    def _snapshot(self) -> Content:
        from orbit_registry.snapshot.export import export_snapshot  # most builds write none

        registry = self.context.registry
        with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
            file = Path(folder) / SNAPSHOT
            export_snapshot(registry.workspace, file, reading=registry.reading)
            return Content(file.read_bytes())


def _write_for_robots(
    out: Output, places: Set[str], base_url: str | None, records: Iterable[Record]
) -> None:

    lines = ["User-agent: *", "Allow: /"]
    if base_url:  # which a sitemap needs
        top = base_url.rstrip("/") + "/"
        changed = {url_of(record): record.text("updated_at") for record in records}
        entries = ""
        for url in sorted(places):
            address = top + relative("", url).removeprefix(".")
            changed_at = changed.get(url)
            modified = f"<lastmod>{escape(changed_at)}</lastmod>" if changed_at else ""
            entries += f"<url><loc>{escape(address)}</loc>{modified}</url>\n"

        head = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset '
            'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        )
        out.write(SITEMAP, f"{head}{entries}</urlset>\n")
        lines.append(f"Sitemap: {top}{SITEMAP}")

    if ROBOTS not in out.after:  # the repository's own is kept
        out.write(ROBOTS, "\n".join(lines) + "\n")
