"""Writes the source tree that a generator turns into the curated pages and the shells; it renders no record."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from orbit_registry.errors import OrbitError, UnsafePathError
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import Freshness
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.probe import Ground
from orbit_registry.repository.reader import Collection
from orbit_registry.site.adopted import marked, marks
from orbit_registry.site.curated import rewritten
from orbit_registry.site.documents import LEADS_OUT, UNREADABLE, Document, document_page
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.mentions import Tasks
from orbit_registry.site.output import Output
from orbit_registry.site.pages import curated_pages, navigation, shells
from orbit_registry.site.prose import DEAD_LINK
from orbit_registry.site.result import Readable
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.theme import SCRIPTS, STYLES, built_in, digest_of_tree, overrides, staged
from orbit_registry.site.user_config import HINT, OwnConfig, completed_nav, files_in, without_missing
from orbit_registry.snapshot.edges import Said
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_UPWARDS = re.compile(r'\b(href|src)="\.\./')
_PYTHON_NAME = "!!python/name:"
DOCS, OVERRIDES, CONFIG = "docs", "overrides", "mkdocs.yml"


@dataclass(frozen=True, slots=True)
class Staged:
    """The source tree: where it is, a digest of all of it, and the titles of mirrored documents by their path."""

    folder: Path
    digest: str
    titles: Mapping[str, str]
    nav: list[Any]
    unlisted: tuple[str, ...]
    """The generated pages that the navigation does not name, by their path among the pages."""
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What a site is staged from."""

    publication: Publication
    kinds: tuple[Kind, ...]
    documents: tuple[Document, ...]
    folders: tuple[Path, ...]
    """The folders that were searched for documents."""
    own: OwnConfig | None
    own_files: tuple[str, ...]
    """The files of the repository's own pages that may be read, from their folder."""
    adopted: Mapping[str, Record]
    """The records whose own page is one of these, by its path."""
    title: str
    base_url: str | None
    site: SiteMap
    skipped: tuple[Diagnostic, ...] = ()
    """What was not read because it leads out of the repository."""
    tasks: Tasks = field(default_factory=Tasks)
    listed: tuple[Kind, ...] = ()
    """The kinds that the navigation names: those with records, and those that are looked for without."""

    @property
    def workspace(self) -> Workspace:
        """Where it all stands."""
        return self.publication.workspace


@dataclass(frozen=True)
class Prepared:
    """A staged site: everything that expanding needs beside the generator's pages."""

    registry: Readable
    records: Sequence[Record]
    """Those that the site shows."""
    freshness: Mapping[str, Freshness]
    """Of all records that are not fresh, by path."""
    ground: Ground
    """What all records rest on."""
    strays: Sequence[str] | None
    """The files that git would add, where what is said of a record hangs on them; see `Standing.strays`."""
    citing: Mapping[str, Said]
    """What the files that cite name, by path."""
    collection: Collection
    problems: Sequence[Diagnostic]
    """Those of the collection, without secrets."""
    sources: Sources
    staged: Staged
    code: str
    base_url: str | None

    def export(self, file: Path) -> object:
        """Write the snapshot for download, made of what was read for the pages."""
        from orbit_registry.snapshot.current import export_snapshot  # most builds write none

        return export_snapshot(self.registry.workspace, file, reading=self.registry.reading)


def own_pages(publication: Publication, own: OwnConfig) -> list[str]:
    """Return the files of a repository's own pages that may be read, from their folder."""
    top = publication.workspace.root / own.docs
    found = []
    for parent, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # In the generator's order, in which pages that no navigation names follow each other.
        for name in sorted(files, key=lambda name: (name.partition(".")[0] not in ("index", "README"), name)):
            if not name.startswith(".") and not (Path(parent) / name).is_symlink():
                path = (Path(parent) / name).relative_to(top).as_posix()
                if not publication.leaves_out(f"{own.docs}/{path}"):
                    found.append(path)
    return found


