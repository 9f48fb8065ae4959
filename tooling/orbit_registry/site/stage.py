"""Source tree for the generator: the repository's own pages, mirrored documents, curated pages,
configuration.
"""

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orbit_registry.errors import OrbitError, UnsafePathError
from orbit_registry.formats.markdown import Document, is_markdown, parse_markdown
from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import Freshness
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations.citations import in_text
from orbit_registry.operations.freshness.evaluate import Dependencies
from orbit_registry.registry import Registry
from orbit_registry.repository.reader import Collection
from orbit_registry.site.config import (
    HINT,
    SCRIPTS,
    STYLES,
    UserConfig,
    completed_nav,
    default_config,
    digest_of_tree,
    files_in,
    overrides,
    staged_config,
    without_missing,
)
from orbit_registry.site.curated import PAGES, navigation, shells
from orbit_registry.site.documents import (
    LEADS_OUT,
    UNREADABLE,
    MirroredDocument,
    document_page,
    search_words,
    slot,
    with_record_slots,
)
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.mentions import Tasks
from orbit_registry.site.output import Output
from orbit_registry.site.prose import DEAD_LINK, NO_PAGE, Prose, citation
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.urls import document_url
from orbit_registry.snapshot.publication import Publication
from orbit_registry.snapshot.references import References
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_ELSEWHERE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|//|#|/)")
_NO_PROSE = re.compile(
    r"<[A-Za-z/!][^<>]*>|\{[^{}\n]*\}"  # tags and comments; attributes, macros
    # definitions, footnotes, files included
    r"|^[ ]{0,3}\*?\[[^\]\n]*\]:.*$|\[\^[^\]\n]*\]|^.*--8<--.*$",
    re.MULTILINE,
)
_MARKED = re.compile(r"[^\w\s.,:;()/#=\"<>&-]")
"""Characters in a tag that a Markdown extension may interpret."""


def rewritten(
    text: str, path: str, docs: str, site: SiteMap, *, generates_pages: bool = False
) -> Prose:
    """Return a page's Markdown with links to records, mirrored documents and files of the
    repository resolved.

    `path` is from the repository's root. A link to another page of the folder is left to the
    generator, and one to a page that a plugin may add. Ids in its sentences become links to their
    records.
    """
    page = site.curated.get(path) or document_url(path, docs)
    document = parse_markdown(text)
    changes = list(_cited(document, path, page, site))
    slots = f"\n\n{slot('cards')}\n" if changes else ""
    diagnostics: list[Diagnostic] = []

    for link in document.links:
        href = link.target
        if _ELSEWHERE.match(href) or link.target_span is None or not href:
            continue

        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), href.partition("#")[0]))
        if target in site.generated or target in site.curated:
            continue

        is_page = target.startswith(f"{docs}/") and target not in site.mirrored
        if is_page and any(
            f"{target}/{name}" in site.curated for name in ("index.md", "README.md")
        ):
            continue

        is_file = is_page and (site.root / target).is_file()
        if is_file and not is_markdown(target):
            continue
        if is_page and generates_pages and not (site.root / target).exists():
            continue

        destination = site.image(path, href) if link.kind == "image" else site.target(path, href)
        if is_file and (destination.url is None or destination.outside):
            continue  # a page that is left out of the site, and no record's

        if destination.problem:
            code, severity = (
                (DEAD_LINK, Severity.WARNING) if destination.broken else (NO_PAGE, Severity.NOTE)
            )
            diagnostics.append(
                Diagnostic(code, severity, destination.problem, Location(path, link.position))
            )

        if destination.url is not None:
            address = destination.address(page) or ""
            changes.append((link.target_span.start, link.target_span.end, address))
        else:
            changes.append((link.span.start, link.span.end, link.text))

    for start, end, new in sorted(set(changes), reverse=True):
        text = text[:start] + new + text[end:]

    return Prose(text + slots, (), tuple(diagnostics))


def _cited(
    document: Document, path: str, page: str, site: SiteMap
) -> Iterator[tuple[int, int, str]]:
    """Yield where ids in sentences become links: the place, and the tag before or after it.

    The tags are HTML, which the generator leaves alone, because a link in Markdown can't say what
    describes it.
    """
    text = document.text
    spans = [(link.span.start, link.span.end) for link in document.links]
    spans += [
        (span.start, span.end)
        for span in (*document.hidden, *(heading.title for heading in document.headings))
    ]
    spans += [match.span() for match in _NO_PROSE.finditer(text)]

    if document.front_matter is not None:
        spans.append((0, document.content_start))

    for cited in in_text(text, path, site.forms, weak=True):
        start, end = cited.span.start, cited.span.end
        if any(first <= start < last for first, last in spans):
            continue

        url = site.cited(cited.id, path)
        if url is None or url == page:
            continue
        if text[start - 1 : start] == "`" == text[end : end + 1]:
            start, end = start - 1, end + 1

        opening = _MARKED.sub(lambda match: f"&#{ord(match[0])};", citation(site, page, url))
        yield start, end, f"{opening}{text[start:end]}</a>"


