"""Writes the site: record pages, filled curated pages, redirects, records.json; it parses no record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.kinds.table import Kind
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.freshness import Freshness
from orbit_registry.records.record import Record
from orbit_registry.site import connections, console, explorer, facets, health, listing, timeline
from orbit_registry.site.adopted import BODY, joined
from orbit_registry.site.check import DEAD_ANCHOR, FOREIGN, SCRIPT, Facts, check_pages, facts_of, located, merged
from orbit_registry.site.citers import citers_of, said_by
from orbit_registry.site.csp import Policy, policy_of
from orbit_registry.site.data import SNAPSHOT, write_data, write_for_robots, write_search, write_snapshot
from orbit_registry.site.documents import Document, neighbours, slot
from orbit_registry.site.finder import description_of
from orbit_registry.site.groups import GroupPage, Groups, groups_of
from orbit_registry.site.memo import Lookup, Made, Memo, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.pages import SHELL, shell_url
from orbit_registry.site.previews import Previews
from orbit_registry.site.prose import Place, ask, render
from orbit_registry.site.redirects import redirect_pages
from orbit_registry.site.render import about, article, contents_html, templates_digest
from orbit_registry.site.shelf import Shelf
from orbit_registry.site.shell import Shell, empty_pages, shells_of
from orbit_registry.site.sitemap import ASSETS, SiteMap, url_of
from orbit_registry.site.tasks import Tasks, tasks_html
from orbit_registry.site.urls import depth_of, file_of, relative
from orbit_registry.site.views import Relations, document_token, document_view, record_view, what_a_page_shows
from orbit_registry.snapshot.edges import Said, said_from
from orbit_registry.store.files import DOCUMENT_LIMIT, read_text

CARDS = slot("cards")
_SLOT = re.compile(r'<div data-orbit-slot="([a-z0-9_-]+)"></div>')
MOST_ON_A_LANDING = 8
_LEFT_OUT = re.compile(rf"(?:{SHELL}/.*|sitemap\.xml(?:\.gz)?|.*\.map)\Z")


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was made: its text and facts, the document it was made from, and what was asked and found."""

    html: str
    facts: Facts
    origin: str
    lookups: tuple[Lookup, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class Expansion:
    """One run over the records and the generated pages."""

    records: Sequence[Record]
    kinds: Sequence[Kind]
    documents: Sequence[Document]
    titles: Mapping[str, str]
    problems: Sequence[Diagnostic]
    site: SiteMap
    shelf: Shelf
    title: str
    generated: Path
    base_url: str | None
    out: Output
    memo: Memo
    export: Callable[[Path], object] | None = None
    """Writes the snapshot for download to a file; None leaves it out."""
    console: Path | None = None
    """The folder of archives that the SQL console is unpacked from; None for no console."""
    progress: Callable[[int, int], None] | None = None
    freshness: Mapping[str, Freshness] = field(default_factory=dict)
    """Of the records that are not fresh, by path."""
    look: str = field(init=False)
    """A key of what all pages share: the empty pages, the templates, the addresses."""
    shells: dict[int, Shell] = field(init=False)
    kind_shells: dict[tuple[str, int], Shell] = field(default_factory=dict)
    policy: Policy = field(init=False)
    relations: Relations = field(init=False)
    groups: Groups = field(init=False)
    keys: dict[str, str] = field(default_factory=dict)
    """Of each record's page, by the record's path: it changes when anything that is shown of the record does."""
    kept: set[str] = field(default_factory=set)
    """The URLs of pages that the last build made."""
    by_kind: dict[str, list[Record]] = field(default_factory=dict)
    indexes: dict[str, list[tuple[str, Sequence[Record]]]] = field(default_factory=dict)
    """The pages of each kind's index, with the records on them."""
    choices: dict[str, facets.Choices] = field(default_factory=dict)
    """What the filter of each kind's index offers."""
    timed: dict[str, bool] = field(default_factory=dict)
    """Whether a kind has a timeline."""
    own_rules: bool = False
    """Whether the repository's own pages may load and run what they like, and ours what its theme does."""
    own_pages: frozenset[str] = frozenset()
    """The URLs of the repository's own pages."""
    adopted: dict[str, Record] = field(default_factory=dict)
    """The records that the repository's own pages show, by URL."""
    facts: dict[str, Facts] = field(default_factory=dict)
    origins: dict[str, Location] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=Tasks)
    citing: Mapping[str, Said] = field(default_factory=dict)
    """What the files that cite name, by path."""
    said: dict[str, Said] = field(default_factory=dict)
    """What the records' texts name, by the record's path."""
    previews: Previews = field(init=False)
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of each document's page, the documents before and after it."""
    found: list[Diagnostic] = field(default_factory=list)

    def run(self) -> list[Diagnostic]:
        """Write every page and return what is wrong with them."""
        by_url = {url_of(record): record for record in self.records}
        self.previews = Previews(by_url, lambda record: self._said(record).lead)
        self.site.preview = self.previews.token
        citers = citers_of(self.records, self._said, self.citing, self.site, self.titles)
        empty = empty_pages(self.generated)
        shell = merged(facts_of(html, "") for html in empty.values())
        self.policy = policy_of(empty.values(), shell.foreign if self.own_rules else ())
        self.shells = shells_of(empty, self.policy, self.base_url)
        self.relations = Relations(self.records, self.freshness, citers=citers)
        self.groups = groups_of(self.records)
        forge = self.site.forge
        look = key_of(sorted(empty.items()), templates_digest(self.kinds))
        self.look = key_of(look, self.base_url, forge.repository, forge.branch, self.own_rules)
        self._record_pages()
        for kind in self.kinds:
            held = [record for record in self.records if record.kind is kind]
            self.by_kind[kind.name] = held
            self.indexes[kind.name] = listing.index_pages(kind, held)
            self.choices[kind.name] = facets.choices_of(kind, held)
            self.timed[kind.name] = timeline.has_timeline(kind, held)
        self._generated_files()
        self._index_rest()
        self._timelines()
        for page in self.groups.pages(self.kinds):
            keys = [self.keys[record.path] for record in page.records]
            self._page(page.url, key_of(self.look, page.title, keys), partial(self._group, page))
        onward = redirect_pages(self.records, self.base_url)
        for url, html in onward.items():
            self._page(url, key_of(self.look, html), partial(self._under_policy, url, html))
        self._assets()
        self._data(self.facts.keys() - onward.keys())
        wrong = check_pages(self.facts, set(self.out.after), self.origins, shell)
        self.found += (self._located(one) for one in wrong if one.code != FOREIGN or not self.own_rules)
        return self.found

    def _located(self, found: Diagnostic) -> Diagnostic:
        if found.code != DEAD_ANCHOR:
            return found
        try:
            return located(found, read_text(self.site.root / found.location.path, limit=DOCUMENT_LIMIT))
        except OrbitError:
            return found

    def _said(self, record: Record) -> Said:
        """Return what a record's text names: what the last build found, where the text is the same."""
        if record.path not in self.said:
            made = self.memo.held.get(file_of(url_of(record)))
            noted = made.extra[3] if made is not None and len(made.extra) > 3 else None
            if noted and noted[0] == self.shelf.stamp(record):
                self.said[record.path] = said_from(noted[1])
            else:
                text = self.shelf.text(record)
                file = self.citing.get(text.path) if text.as_written else None
                self.said[record.path] = said_by(text, self.site.forms, file)
        return self.said[record.path]

    def _page(self, url: str, key: str, make: Callable[[], Page], note: Callable[[], object] = lambda: None) -> None:
        """Write the page at a URL, which is made only if there is none of that key, or its links lead elsewhere now.

        `note` is remembered with a page that was made.
        """
        path = file_of(url)
        made = self.memo.fresh(path, key, lambda *question: ask(self.site, *question))
        if made is not None and self.out.keep(path):
            self.kept.add(url)
            ids, targets, foreign = made.extra[:3]
            facts = Facts(frozenset(ids), tuple(targets), tuple(foreign))
        else:
            page = make()
            facts = page.facts
            self.out.write(path, page.html)
            extra = [sorted(facts.ids), list(facts.targets), list(facts.foreign), note()]
            self.memo.put(path, Made(key, page.origin, page.lookups, page.diagnostics, extra))
        if url != "404.html":
            self.facts[url] = facts

    def _record_pages(self) -> None:
        for number, record in enumerate(self.records, start=1):
            url = url_of(record)
            if record.page is not None:
                self.adopted[url] = record
            about = what_a_page_shows(record, self.relations, self.site, self.groups)
            key = self.keys[record.path] = key_of(self.look, about, self.shelf.stamp(record))
            self.origins[url] = Location(record.source.path if record.source else record.path)
            if record.page is None:
                self._page(url, key, partial(self._record_page, record, url), partial(self._note, record))
            if self.progress is not None:
                self.progress(number, len(self.records))

    def _note(self, record: Record) -> list[object]:
        return [self.shelf.stamp(record), self._said(record).as_row()]

    def _record_page(self, record: Record, url: str) -> Page:
        view = record_view(record, url, self.relations, self.site, self.groups)
        text = self.shelf.text(record)
        prose = render(text.text, Place(text.path, text.first_line, url, record.id), self.site, top=2)
        content = article(record.kind, view, prose.html)
        content += self.previews.html(self.previews.on(content, url))
        toc = contents_html(prose.headings)
        html = self._shell(record.kind, depth_of(url)).page(
            url, f"{record.id} {record.title}", content, toc, self.base_url, description_of(record, text.text)
        )
        diagnostics = self.shelf.moved(record, prose.diagnostics)
        return Page(html, facts_of(content, url), text.path, prose.lookups, diagnostics)

    def _shell(self, kind: Kind, depth: int) -> Shell:
        """Return the shell of a depth with the kind's index as the current entry of the navigation."""
        if (kind.name, depth) not in self.kind_shells:
            index = relative(shell_url(depth), f"{kind.plural}/")
            self.kind_shells[kind.name, depth] = self.shells[depth].under(index)
        return self.kind_shells[kind.name, depth]

    def _generated_files(self) -> None:
        """Copy what the generator made, its pages with their slots filled and their policy set."""
        pages = {document.url: document.path for document in self.documents}
        self.beside = neighbours(self.documents, self.titles)
        for file in sorted(path for path in self.generated.rglob("*") if path.is_file()):
            path = file.relative_to(self.generated).as_posix()
            if _LEFT_OUT.match(path):
                continue
            if not path.endswith(".html"):
                self._copy(file, path)
                continue
            url = path.removesuffix("index.html") if path.endswith("/index.html") or path == "index.html" else path
            html = file.read_text("utf-8", "replace")
            if url in pages:
                self.origins[url] = Location(pages[url])
            shown = self.keys[self.adopted[url].path] if url in self.adopted else ""
            cited = [self.previews.token(one) for one in self.previews.on(html, url)]
            key = key_of(self.look, html, shown, cited, [self._token(name, url) for name in _SLOT.findall(html)])
            self._page(url, key, partial(self._filled, html, url))

    def _filled(self, html: str, url: str) -> Page:
        empty = html
        if url in self.adopted:
            record = self.adopted[url]
            view = record_view(record, url, self.relations, self.site, self.groups)
            html = joined(html, article(record.kind, view, BODY))
        filled = _SLOT.sub(lambda slot: self._slot(slot[1], url), html.replace(CARDS, self._cards(html, url)))
        return self._under_policy(url, filled, empty)

    def _document(self, url: str) -> tuple[str, str, tuple[str, str]]:
        """Return the path and URL of a document, and the paths of those beside it."""
        return self.origins[url].path, url, self.beside[url]

    def _cards(self, html: str, url: str) -> str:
        return self.previews.html(self.previews.on(html, url))

    def _under_policy(self, url: str, html: str, empty: str = "") -> Page:
        """Return a page with its policy; `empty` is what the generator made of it."""
        if self.own_rules and url in self.own_pages:
            return Page(html, replace(facts_of(html, url), foreign=()), url)
        policy = self.policy.knowing(empty) if self.own_rules else self.policy
        page, refused = policy.applied(html, compiled=url == console.PAGE and self.console is not None)
        where = self.origins.get(url, Location(url or "index.html"))
        said = (f"an inline script will not run: {' '.join(code.split())[:60]}" for code in refused)
        found = tuple(Diagnostic(SCRIPT, Severity.WARNING, one, where, "move it to a file") for one in said)
        return Page(page, facts_of(page, url), where.path, (), found)

    def _copy(self, file: Path, path: str) -> None:
        info = file.stat()
        key = key_of(info.st_mtime_ns, info.st_size)
        if self._is_kept(path, key):
            return
        self.out.write(path, file.read_bytes())
        self.memo.put(path, Made(key, path))

    def _slot(self, name: str, url: str) -> str:
        if name == "paths":
            return explorer.box(url, most=MOST_ON_A_LANDING)
        if name == "explorer":
            return explorer.page_html(self.records)
        if name == "console":
            return console.page_html(self.records, works=self.console is not None, database=self.export is not None)
        if name == "map":
            return connections.map_html(self.records, self.relations)
        if name == "counts":
            return listing.counts_html(self.kinds, self.by_kind, self.freshness, url)
        if name == "recent":
            return listing.recent_html(self.records, url)
        if name == "about":
            return about(*document_view(*self._document(url), self.relations, self.site))
        if name == "tasks":
            return tasks_html(self.tasks, self.site)
        if name == "documents":
            return listing.documents_html(self.documents, self.titles, url)
        if name == "health":
            return health.page_html(*self._health())
        kind = next((kind for kind in self.kinds if name == f"index-{kind.name}"), None)
        if kind is None:
            return ""
        return self._table(kind, f"{kind.plural}/")

    def _token(self, name: str, url: str) -> str:
        """Return a text that changes when what a slot is filled with does: of an index, without making it."""
        if name == "tasks":
            return key_of(self.tasks.depends_on(self.site))
        if name == "about":
            return key_of(document_token(*self._document(url), self.relations, self.site))
        if name == "explorer":
            return key_of(explorer.page_depends_on(self.records))
        if name == "map":
            return key_of(connections.depends_on(self.records, self.relations))
        if name == "health":
            return key_of(health.depends_on(*self._health()))
        kind = next((kind for kind in self.kinds if name == f"index-{kind.name}"), None)
        return self._slot(name, url) if kind is None else self._index_key(kind, f"{kind.plural}/")

    def _health(self) -> health.Looked:
        shown = (self.kinds, self.records, self.problems, self.freshness)
        return (*shown, self.relations.today, self.shelf.publication)

    def _index_key(self, kind: Kind, url: str) -> str:
        """Return what one page of a kind's index depends on: its records, and where each of the others begins."""
        pages = self.indexes[kind.name]
        parts = [[at, held[0].id, held[-1].id, len(held)] for at, held in pages if held]
        shown = next(held for at, held in pages if at == url)
        offered = [self.choices[kind.name].as_data(), self.timed[kind.name]]
        return key_of(url, offered, parts, [self.keys[record.path] for record in shown])

    def _table(self, kind: Kind, url: str) -> str:
        """Return one page of a kind's index: the ways to look at it, the filter, the table."""
        pages, choices = self.indexes[kind.name], self.choices[kind.name]
        views = timeline.switch(kind, url, timed=self.timed[kind.name], tagged=bool(choices.lists["tag"]))
        table = listing.index_html(kind, url, pages, self.relations, self.site)
        return f"{views}{facets.bar(kind, choices, url)}{table}"

    def _index_rest(self) -> None:
        """Write the pages of long indexes after the first."""
        for kind in self.kinds:
            for url, _ in self.indexes[kind.name][1:]:
                self._page(url, key_of(self.look, self._index_key(kind, url)), partial(self._index, kind, url))

    def _index(self, kind: Kind, url: str) -> Page:
        content = f"<h1>{escape(kind.labels)}</h1>{self._table(kind, url)}"
        html = self._shell(kind, depth_of(url)).page(url, kind.labels, content, "", self.base_url)
        return Page(html, facts_of(content, url), url)

    def _group(self, page: GroupPage) -> Page:
        content = page.html()
        depth = depth_of(page.url)
        shell = self._shell(page.kind, depth) if page.kind else self.shells[depth]
        return Page(shell.page(page.url, page.title, content, "", self.base_url), facts_of(content, page.url), page.url)

    def _timelines(self) -> None:
        for kind in self.kinds:
            if self.timed[kind.name]:
                keys = [self.keys[record.path] for record in self.by_kind[kind.name]]
                self._page(timeline.url(kind), key_of(self.look, keys), partial(self._timeline, kind))

    def _timeline(self, kind: Kind) -> Page:
        url = timeline.url(kind)
        drawing = timeline.timeline_html(kind, self.by_kind[kind.name], self.relations)
        views = timeline.switch(kind, url, timed=True, tagged=bool(self.choices[kind.name].lists["tag"]))
        content = f"<h1>{escape(kind.labels)}</h1>{views}{drawing}"
        html = self._shell(kind, depth_of(url)).page(url, kind.labels, content, "", self.base_url)
        return Page(html, facts_of(content, url), url)

    def _assets(self) -> None:
        for path in sorted(self.site.assets):
            self._copy(self.site.root / path, ASSETS + path)
        if self.console is None or all(self._is_kept(path, console.VERSION) for path in console.FILES):
            return
        for path, content in console.unpacked(self.console):
            self.out.write(path, content)
            self.memo.put(path, Made(console.VERSION, path))

    def _is_kept(self, path: str, key: str) -> bool:
        """Say whether the last build wrote a file of that key, and take it over if so."""
        return self.memo.fresh(path, key, lambda *_: "") is not None and self.out.keep(path)

    def _data(self, places: Set[str]) -> None:
        key = key_of([[record.path, self.shelf.stamp(record)] for record in self.records])
        if self.export is not None and not self._is_kept(SNAPSHOT, key):
            write_snapshot(self.out, self.export)
            self.memo.put(SNAPSHOT, Made(key, SNAPSHOT))
        same = {record.id for record in self.relations.by_id.values() if url_of(record) in self.kept}
        write_data(self.out, self.records, self.relations, self.title, self.base_url, same)
        write_search(self.out, self.memo, self.records, lambda record: self._said(record).lead)
        write_for_robots(self.out, places, self.base_url)