def stage(sources: Sources, pages: PageCache) -> Staged:
    """Write the source tree into a folder, touching only what changed."""
    out = pages.out
    folder = out.folder
    out.begin()
    problems = list(sources.skipped)
    titles = {document.path: title for document, title in _documents(sources, pages, problems)}
    mirrored = {document.staged: titles[document.path] for document in sources.documents if document.path in titles}
    has_tasks = bool(sources.tasks.named)
    curated = curated_pages(
        sources.workspace.kinds, sources.title, sources.documents, has_tasks=has_tasks, listed=sources.listed
    )
    own_files = _own(sources, pages, problems) if sources.own else []
    for path, text in {**curated, **shells()}.items():
        if path not in own_files:
            out.write(f"{DOCS}/{path}", text)
    nav = navigation(sources.listed, mirrored, has_tasks=has_tasks)
    known = {name.removeprefix(f"{DOCS}/") for name in out.after}
    nav = _navigation(sources, nav, own_files, known, problems)
    _configure(sources, out, nav, problems)
    out.finish()
    pages.save()
    settings = json.dumps(sources.own.data, sort_keys=True, default=_name_of) if sources.own else ""
    digest = key_of(out.after, digest_of_tree(folder / OVERRIDES), str(folder), settings)
    listed = {*own_files, *files_in(nav)}
    unlisted = tuple(path for path in [*curated, *mirrored] if path not in listed)
    return Staged(folder, digest, titles, nav, unlisted, (*problems, *pages.diagnostics))


def _name_of(setting: object) -> str:
    """Return what tells a setting that is no text from another, in every run: a function's name."""
    return f"{getattr(setting, '__module__', '')}.{getattr(setting, '__qualname__', type(setting).__qualname__)}"


def _documents(sources: Sources, pages: PageCache, problems: list[Diagnostic]) -> Iterator[tuple[Document, str]]:
    for document in sources.documents:
        key = [document.path, document.url, document.stamp, sources.site.forge.edit(document.path)]
        title = pages.page(f"{DOCS}/{document.staged}", key, partial(_document, sources, document, problems))
        if title is not None:
            yield document, str(title)


def _document(sources: Sources, document: Document, problems: list[Diagnostic]) -> Content | None:
    text = _read(sources.publication, document.path, problems)
    if text is None:
        return None
    page, title, prose = document_page(document, text, sources.site)
    return Content(_as_read(sources, document.staged, page), title, prose.diagnostics)


def _as_read(sources: Sources, staged: str, page: str) -> str:
    """Return a page's source with the links of its HTML as the generator reads them.

    MkDocs leaves them alone, so they lead from the page; Zensical takes them to lead from the source, a folder above.
    """
    if sources.workspace.config.site.get("generator") != "zensical" or staged.endswith("index.md"):
        return page
    return _UPWARDS.sub(r'\1="', page)


def _own(sources: Sources, pages: PageCache, problems: list[Diagnostic]) -> list[str]:
    """Copy a repository's own pages, with the links that leave their folder rewritten; return their files."""
    if sources.own is None:
        return []
    site, docs = sources.site, sources.own.docs
    mirrored = {document.path for document in sources.documents}
    copied = [name for name in sources.own_files if f"{docs}/{name}" not in mirrored]
    neighbours = key_of(sources.own_files, site.mirrored, site.curated, sorted(site.generated))
    for name in copied:
        info = (site.root / docs / name).stat()
        record = sources.adopted.get(f"{docs}/{name}")
        states_nav = name.rpartition("/")[2] == sources.own.nav_file
        stamp = [info.st_mtime_ns, info.st_size, info.st_ino]
        key = [name, stamp, marks(record) if record else "", states_nav, neighbours]
        pages.page(f"{DOCS}/{name}", key, partial(_own_page, sources, name, record, states_nav, problems))
    return copied


def _own_page(
    sources: Sources, name: str, record: Record | None, states_nav: bool, problems: list[Diagnostic]
) -> Content | None:
    docs = sources.own.docs if sources.own else ""
    path = f"{docs}/{name}"
    if states_nav or not is_markdown(name):
        return Content(_readable(sources.publication, inside(sources.workspace.root, path).read_bytes()))
    text = _read(sources.publication, path, problems)
    if text is None:
        return None
    page = rewritten(text, path, docs, sources.site)
    return Content(marked(page.html, record) if record else page.html, None, page.diagnostics)