_UPWARDS = re.compile(r'\b(href|src)="\.\./')
_PYTHON_NAME = "!!python/name:"
DOCS, OVERRIDES, CONFIG = "docs", "overrides", "mkdocs.yml"


@dataclass(frozen=True, slots=True)
class StagedSite:
    """The source tree: where it is, a digest of all of it,
    and the titles of mirrored documents by their path.
    """

    folder: Path
    digest: str
    titles: Mapping[str, str]
    nav: list[Any]
    unlisted: tuple[
        str, ...
    ]  # the generated pages that the navigation does not name, by their path among the pages
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class SiteSources:
    """What a site is staged from."""

    publication: Publication
    documents: tuple[MirroredDocument, ...]
    folders: tuple[Path, ...]  # the folders that were searched for documents
    user_config: UserConfig | None
    user_files: tuple[
        str, ...
    ]  # the files of the repository's own pages that may be read, from their folder
    adopted: Mapping[str, Record]  # the records whose own page is one of these, by its path
    title: str
    site: SiteMap
    skipped: tuple[Diagnostic, ...]  # what was not read because it leads out of the repository
    tasks: Tasks
    kinds: tuple[Kind, ...]  # the kinds that have records: decisions, kinds with votes, the others
    curated: Mapping[str, str]  # the pages that we write the source of, by their file
    repository: str | None  # the web address of the repository, for the header
    release: str | None  # the newest tag, for the header

    @property
    def header(self) -> dict[str, str]:
        """The generator's settings for the link in the header,
        if the repository's own configuration has none.
        """
        own = self.user_config.data if self.user_config else {}
        if not self.repository or own.get("repo_url"):
            return {}

        edit = (
            {} if own.get("edit_uri") else {"edit_uri": ""}
        )  # which would lead to the staged tree
        return {"repo_url": self.repository, "repo_name": self.repository.split("/", 3)[-1], **edit}

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return self.publication.workspace


@dataclass(frozen=True)
class BuildContext:
    """A staged site: everything that expanding needs, apart from the generator's pages."""

    registry: Registry
    records: Sequence[Record]  # those that the site shows
    freshness: Mapping[str, Freshness]  # of all records that are not fresh, by path
    built: Mapping[str, Built]  # whether the code follows each open decision, by path
    due: Mapping[str, Due]  # why records are to be looked at again, by path
    ground: Dependencies  # what all records rest on
    strays: Sequence[str] | None  # `relevant_untracked` of the `FreshnessReport`
    citing: Mapping[str, References]  # what the files that cite name, by path
    checked: Sequence[str]  # files that checks of records look at
    collection: Collection
    problems: Sequence[Diagnostic]  # those of the collection, without secrets
    sources: SiteSources
    staged: StagedSite
    code: str
    base_url: str | None


def user_pages(publication: Publication, user_config: UserConfig) -> list[str]:
    """Return the files of a repository's own pages that may be read, from their folder."""
    top = publication.workspace.root / user_config.docs
    names = []
    for parent, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # In the generator's order, in which pages that no navigation names follow each other.
        for name in sorted(
            files, key=lambda name: (name.partition(".")[0] not in ("index", "README"), name)
        ):
            if not name.startswith(".") and not (Path(parent) / name).is_symlink():
                path = (Path(parent) / name).relative_to(top).as_posix()
                if not publication.leaves_out(f"{user_config.docs}/{path}"):
                    names.append(path)

    return names


def stage(sources: SiteSources, pages: PageCache, base_url: str | None) -> StagedSite:
    """Write the source tree into a folder, touching only what changed."""
    out = pages.out
    folder = out.folder
    out.begin()
    problems = list(sources.skipped)
    titles = {document.path: title for document, title in _documents(sources, pages, problems)}
    mirrored = {
        document.staged: titles[document.path]
        for document in sources.documents
        if document.path in titles
    }

    user_files = (
        _copy_user_pages(sources, sources.user_config, pages, problems)
        if sources.user_config
        else []
    )
    for path, text in {**sources.curated, **shells()}.items():
        if path not in user_files:
            out.write(f"{DOCS}/{path}", text)

    nav = navigation(sources.kinds, mirrored, sources.curated)
    staged_names = {name.removeprefix(f"{DOCS}/") for name in out.after}
    nav = _navigation(sources, nav, user_files, staged_names, problems)
    _configure(sources, out, nav, base_url, problems)
    out.finish()

    pages.save()
    settings = (
        json.dumps(sources.user_config.data, sort_keys=True, default=_name_of)
        if sources.user_config
        else ""
    )
    digest = key_of(out.after, digest_of_tree(folder / OVERRIDES), str(folder), settings)
    listed = {*user_files, *files_in(nav)}
    unlisted = tuple(path for path in [*sources.curated, *mirrored] if path not in listed)

    return StagedSite(folder, digest, titles, nav, unlisted, (*problems, *pages.diagnostics))


