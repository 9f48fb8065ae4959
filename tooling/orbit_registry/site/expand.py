"""Writes the site: record pages, filled curated pages, redirects, records.json; it parses no record."""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.kinds.table import Kind
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.freshness import Freshness
from orbit_registry.records.record import Record
from orbit_registry.site import explorer, listing, timeline
from orbit_registry.site.check import DEAD_ANCHOR, SCRIPT, Facts, check_pages, facts_of, located, merged
from orbit_registry.site.csp import Policy, policy_of
from orbit_registry.site.documents import Document
from orbit_registry.site.memo import Made, Memo, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.pages import SHELL, shell_url
from orbit_registry.site.prose import Place, ask, render
from orbit_registry.site.redirects import redirect_pages
from orbit_registry.site.render import article, contents_html, templates_digest
from orbit_registry.site.shelf import Shelf
from orbit_registry.site.shell import Shell, empty_pages, shells_of
from orbit_registry.site.sitemap import ASSETS, SiteMap, url_of
from orbit_registry.site.urls import depth_of, file_of, relative
from orbit_registry.site.views import Relations, record_view, what_a_page_shows
from orbit_registry.site.views import listing as listed
from orbit_registry.store.files import DOCUMENT_LIMIT, read_text
from orbit_registry.store.votes import half_life_days