def _readable(publication: Publication, content: bytes) -> bytes:
    """Return a file as it may be published: a text without what is withheld, anything else as it is."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    return publication.text(text).encode()


def _read(publication: Publication, path: str, problems: list[Diagnostic]) -> str | None:
    root = publication.workspace.root
    try:
        return publication.document(path, read_text(inside(root, path), limit=DOCUMENT_LIMIT))
    except OrbitError as error:
        said = error.message.replace(f"{root}{os.sep}", "")
        problems.append(Diagnostic(UNREADABLE, Severity.ERROR, said, Location(path), error.hint))
        return None


def _configure(sources: Sources, out: Output, nav: list[Any], problems: list[Diagnostic]) -> None:
    """Write the theme's folder and the generator's configuration."""
    own = sources.own
    folder = out.folder / OVERRIDES
    custom = own.data.get("theme") if own else None
    theirs = custom.get("custom_dir") if isinstance(custom, dict) else None
    templates = _tree(overrides())
    if own and theirs and (own.file.parent / str(theirs)).resolve() != overrides().resolve():
        try:
            templates |= _tree(inside(sources.workspace.root, own.named(str(theirs), sources.workspace.root)))
        except UnsafePathError as error:
            message = f"theme.custom_dir is left out: {error.message}"
            problems.append(Diagnostic(UNREADABLE, Severity.WARNING, message, Location(own.file.name), LEADS_OUT))
    for name, file in sorted(templates.items()):
        out.write(f"{OVERRIDES}/{name}", file.read_bytes())
    folders = {"docs_dir": DOCS, "site_dir": "site", "custom_dir": str(folder)}
    if own is None:
        config = staged(built_in(sources.title, nav), folders, sources.base_url)
    else:
        theme = custom if isinstance(custom, dict) else {"name": custom or "mkdocs"}
        base = {
            "INHERIT": str(own.file),
            "theme": {"name": theme.get("name", "material")},
            "nav": nav,
            "extra_css": [*STYLES, *(one for one in own.words("extra_css") if one not in STYLES)],
            "extra_javascript": [*SCRIPTS, *(one for one in own.words("extra_javascript") if one not in SCRIPTS)],
            "extra": {"orbit_staged": True},
        }
        if own.makes_nav:
            del base["nav"]
        if own.data.get("watch"):  # paths from its own folder, which would be looked for in the staged tree
            base["watch"] = []
        if own.held_back:
            base |= {name: own.words(name) for name in ("plugins", "markdown_extensions")}
            said = f"its templates, plugins and snippets of files are left out: {own.held_back}"
            problems.append(Diagnostic(UNREADABLE, Severity.WARNING, said, Location(own.file.name), HINT))
        config = staged(base, folders, sources.base_url)
    out.write(CONFIG, dumped(config))


def dumped(config: Mapping[str, Any]) -> str:
    """Return a configuration as YAML: JSON, but for the functions of Material's, which are named as in `mkdocs.yml`."""
    names: set[str] = set()

    def named(value: Any) -> str:
        names.add(f"{_PYTHON_NAME}{value.__module__}.{value.__qualname__}")
        return f"{_PYTHON_NAME}{value.__module__}.{value.__qualname__}"

    text = json.dumps(config, indent=1, sort_keys=True, default=named)
    for name in names:
        text = text.replace(json.dumps(name), f"{name} ''")
    return text


def _navigation(
    sources: Sources, generated: list[object], own_files: list[str], known: set[str], problems: list[Diagnostic]
) -> list[Any]:
    """Return the whole navigation; an entry of the repository's own that names no page is a finding."""
    if sources.own is None:
        return [{"Home": "index.md"}, *generated]
    pages = [name for name in sources.own.shows(own_files) if is_markdown(name)]
    nav, missing = without_missing(completed_nav(sources.own.words("nav"), pages, generated), known)
    publication, docs = sources.publication, sources.own.docs
    nav = _readable_titles(publication, nav)
    where = Location(sources.own.file.relative_to(sources.workspace.root).as_posix())
    problems += [
        Diagnostic(DEAD_LINK, Severity.WARNING, f"the navigation names {name}, which does not exist", where)
        for name in missing
        if not publication.leaves_out(f"{docs}/{name}")
    ]
    return nav


def _readable_titles(publication: Publication, entries: list[Any]) -> list[Any]:
    """Return a navigation whose titles may be read."""
    return [
        {
            publication.text(str(title)): _readable_titles(publication, below) if isinstance(below, list) else below
            for title, below in entry.items()
        }
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]


def _tree(source: Path) -> dict[str, Path]:
    """Return the files below a folder by their path from it."""
    files = (path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    return {file.relative_to(source).as_posix(): file for file in files}
