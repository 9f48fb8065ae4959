"""Expansion of a staged site: pages are made, put into their frames, and written; then the files
that go with them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.site import console
from orbit_registry.site.check import (
    DEAD_ANCHOR,
    FOREIGN,
    PageFacts,
    check_pages,
    facts_of,
    located,
    merged,
)
from orbit_registry.site.code import DIAGRAM_ID
from orbit_registry.site.curated import SHELL, shell_url
from orbit_registry.site.data_files import write_data
from orbit_registry.site.destinations import ASSETS
from orbit_registry.site.document_drafts import document_drafts
from orbit_registry.site.frame import Frames, address_of, empty_pages, frame_of
from orbit_registry.site.list_pages import list_pages
from orbit_registry.site.llms import write_for_agents
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.npm import FETCHING, MERMAID, mermaid_files, mermaid_key
from orbit_registry.site.output import Progress
from orbit_registry.site.own_markdown import Sections, own_twin, sections_by_page
from orbit_registry.site.own_pages import NOT_FOUND, own_page
from orbit_registry.site.page import Draft, SitePage
from orbit_registry.site.published import Published
from orbit_registry.site.record_drafts import record_drafts
from orbit_registry.site.redirects import HEAD, redirect_pages
from orbit_registry.site.sanitize import Policy, policy_of
from orbit_registry.site.search_data import Section
from orbit_registry.site.twins import Twin, twin_path
from orbit_registry.site.urls import SEARCH, file_of
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text

_LEFT_OUT = re.compile(rf"(?:{SHELL}/.*|sitemap\.xml(?:\.gz)?|.*\.map)\Z")
_THEMES_SEARCH = re.compile(
    r"(?:search/search_index\.json|search\.json|assets/javascripts/(?:workers|lunr)/.*)\Z"
)
"""What the theme's own search reads, which our search box replaces."""
_SEARCH_BOX = "data-orbit-search="


@dataclass(frozen=True, slots=True)
class Ground:
    """What the generator gave: the frames, and what all of its pages have in common."""

    frames: Frames
    policy: Policy
    facts: PageFacts
    """Ids that every page has, and addresses elsewhere that every page loads."""
    has_search_box: bool


@dataclass
class Made:
    """What was made so far: the facts of pages by their URL, the findings, and what search reads of
    documents.
    """

    facts: dict[str, PageFacts] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    twins: dict[str, Twin] = field(default_factory=dict)

    def add_twin(self, url: str, twin: Twin, targets: Iterable[str]) -> None:
        """Add the Markdown of a page, and the files of the site that it leads to."""
        self.twins[url] = twin
        self.facts[twin.path] = PageFacts(frozenset(), tuple(targets), ())


def expand(
    data: Published, generated: Path, pages: PageCache, progress: Progress
) -> list[Diagnostic]:
    """Write every page and return what is wrong with them."""
    ground = _ground(data, generated)
    made = Made()
    for number, draft in enumerate(record_drafts(data), start=1):
        _write_draft(draft, ground.frames, pages, made)
        progress("pages", number, len(data.records))

    for draft in document_drafts(data):
        _write_draft(draft, ground.frames, pages, made)

    _write_generated(data, generated, ground, pages, made)
    for page in list_pages(data):
        _write_page(page, ground.frames, pages, made)

    onward = redirect_pages(data.records, data.context.base_url, ground.policy.applied(HEAD)[0])
    for url, (html, targets) in onward.items():
        pages.out.write(file_of(url), html)
        made.facts[url] = PageFacts(frozenset(), targets, ())

    _write_assets(data, pages, made, progress)
    # What a search finds is no page to list.
    made.twins.pop(SEARCH, None)
    urls = made.twins.keys()
    write_data(data, pages, generated, urls, made.sections)
    write_for_agents(data, pages.out, made.twins)
    return [*pages.diagnostics, *made.diagnostics, *_wrong(data, ground, pages, made)]


def _ground(data: Published, generated: Path) -> Ground:
    """Return the frames: one of each page that the navigation names, and one a depth."""
    base_url = data.context.base_url
    shells = empty_pages(generated, map(shell_url, data.context.sources.depths))
    indexes = empty_pages(generated, _urls_in_nav(data, generated))
    common = merged(facts_of(html, "") for html in shells.values())

    loaded = common.foreign if data.is_trusted else ()
    policy = policy_of(shells.values(), loaded)  # other pages have the title of a document
    by_depth = {}
    for url, html in shells.items():
        by_depth[url.count("/")] = frame_of(html, policy, address_of(base_url, url))

    by_url = {}
    for url, html in indexes.items():
        allowed = policy.allowing(html) if data.is_trusted else policy
        compiled = url == console.PAGE and data.has_console
        by_url[url] = frame_of(html, allowed, compiled=compiled)

    has_search_box = all(_SEARCH_BOX in html for html in shells.values())
    return Ground(Frames(by_url, by_depth, base_url), policy, common, has_search_box)


def _urls_in_nav(data: Published, generated: Path) -> list[str]:
    """Return the URLs of our pages that have an empty page of their own."""
    sources = data.context.sources
    urls = [page.url for page in sources.empty.values()]
    documents = (document.url for document in sources.documents)
    return [*urls, *(url for url in documents if (generated / file_of(url)).is_file())]