def _name_of(setting: object) -> str:
    """Return what tells a setting that is no text from another, in every run: a function's name."""
    return (
        f"{getattr(setting, '__module__', '')}"
        f".{getattr(setting, '__qualname__', type(setting).__qualname__)}"
    )


def _documents(
    sources: SiteSources, pages: PageCache, problems: list[Diagnostic]
) -> Iterator[tuple[MirroredDocument, str]]:
    for document in sources.documents:
        key = [document.path, document.url, document.stamp, sources.site.forge.edit(document.path)]
        title = pages.page(
            f"{DOCS}/{document.staged}", key, partial(_document, sources, document, problems)
        )
        if title is not None:
            yield document, str(title)


def _document(
    sources: SiteSources, document: MirroredDocument, problems: list[Diagnostic]
) -> Content | None:
    text = _read(sources.publication, document.path, problems)
    if text is None:
        return None
    page, title, prose = document_page(document, text, sources.site)
    return Content(_as_read(sources, document.staged, page), title, prose.diagnostics)


def _as_read(sources: SiteSources, staged: str, page: str) -> str:
    """Return a page's source with the links of its HTML as the generator reads them.

    MkDocs leaves them alone, so they lead from the page; Zensical takes them to lead from the
    source, a folder above.
    """
    if sources.workspace.config.site.get("generator") != "zensical" or staged.endswith("index.md"):
        return page
    return _UPWARDS.sub(r'\1="', page)


def _copy_user_pages(
    sources: SiteSources, config: UserConfig, pages: PageCache, problems: list[Diagnostic]
) -> list[str]:
    site, docs = sources.site, config.docs
    mirrored = {document.path for document in sources.documents}
    copied = [name for name in sources.user_files if f"{docs}/{name}" not in mirrored]
    neighbours = key_of(
        sources.user_files,
        site.mirrored,
        site.curated,
        sorted(site.generated),
        config.generates_pages,
    )

    for name in copied:
        info = (site.root / docs / name).stat()
        record = sources.adopted.get(f"{docs}/{name}")
        states_nav = name.rpartition("/")[2] == config.nav_file
        stamp = [info.st_mtime_ns, info.st_size, info.st_ino]
        key = [name, stamp, search_words(record) if record else "", states_nav, neighbours]

        as_it_is = states_nav or not is_markdown(name)
        make = partial(_user_page, sources, config, name, record, as_it_is, problems)
        pages.page(f"{DOCS}/{name}", key, make)

    return copied


def _user_page(
    sources: SiteSources,
    config: UserConfig,
    name: str,
    record: Record | None,
    as_it_is: bool,
    problems: list[Diagnostic],
) -> Content | None:
    path = f"{config.docs}/{name}"
    if as_it_is:
        content = inside(sources.workspace.root, path).read_bytes()
        try:
            return Content(sources.publication.text(content.decode("utf-8")).encode())
        except UnicodeDecodeError:
            return Content(content)

    text = _read(sources.publication, path, problems)
    if text is None:
        return None

    page = rewritten(text, path, config.docs, sources.site, generates_pages=config.generates_pages)
    return Content(
        with_record_slots(page.html, record) if record else page.html, None, page.diagnostics
    )


def _read(publication: Publication, path: str, problems: list[Diagnostic]) -> str | None:
    root = publication.workspace.root
    try:
        return publication.document(path, read_text(inside(root, path), limit=DOCUMENT_LIMIT))
    except OrbitError as error:
        message = error.message.replace(f"{root}{os.sep}", "")
        problems.append(Diagnostic(UNREADABLE, Severity.ERROR, message, Location(path), error.hint))
        return None


