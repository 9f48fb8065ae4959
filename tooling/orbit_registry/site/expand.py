"""Writes the site: record pages, filled curated pages, redirects, records.json; it parses no record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.kinds.table import Kind
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.record import Record
from orbit_registry.site import connections, console, explorer, feeds, finder, health, listing, texts, timeline
from orbit_registry.site.adopted import BODY as OWN
from orbit_registry.site.adopted import joined
from orbit_registry.site.check import DEAD_ANCHOR, FOREIGN, SCRIPT, Facts, check_pages, facts_of, located, merged
from orbit_registry.site.csp import policy_of
from orbit_registry.site.data import RECORDS, SNAPSHOT, write_for_robots, write_records, write_snapshot
from orbit_registry.site.documents import slot
from orbit_registry.site.finder import description_of
from orbit_registry.site.groups import GroupPage
from orbit_registry.site.memo import Lookup, Made, Memo, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.pages import SHELL, shell_url
from orbit_registry.site.prose import Place, ask, render
from orbit_registry.site.redirects import HEAD, folder_pages, redirect_pages
from orbit_registry.site.render import about, article, contents_html, templates_digest
from orbit_registry.site.shell import Shell, empty_pages, shells_of
from orbit_registry.site.shown import Shown
from orbit_registry.site.sitemap import ASSETS, url_of
from orbit_registry.site.stage import Prepared
from orbit_registry.site.tasks import tasks_html
from orbit_registry.site.urls import depth_of, file_of, relative
from orbit_registry.site.views import document_token, document_view, record_view
from orbit_registry.store.files import DOCUMENT_LIMIT, read_text

CARDS = slot("cards")
LIST, ONWARD = "list", "onward"
"""Stand for what no page has of its own that lists records, or that sends the reader on."""
_DATED = frozenset({"recent", "health"})
"""What is filled by when records were changed, which is no matter for others."""
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


class Expansion:
    """One run over the records and the generated pages."""

    def __init__(
        self, prepared: Prepared, generated: Path, out: Output, memo: Memo, *, database: bool = True,
        console: Path | None = None, changed: Set[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:  # fmt: skip
        """Expand what was prepared into `out`.

        `database` says whether there is one for download, `console` is the folder of archives that the SQL console is
        unpacked from. `changed` are the files and folders, from the root, that are not as the last build found them;
        None where nobody knows.
        """
        sources = prepared.sources
        self.prepared, self.generated, self.out, self.memo = prepared, generated, out, memo
        self.database, self.console, self.changed, self.progress = database, console, changed, progress
        self.records, self.freshness, self.base_url = prepared.records, prepared.freshness, prepared.base_url
        self.kinds, self.site, self.tasks = sources.kinds, sources.site, sources.tasks
        self.shown = Shown(prepared, memo)
        # What the repository's own pages load and run is its own business, where MkDocs runs it anyway.
        self.own_rules = sources.own is not None and sources.own.is_trusted
        self.own_pages = frozenset(self.site.curated.values())
        self.adopted = {url: one for url, one in self.shown.by_url.items() if one.page is not None}
        self.kind_shells: dict[tuple[str, int], Shell] = {}
        self.kept: set[str] = set()
        self.facts: dict[str, Facts] = {}
        self.origins: dict[str, Location] = {}
        self.found: list[Diagnostic] = []

    def run(self) -> list[Diagnostic]:
        """Write every page and return what is wrong with them."""
        empty = empty_pages(self.generated)
        shell = merged(facts_of(html, "") for html in empty.values())
        self.policy = policy_of(empty.values(), shell.foreign if self.own_rules else ())
        self.shells = shells_of(empty, self.policy, self.base_url)
        look = key_of(sorted(empty.items()), templates_digest(self.kinds))
        self.look = key_of(look, self.base_url, self.site.forge.view(""), self.own_rules)
        self.is_same = self.shown.is_as_before(self.look, self.changed)
        self._record_pages()
        self._generated_files()
        onward = self._as_before() if self.is_same else None
        if onward is None:
            onward = self._lists()
        documents, titles = self.prepared.sources.documents, self.prepared.staged.titles
        onward = onward | self._sent_on(partial(folder_pages, documents, titles, self.facts))
        self._assets()
        self._data(self.facts.keys() - onward)
        wrong = check_pages(self.facts, set(self.out.after), self.origins, shell)
        return [*self.found, *(self._located(one) for one in wrong if one.code != FOREIGN or not self.own_rules)]

    def _lists(self) -> Set[str]:
        """Write the pages that list records, and those of earlier names, whose URLs are returned."""
        self._index_rest()
        self._timelines()
        for page in self.shown.groups.pages(self.kinds):
            self._page(page.url, partial(self.shown.keys, page.records, page.title), partial(self._group, page), LIST)
        return self._sent_on(partial(redirect_pages, self.records, self.base_url), ONWARD)

    def _as_before(self) -> Set[str] | None:
        """Take the pages over that `_lists` writes; None where one is not there any more."""
        held = {path: made.own for path, made in self.memo.held.items() if made.own in (LIST, ONWARD)}
        if not all(self._kept(path, path.removesuffix("index.html")) for path in held):
            return None
        return {path.removesuffix("index.html") for path, own in held.items() if own == ONWARD}

    def _sent_on(self, pages: Callable[[str], Mapping[str, str]], own: str = "") -> Set[str]:
        """Write pages that send the reader on, each beginning with our policy, whose URLs are returned."""
        made = pages(self.policy.applied(HEAD)[0])
        for url, html in made.items():
            self._page(url, partial(str, html), partial(self._onward, url, html), own or html)
        return made.keys()

    def _located(self, found: Diagnostic) -> Diagnostic:
        if found.code != DEAD_ANCHOR:
            return found
        try:
            return located(found, read_text(self.site.root / found.location.path, limit=DOCUMENT_LIMIT))
        except OrbitError:
            return found

    def _page(self, url: str, key: Callable[[], object], make: Callable[[], Page], own: str = "") -> None:
        """Write the page at a URL, which is made only if there is none of that key, or its links lead elsewhere now.

        `own` is what of the key depends on this page alone; where the rest is as it was, the key is not worked out.
        """
        path = file_of(url)
        held = self.memo.held.get(path)
        if self.is_same and held is not None and held.own == own and self._kept(path, url):
            return
        wanted = key_of(self.look, own, key())
        if held is not None and held.key == wanted and self._kept(path, url):
            return
        page = make()
        self.out.write(path, page.html)
        extra = [sorted(page.facts.ids), list(page.facts.targets), list(page.facts.foreign)]
        self.memo.put(path, Made(wanted, page.origin, page.lookups, page.diagnostics, extra, own))
        if url != "404.html":
            self.facts[url] = page.facts

    def _kept(self, path: str, url: str) -> bool:
        """Take a page of the last build over; False where its links lead elsewhere now, or it is gone."""
        made = self.memo.as_answered(path, lambda *question: ask(self.site, *question))
        if made is None or not self.out.keep(path):
            return False
        self.kept.add(url)
        if url != "404.html":
            ids, targets, foreign = made.extra
            self.facts[url] = Facts(frozenset(ids), tuple(targets), tuple(foreign))
        return True

    def _record_pages(self) -> None:
        for number, record in enumerate(self.records, start=1):
            url = url_of(record)
            self.origins[url] = Location(record.source.path if record.source else record.path)
            if record.page is None:
                own = self.shown.shelf.stamp(record)
                self._page(url, partial(self.shown.key, record), partial(self._record_page, record, url), own)
            if self.progress is not None:
                self.progress(number, len(self.records))

    def _record_page(self, record: Record, url: str) -> Page:
        view = record_view(record, url, self.shown.relations, self.site, self.shown.groups)
        text = self.shown.shelf.text(record)
        prose = render(text.text, Place(text.path, text.first_line, url, record.id), self.site, top=2)
        content = article(record.kind, view, prose.html)
        content += self.shown.previews.html(self.shown.previews.on(content, url))
        toc = contents_html(prose.headings)
        html = self._shell(record.kind, depth_of(url)).page(
            url, f"{record.id} {record.title}", content, toc, self.base_url, description_of(record, text.text)
        )
        found = self.shown.shelf.moved(record, prose.diagnostics)
        return Page(html, facts_of(content, url), text.path, prose.lookups, found)

    def _shell(self, kind: Kind, depth: int) -> Shell:
        """Return the shell of a depth with the kind's index as the current entry of the navigation."""
        if (kind.name, depth) not in self.kind_shells:
            index = relative(shell_url(depth), f"{kind.plural}/")
            self.kind_shells[kind.name, depth] = self.shells[depth].under(index)
        return self.kind_shells[kind.name, depth]

    def _generated_files(self) -> None:
        """Copy what the generator made, its pages with their slots filled and their policy set."""
        pages = {document.url: document.path for document in self.prepared.sources.documents}
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
            stamp = self.shown.shelf.stamp(self.adopted[url]) if url in self.adopted else ""
            own = key_of(html, stamp, "" if _DATED.isdisjoint(_SLOT.findall(html)) else self.shown.dates)
            self._page(url, partial(self._generated_key, html, url), partial(self._filled, html, url), own)

    def _generated_key(self, html: str, url: str) -> list[object]:
        shown = self.shown.key(self.adopted[url]) if url in self.adopted else ""
        cited = [self.shown.previews.token(one) for one in self.shown.previews.on(html, url)]
        return [shown, cited, [self._token(name, url) for name in _SLOT.findall(html)]]

    def _filled(self, html: str, url: str) -> Page:
        empty = html
        if record := self.adopted.get(url):
            view = record_view(record, url, self.shown.relations, self.site, self.shown.groups)
            html = joined(html, article(record.kind, view, OWN))
        filled = _SLOT.sub(lambda slot: self._slot(slot[1], url), html.replace(CARDS, self._cards(html, url)))
        return self._under_policy(url, filled, empty)

    def _document(self, url: str) -> tuple[str, str, tuple[str, str]]:
        """Return the path and URL of a document, and the paths of those beside it."""
        return self.origins[url].path, url, self.shown.beside[url]

    def _cards(self, html: str, url: str) -> str:
        return self.shown.previews.html(self.shown.previews.on(html, url))

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
        make = self._slots.get(name)
        return make[0](url) if make is not None else ""

    def _token(self, name: str, url: str) -> str:
        """Return a text that changes when what a slot is filled with does: of a long one, without making it."""
        make, depends_on = self._slots.get(name, (str, None))
        return key_of(depends_on(url)) if depends_on is not None else make(url)

    @cached_property
    def _slots(self) -> Mapping[str, tuple[Callable[[str], str], Callable[[str], object] | None]]:
        """What fills a slot of the page at a URL, and what that depends on where it takes work to make."""
        records, documents, titles = self.records, self.prepared.sources.documents, self.prepared.staged.titles
        looked = cache(self._health)
        return {
            "paths": (lambda url: explorer.box(url, most=MOST_ON_A_LANDING), None),
            "explorer": (lambda _: explorer.page_html(records), lambda _: explorer.page_depends_on(records)),
            "console": (lambda _: console.page_html(records, works=bool(self.console), database=self.database), None),
            "map": (
                lambda _: connections.map_html(records, self.shown.relations),
                lambda _: connections.depends_on(records, self.shown.relations),
            ),
            "counts": (lambda url: listing.counts_html(self.kinds, self.shown.indexes, self.freshness, url), None),
            "recent": (lambda url: listing.recent_html(records, url), None),
            "about": (
                lambda url: about(*document_view(*self._document(url), self.shown.relations, self.site)),
                lambda url: document_token(*self._document(url), self.shown.relations, self.site),
            ),
            "tasks": (lambda _: tasks_html(self.tasks, self.site), lambda _: self.tasks.depends_on(self.site)),
            "documents": (lambda url: listing.documents_html(documents, titles, url), None),
            "health": (lambda _: looked().html, lambda _: looked().depends_on),
            **{f"index-{name}": self._of_index(index) for name, index in self.shown.indexes.items()},
        }

    def _of_index(self, index: listing.Index) -> tuple[Callable[[str], str], Callable[[str], object]]:
        url = f"{index.kind.plural}/"
        return lambda _: index.html(url, self.shown.relations, self.site), lambda _: index.key(url, self.shown.key)

    def _health(self) -> health.Health:
        found = health.health_html(
            self.kinds, self.records, self.shown.problems, self.freshness, self.shown.relations.today
        )
        return health.Health(found, self.records, self.shown.shelf.publication)

    def _index_rest(self) -> None:
        """Write the pages of long indexes after the first."""
        for index in self.shown.indexes.values():
            for url, _ in index.pages[1:]:
                self._page(url, partial(index.key, url, self.shown.key), partial(self._index, index, url), LIST)

    def _index(self, index: listing.Index, url: str) -> Page:
        return self._listed(index.kind, url, index.html(url, self.shown.relations, self.site))

    def _listed(self, kind: Kind, url: str, held: str) -> Page:
        content = f"<h1>{escape(kind.labels)}</h1>{held}"
        html = self._shell(kind, depth_of(url)).page(url, kind.labels, content, "", self.base_url)
        return Page(html, facts_of(content, url), url)

    def _onward(self, url: str, html: str) -> Page:
        return Page(html, facts_of(html, url), url)

    def _group(self, page: GroupPage) -> Page:
        content = page.html()
        depth = depth_of(page.url)
        shell = self._shell(page.kind, depth) if page.kind else self.shells[depth]
        return Page(shell.page(page.url, page.title, content, "", self.base_url), facts_of(content, page.url), page.url)

    def _timelines(self) -> None:
        for index in self.shown.indexes.values():
            if index.timed:
                url = timeline.url(index.kind)
                self._page(url, partial(self.shown.keys, index.records), partial(self._timeline, index, url), LIST)

    def _timeline(self, index: listing.Index, url: str) -> Page:
        drawing = timeline.timeline_html(index.kind, index.records, self.shown.relations)
        return self._listed(index.kind, url, index.switch(url) + drawing)

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
        held = self.memo.held.get(path)
        if held is None or held.key != key or not self.out.keep(path):
            return False
        self.memo.put(path, held)
        return True

    def _data(self, places: Set[str]) -> None:
        stamp, notes = self.shown.shelf.stamp, self.memo.notes
        hidden = {one.path: stamp(one) for one in self.prepared.collection.records if one.path not in notes}
        key = key_of({path: note[0] for path, note in notes.items()}, hidden)
        touched = self.shown.touched if self.shown.is_alike else None
        if self.database and not self._is_kept(SNAPSHOT, key):
            write_snapshot(self.out, self.prepared.export)
            self.memo.put(SNAPSHOT, Made(key, SNAPSHOT))
        records, title, base_url = self.records, self.prepared.sources.title, self.base_url or ""
        found = cache(partial(finder.entries, records, self.shown.lead))
        self._files(
            feeds.FILES, self.shown.dates, lambda: self.shown.keys(feeds.newest(records), title, base_url),
            lambda: feeds.files(feeds.newest(records), title, self.base_url, self.shown.lead),
        )  # fmt: skip
        self._files(finder.FILES, "", found, lambda: finder.files(found(), *self._found_before()))
        texts.write(self.out, self.memo, self.shown)
        write_records(self.out, self.records, self.shown.relations, self.kept, touched)
        write_for_robots(self.out, places, self.base_url, self.records)

    def _found_before(self) -> tuple[Mapping[str, str], Mapping[int, finder.Entry] | None]:
        """Return the files that records were found by, and what they knew of those that say something else now."""
        before = {path: self.out.read(path) for path in finder.FILES}
        listed, lines = explorer.rows_by_id(self.out.read(RECORDS)), before[finder.ROWS].split("\n")
        numbered = [record for record in self.records if record.page is None]
        if not (self.shown.is_near and before[finder.TERMS] and len(lines) == len(numbered) + 1):
            return before, None
        new = {record.path for record in self.shown.touched}
        rows = ((number, one, listed.get(one.id)) for number, one in enumerate(numbered) if one.path in new)
        then = {at: finder.earlier(one, json.loads(row), lines[at]) for at, one, row in rows if row is not None}
        return before, then if len(then) == len(new) else None

    def _files(
        self, paths: Sequence[str], own: str, key: Callable[[], object], make: Callable[[], Iterable[tuple[str, str]]]
    ) -> None:
        """Write files of data as `_page` does a page: all are made where one of them is not as it was."""
        held = self.memo.held.get(paths[0])
        same = held is not None and self.is_same and held.own == own
        wanted = held.key if held is not None and same else key_of(key())
        if not all(self._is_kept(path, wanted) for path in paths):
            for path, text in make():
                self.out.write(path, text)
                self.memo.put(path, Made(wanted, path, own=own))