def _write_draft(draft: Draft, frames: Frames, pages: PageCache, made: Made) -> None:
    """Write a page whose inputs changed; of another one take over the file and its facts."""
    key = key_of(frames.of(draft.url).key, frames.base_url, draft.inputs)
    page = cache(draft.make)
    make = partial(_content, page, frames)
    ids, targets, foreign, sections = pages.page(file_of(draft.url), key, make, draft.above)
    made.facts[draft.url] = PageFacts(frozenset(ids), tuple(targets), tuple(foreign))
    made.sections += (Section(*section) for section in sections)

    path = twin_path(draft.url)
    inputs = [pages.out.after[file_of(draft.url)], key]
    title, description, targets = pages.page(path, inputs, lambda: _twin(page()))
    made.add_twin(draft.url, Twin(path, title, description), targets)


def _twin(page: SitePage) -> Content:
    row = [page.title, page.description or page.title, list(page.markdown.targets)]
    return Content(page.markdown.text, row)


def _content(make: Callable[[], SitePage], frames: Frames) -> Content:
    page = make()
    facts = facts_of(page.html, page.url)
    row = [sorted(facts.ids), list(facts.targets), list(facts.foreign), page.sections]
    return Content(frames.put(page), row, page.diagnostics)


def _write_page(page: SitePage, frames: Frames, pages: PageCache, made: Made) -> None:
    pages.out.write(file_of(page.url), frames.put(page))
    made.facts[page.url] = facts_of(page.html, page.url)
    made.diagnostics += page.diagnostics

    path = twin_path(page.url)
    pages.out.write(path, page.markdown.text)
    twin = Twin(path, page.title, page.description or page.title)
    made.add_twin(page.url, twin, page.markdown.targets)


def _write_generated(
    data: Published, generated: Path, ground: Ground, pages: PageCache, made: Made
) -> None:
    """Write what the generator made besides frames: the repository's own pages, and assets."""
    frames = {file_of(url) for url in ground.frames.by_url}
    sections = cache(partial(sections_by_page, generated))
    for file in sorted(path for path in generated.rglob("*") if path.is_file()):
        path = file.relative_to(generated).as_posix()
        if path in frames or _LEFT_OUT.match(path):
            continue
        if ground.has_search_box and _THEMES_SEARCH.match(path):
            continue
        if not path.endswith(".html"):
            pages.out.write(path, file.read_bytes())
            continue

        url = _url_of(path)
        page = own_page(data, file.read_text("utf-8", "replace"), url, ground.policy)
        pages.out.write(path, page.html)
        made.diagnostics += page.diagnostics
        if url != NOT_FOUND:
            made.facts[url] = page.facts
            _write_own_twin(data, url, sections, made, pages)


def _write_own_twin(
    data: Published, url: str, sections: Sections, made: Made, pages: PageCache
) -> None:
    path = twin_path(url)
    key = [pages.out.after[file_of(url)], data.context.base_url]
    title, description, targets = pages.page(path, key, partial(own_twin, data, url, sections))
    made.add_twin(url, Twin(path, title, description), targets)


def _url_of(path: str) -> str:
    is_folder = path.endswith("/index.html") or path == "index.html"
    if is_folder:
        return path.removesuffix("index.html")

    return path


def _write_assets(data: Published, pages: PageCache, made: Made, progress: Progress) -> None:
    for path in sorted(data.site.assets):
        pages.out.write(ASSETS + path, (data.site.root / path).read_bytes())

    if data.has_console:
        _write_lazily(pages, console.FILES, console.VERSION, console.unpacked)
    if any(f"{DIAGRAM_ID}1" in facts.ids for facts in made.facts.values()):
        _write_diagrams(data, pages, made, progress)


def _write_diagrams(data: Published, pages: PageCache, made: Made, progress: Progress) -> None:
    """Write what draws diagrams; nothing is fetched or unpacked if the last build did."""
    allowed = data.context.registry.workspace.config.site.get("diagrams", True)

    @cache
    def files() -> Mapping[str, bytes]:
        if allowed and not MERMAID.path.is_file():
            progress(FETCHING, 0, 1)

        contents, problem = mermaid_files(allowed=allowed)
        made.diagnostics += [problem] if problem else []
        return contents

    names = pages.value("diagrams", [allowed, mermaid_key()], lambda: sorted(files()))
    _write_lazily(pages, names, [MERMAID.sha512, len(names)], files)


def _write_lazily(
    pages: PageCache,
    paths: Iterable[str],
    key: object,
    make: Callable[[], Mapping[str, str] | Mapping[str, bytes]],
) -> None:
    contents = cache(make)
    for path in paths:
        pages.page(path, key, partial(lambda path: Content(contents()[path]), path))


def _wrong(data: Published, ground: Ground, pages: PageCache, made: Made) -> list[Diagnostic]:
    """Return what is wrong with the links of all pages."""
    files: Set[str] = set(pages.out.after)
    problems = check_pages(made.facts, files, data.origins, ground.facts)
    if data.is_trusted:
        problems = [problem for problem in problems if problem.code != FOREIGN]

    return [_located(data, problem) for problem in problems]


def _located(data: Published, diagnostic: Diagnostic) -> Diagnostic:
    if diagnostic.code != DEAD_ANCHOR:
        return diagnostic

    try:
        text = read_text(data.site.root / diagnostic.location.path, limit=DOCUMENT_LIMIT)
    except OrbitError:
        return diagnostic

    return located(diagnostic, text)