_SLOT = re.compile(r'<div data-orbit-slot="([a-z0-9_-]+)"></div>')
MOST_ON_A_LANDING = 8
_LEFT_OUT = re.compile(rf"(?:{SHELL}/.*|sitemap\.xml(?:\.gz)?|.*\.map)\Z")


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
    generated: Path
    base_url: str | None
    out: Output
    memo: Memo
    export: Callable[[Path], object] | None = None
    """Writes the snapshot for download to a file; None leaves it out."""
    progress: Callable[[int, int], None] | None = None
    freshness: Mapping[str, Freshness] = field(default_factory=dict)
    """Of the records that are not fresh, by path."""
    shells: dict[int, Shell] = field(init=False)
    kind_shells: dict[tuple[str, int], Shell] = field(default_factory=dict)
    policy: Policy = field(init=False)
    relations: Relations = field(init=False)
    facts: dict[str, Facts] = field(default_factory=dict)
    origins: dict[str, Location] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)

    def run(self) -> list[Diagnostic]:
        """Write every page and return what is wrong with them."""
        empty = empty_pages(self.generated)
        self.policy = policy_of(empty.values())
        self.shells = shells_of(empty, self.policy, self.base_url)
        self.relations = Relations(self.records, self.freshness)
        forge = self.site.forge
        look = key_of(sorted(empty.items()), templates_digest(self.kinds))
        self._record_pages(key_of(look, self.base_url, forge.repository, forge.branch))
        self._generated_files()
        self._index_rest()
        self._timelines()
        for url, html in redirect_pages(self.records, self.base_url).items():
            self._page(url, html)
        self._assets()
        self._data()
        shell = merged(facts_of(html, "") for html in empty.values())
        self.found += map(self._located, check_pages(self.facts, set(self.out.after), self.origins, shell))
        return self.found

    def _located(self, found: Diagnostic) -> Diagnostic:
        if found.code != DEAD_ANCHOR:
            return found
        try:
            return located(found, read_text(self.site.root / found.location.path, limit=DOCUMENT_LIMIT))
        except OrbitError:
            return found

    def _record_pages(self, environment: str) -> None:
        for number, record in enumerate(self.records, start=1):
            url = url_of(record)
            path = file_of(url)
            about = what_a_page_shows(record, self.relations, self.site)
            key = key_of(environment, about, self.shelf.stamp(record))
            self.origins[url] = Location(record.source.path if record.source else record.path)
            made = self.memo.fresh(path, key, lambda *question: ask(self.site, *question))
            if made is not None and self.out.keep(path):
                self.facts[url] = Facts(frozenset(made.extra[0]), tuple(made.extra[1]), ())
            else:
                self._record_page(record, url, path, key)
            if self.progress is not None:
                self.progress(number, len(self.records))

    def _record_page(self, record: Record, url: str, path: str, key: str) -> None:
        view = record_view(record, url, self.relations, self.site)
        text = self.shelf.text(record)
        prose = render(text.text, Place(text.path, text.first_line, url, record.id), self.site, top=2)
        content = article(record.kind, view, prose.html)
        toc = contents_html(prose.headings)
        title = f"{record.id} {record.title}"
        shell = self._shell(record.kind, depth_of(url))
        self.out.write(path, shell.page(url, title, content, toc, self.base_url))
        facts = facts_of(content, url)
        self.facts[url] = facts
        diagnostics = self.shelf.moved(record, prose.diagnostics)
        extra = [sorted(facts.ids), list(facts.targets)]
        self.memo.put(path, Made(key, text.path, prose.lookups, diagnostics, extra))

    def _shell(self, kind: Kind, depth: int) -> Shell:
        """Return the shell of a depth with the kind's index as the current entry of the navigation."""
        if (kind.name, depth) not in self.kind_shells:
            index = relative(shell_url(depth), f"{kind.plural}/")
            self.kind_shells[kind.name, depth] = self.shells[depth].under(index)
        return self.kind_shells[kind.name, depth]

    def _generated_files(self) -> None:
        """Copy what the generator made, its pages with their slots filled and their policy set."""
        pages = {document.url: document.path for document in self.documents}
        for file in sorted(path for path in self.generated.rglob("*") if path.is_file()):
            path = file.relative_to(self.generated).as_posix()
            if _LEFT_OUT.match(path):
                continue
            if not path.endswith(".html"):
                self._copy(file, path)
                continue
            url = path.removesuffix("index.html") if path.endswith("/index.html") or path == "index.html" else path
            html = file.read_text("utf-8", "replace")
            html = self._filled(html, url)
            if url in pages:
                self.origins[url] = Location(pages[url])
            self._page(url, html)

    def _filled(self, html: str, url: str) -> str:
        return _SLOT.sub(lambda slot: self._slot(slot[1], url), html)

    def _page(self, url: str, html: str) -> None:
        page, refused = self.policy.applied(html)
        where = self.origins.get(url, Location(url or "index.html"))
        for code in refused:
            message = f"an inline script will not run: {' '.join(code.split())[:60]}"
            self.found.append(Diagnostic(SCRIPT, Severity.WARNING, message, where, "move it to a file"))
        self.out.write(file_of(url), page)
        if url != "404.html":
            self.facts[url] = facts_of(page, url)

    def _copy(self, file: Path, path: str) -> None:
        info = file.stat()
        key = key_of(info.st_mtime_ns, info.st_size)
        if self.memo.fresh(path, key, lambda *_: "") is not None and self.out.keep(path):
            return
        self.out.write(path, file.read_bytes())
        self.memo.put(path, Made(key, path))

    def _slot(self, name: str, url: str) -> str:
        by_kind = self._by_kind()
        if name == "paths":
            return explorer.box(url, most=MOST_ON_A_LANDING)
        if name == "explorer":
            return explorer.page_html(self.records)
        if name == "counts":
            return listing.counts_html(self.kinds, by_kind, url)
        if name == "recent":
            return listing.recent_html(self.records, url)
        if name == "documents":
            return listing.documents_html(self.documents, self.titles, url)
        if name == "health":
            return listing.health_html(self.kinds, by_kind, self.problems)
        kind = next((kind for kind in self.kinds if name == f"index-{kind.name}"), None)
        if kind is None:
            return ""
        pages = listing.index_pages(kind, by_kind[kind.name])
        return listing.index_html(kind, f"{kind.plural}/", pages, self.relations, self.site)

    def _by_kind(self) -> Mapping[str, list[Record]]:
        held: dict[str, list[Record]] = defaultdict(list)
        for record in self.records:
            held[record.kind.name].append(record)
        return held

    def _index_rest(self) -> None:
        """Write the pages of long indexes after the first."""
        by_kind = self._by_kind()
        for kind in self.kinds:
            pages = listing.index_pages(kind, by_kind[kind.name])
            for url, _ in pages[1:]:
                table = listing.index_html(kind, url, pages, self.relations, self.site)
                content = f"<h1>{escape(kind.labels)}</h1>{table}"
                html = self._shell(kind, depth_of(url)).page(url, kind.labels, content, "", self.base_url)
                self.out.write(file_of(url), html)
                self.facts[url] = facts_of(content, url)

    def _timelines(self) -> None:
        for kind, records in ((kind, self._by_kind()[kind.name]) for kind in self.kinds):
            if timeline.has_timeline(kind, records):
                url = timeline.url(kind)
                content = f"<h1>{escape(kind.labels)}</h1>{timeline.timeline_html(kind, records, self.relations)}"
                html = self._shell(kind, depth_of(url)).page(url, kind.labels, content, "", self.base_url)
                self.out.write(file_of(url), html)
                self.facts[url] = facts_of(content, url)

    def _assets(self) -> None:
        for path in sorted(self.site.assets):
            self._copy(self.site.root / path, ASSETS + path)

    def _data(self) -> None:
        rows = [listed(record, self.relations) for record in self.records]
        self._snapshot()
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        self.out.write(explorer.DATA, explorer.data(self.records, half_life_days()))
        self.out.write("records.json", f'{{"records": [\n{lines}\n]}}\n')
        if self.base_url:
            self.out.write("sitemap.xml", self._sitemap())

    def _snapshot(self) -> None:
        if self.export is None:
            return
        path = "snapshot.duckdb"
        held = [
            [dict(record.data), [vote.key for vote in record.votes], self.shelf.stamp(record)]
            for record in self.records
        ]
        key = key_of(held)
        if self.memo.fresh(path, key, lambda *_: "") is not None and self.out.keep(path):
            return
        with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
            file = Path(folder) / path
            self.export(file)
            self.out.write(path, file.read_bytes())
        self.memo.put(path, Made(key, path))

    def _sitemap(self) -> str:
        top = str(self.base_url).rstrip("/") + "/"
        urls = sorted(url for url in self.facts if not url.startswith("legacy/"))
        body = "".join(f"<url><loc>{escape(top + relative('', url).removeprefix('.'))}</loc></url>\n" for url in urls)
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        return f"{head}{body}</urlset>\n"
