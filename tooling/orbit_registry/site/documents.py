"""Finds the documents that become pages and renders one to a page's source; records are not its matter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from orbit_registry.errors import UnsafePathError
from orbit_registry.formats.globs import Glob, match_any, parse_glob
from orbit_registry.formats.markdown import content_start, is_markdown
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.prose import Heading, Place, Prose, render
from orbit_registry.site.sanitize import clean
from orbit_registry.site.search_data import lead
from orbit_registry.site.sitemap import OVERVIEW, SiteMap, folder_anchor
from orbit_registry.site.urls import document_url, relative
from orbit_registry.workspace.files import FOREIGN, inside, walk
from orbit_registry.workspace.workspace import Workspace

BANNER = "Mirrored from {path}. Edit the source document in the repository, not this generated page."
UNREADABLE = "SITE392"
LEADS_OUT = "put the files themselves inside the repository"
_BUILT = frozenset({"build", "dist"})
UNSEARCHED = FOREIGN | _BUILT
"""Folders in which no document is looked for, wherever they stand."""
_TOC_LEVELS = (2, 3)
_WILD = re.compile(r"[*?\[{]")
# Characters with a meaning to extensions that read the page's source before raw HTML is set aside.
_INERT = str.maketrans({"`": "&#96;", "~": "&#126;", "{": "&#123;", "}": "&#125;"})


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the repository that is mirrored, and its page."""

    path: str
    url: str
    stamp: str
    """Changes when the file does."""

    @property
    def staged(self) -> str:
        """The file in the source tree that becomes its page."""
        name = self.path.rpartition("/")[2].lower()
        stem = self.url.removesuffix(".html").rstrip("/")
        return f"{self.url}index.md" if name.startswith(("index.", "readme.")) else f"{stem}.md"


def mirrored_documents(
    workspace: Workspace, docs: str | None, taken: Sequence[str], directories: bool = True
) -> tuple[list[Path], list[Document], list[Diagnostic]]:
    """Return the folders searched, in them the design documents and what `site.mirror` names, and what was skipped.

    `taken` are the URLs that generated pages have; a document that would stand there stands below `documents/`.
    """
    config = workspace.config
    globs = [f"{config.design}/**", *config.site.get("mirror", ())]
    chosen = [glob for glob in map(parse_glob, globs) if isinstance(glob, Glob)]
    found = []
    used = set(taken)
    folders, skipped = _folders(workspace.root, globs)
    for path, file in sorted({path: file for top in folders for path, file in _walk(workspace.root, top)}.items()):
        if match_any(chosen, path) is None:
            continue
        url = document_url(path, docs, directories)
        if url in used or not url:
            url = document_url(f"documents/{path}", None, directories)
        used.add(url)
        info = file.stat()
        found.append(Document(path, url, f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}"))
    return folders, found, skipped


def _folders(root: Path, globs: Sequence[str]) -> tuple[list[Path], list[Diagnostic]]:
    """Return the folders that globs begin with, so that only they are searched; one that leads out is a finding."""
    tops = {_WILD.split(glob, maxsplit=1)[0].rpartition("/")[0] for glob in globs if not glob.startswith("!")}
    folders, skipped = [], []
    for top in sorted(tops):
        try:
            folders.append(inside(root, top) if top else root)
        except UnsafePathError as error:
            message = f"no document of {top} is shown: {error.message}"
            skipped.append(Diagnostic(UNREADABLE, Severity.WARNING, message, Location(top), LEADS_OUT))
    return folders, skipped


def _walk(root: Path, top: Path) -> Iterator[tuple[str, Path]]:
    for path in walk(root, top, without=_BUILT, hidden=False):
        file = root / path
        if is_markdown(path) and not file.is_symlink():
            yield path, file


def title_of(text_headings: Sequence[Heading], path: str) -> str:
    """Return a document's title: its first heading of the first level, else its file's name in words."""
    for heading in text_headings:
        if heading.level == 1 and heading.text.strip():
            return heading.text.strip()
    stem = path.rpartition("/")[2].rpartition(".")[0]
    words = stem.lstrip("0123456789").strip("_-. ").replace("_", " ").replace("-", " ")
    return (words or stem).capitalize()


def contents(headings: Sequence[Heading]) -> list[dict[str, object]]:
    """Return the contents of a page as the theme nests them; titles are escaped."""
    top: list[dict[str, object]] = []
    for heading in headings:
        if heading.level not in _TOC_LEVELS:
            continue
        entry: dict[str, object] = {"url": f"#{heading.id}", "title": escape(heading.text), "children": []}
        last = top[-1]["children"] if top and heading.level > _TOC_LEVELS[0] else top
        if isinstance(last, list):
            last.append(entry)
    return top


def document_page(document: Document, text: str, site: SiteMap) -> tuple[str, str, Prose]:
    """Return a document as the source of its page, its title, and what rendering found.

    The body is finished, sanitised HTML: the generator never sees the Markdown of a document.
    """
    prose = render(text, Place(document.path, 1, document.url), site)
    title = title_of(prose.headings, document.path)
    edit = site.forge.edit(document.path)
    source = f'<p class="orbit-mirrored">{escape(BANNER.format(path=document.path))}'
    source += f' <a href="{escape(edit)}">Edit the source</a></p>' if edit else "</p>"
    folder = document.path.rpartition("/")[0]
    shelf = f"{relative(document.url, OVERVIEW)}#{folder_anchor(folder)}"
    crumbs = f'<p class="orbit-crumbs"><a href="{escape(shelf)}">Design documents</a> / {escape(folder)}</p>'
    heading = "" if any(one.level == 1 for one in prose.headings) else f"<h1>{escape(title)}</h1>"
    shown = f'<div class="orbit-prose">{heading}{prose.html}</div>'
    body = clean(f'<div class="orbit-document">{crumbs}{shown}{source}</div>')
    # What leads on from a document, expand knows: the theme's own footer names only pages of the navigation.
    said = lead(text[content_start(text) :]) or title
    front = {
        "title": escape(title),
        "description": escape(said),
        "orbit_toc": contents(prose.headings),
        "hide": ["footer"],
    }
    return with_front_matter(front, f"{body.translate(_INERT)}{slot('about')}{slot('cards')}"), title, prose


def slot(name: str) -> str:
    """Return the place in a page that expand fills."""
    return f'<div data-orbit-slot="{name}"></div>'


def neighbours(documents: Sequence[Document], titles: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return by URL the paths of the documents before and after each in their list, "" for none."""
    shown = [document for document in documents if document.path in titles]
    paths = ["", *(document.path for document in shown), ""]
    return {document.url: (paths[at], paths[at + 2]) for at, document in enumerate(shown)}


def with_front_matter(front: Mapping[str, object], body: str) -> str:
    """Return a page's source: front matter (as JSON, which is YAML) and body."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])