def _configure(
    sources: SiteSources,
    out: Output,
    nav: list[Any],
    base_url: str | None,
    problems: list[Diagnostic],
) -> None:
    user_config = sources.user_config
    folder = out.folder / OVERRIDES
    custom = user_config.data.get("theme") if user_config else None
    custom_dir = custom.get("custom_dir") if isinstance(custom, dict) else None
    templates = _tree(overrides())

    if (
        user_config
        and custom_dir
        and (user_config.file.parent / str(custom_dir)).resolve() != overrides().resolve()
    ):
        root, where = sources.workspace.root, Location(user_config.file.name)
        try:
            templates |= _tree(inside(root, user_config.relative_path(str(custom_dir), root)))
        except UnsafePathError as error:
            message = f"theme.custom_dir is left out: {error.message}"
            problems.append(Diagnostic(UNREADABLE, Severity.WARNING, message, where, LEADS_OUT))

    for name, file in sorted(templates.items()):
        out.write(f"{OVERRIDES}/{name}", file.read_bytes())

    folders = {"docs_dir": DOCS, "site_dir": "site", "custom_dir": str(folder)}
    header = {**sources.header, "extra": {"orbit_release": sources.release, "orbit_staged": True}}
    if user_config is None:
        config = staged_config(default_config(sources.title, nav) | header, folders, base_url)
    else:
        theme = custom if isinstance(custom, dict) else {"name": custom or "mkdocs"}
        base = {
            "INHERIT": str(user_config.file),
            "theme": _theme_of(theme, is_trusted=user_config.is_trusted),
            "nav": nav,
            "extra_css": [
                *STYLES,
                *(style for style in user_config.list_setting("extra_css") if style not in STYLES),
            ],
            "extra_javascript": [
                *SCRIPTS,
                *(
                    script
                    for script in user_config.list_setting("extra_javascript")
                    if script not in SCRIPTS
                ),
            ],
            **header,
        }
        if user_config.makes_nav:
            del base["nav"]

        if user_config.data.get(
            "watch"
        ):  # paths from its own folder, which would be looked for in the staged tree
            base["watch"] = []

        if user_config.blocked_reason:
            base |= {
                name: user_config.list_setting(name) for name in ("plugins", "markdown_extensions")
            }
            reason = (
                f"its templates, plugins and snippets are not used, because they run code: "
                f"{user_config.blocked_reason}"
            )
            problems.append(
                Diagnostic(
                    UNREADABLE, Severity.WARNING, reason, Location(user_config.file.name), HINT
                )
            )

        config = staged_config(base, folders, base_url)

    out.write(CONFIG, dumped(config))


def _theme_of(theme: Mapping[str, Any], *, is_trusted: bool) -> dict[str, Any]:
    """Return the theme's name, without the fonts that Material loads from another host: the pages'
    policy blocks them.
    """
    name = theme.get("name", "material")
    fonts: dict[str, Any] = {} if is_trusted or name != "material" else {"font": False}
    return {"name": name, **fonts}


def dumped(config: Mapping[str, Any]) -> str:
    """Return a configuration as YAML: JSON, but for the functions of Material's,
    which are named as in `mkdocs.yml`.
    """
    names: set[str] = set()  # a text that only looks like one stays a text

    def named(value: object) -> str:
        names.add(name := f"{_PYTHON_NAME}{_name_of(value)}")
        return name

    text = json.dumps(config, indent=1, sort_keys=True, default=named)
    for name in names:
        text = text.replace(json.dumps(name), f"{name} ''")

    return text


def _navigation(
    sources: SiteSources,
    generated: list[object],
    user_files: list[str],
    staged_names: set[str],
    problems: list[Diagnostic],
) -> list[Any]:
    if sources.user_config is None:
        return [{"Home": "index.md"}, *generated]

    pages = [name for name in sources.user_config.published(user_files) if is_markdown(name)]
    nav = completed_nav(sources.user_config.list_setting("nav"), pages, generated)
    publication, docs = sources.publication, sources.user_config.docs
    if sources.user_config.generates_pages:
        folder = sources.workspace.root / docs
        staged_names = staged_names | {
            name for name in files_in(nav) if not (folder / name).exists()
        }

    nav, missing = without_missing(nav, staged_names, publication.text)
    where = Location(sources.user_config.file.relative_to(sources.workspace.root).as_posix())
    empty = {
        f"{name}/index.md" for name in (*PAGES, *(kind.plural for kind in sources.workspace.kinds))
    }
    problems += [
        Diagnostic(
            DEAD_LINK, Severity.WARNING, f"the navigation names {name}, which does not exist", where
        )
        for name in missing
        if name not in empty and not publication.leaves_out(f"{docs}/{name}")
    ]

    return nav


def _tree(source: Path) -> dict[str, Path]:
    files = (path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    return {file.relative_to(source).as_posix(): file for file in files}
