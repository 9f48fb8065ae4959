"""Source tree for the generator: the repository's own pages, mirrored documents, curated pages,
configuration.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from orbit_registry.errors import OrbitError
from orbit_registry.formats.links import is_markdown
from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import Freshness
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import Dependencies
from orbit_registry.registry import Registry
from orbit_registry.repository.reader import Collection
from orbit_registry.site.config import UserConfig, digest_of_tree, files_in
from orbit_registry.site.curated import EmptyPage, navigation, shells, staged_page
from orbit_registry.site.documents import (
    UNREADABLE,
    MirroredDocument,
    ProseLoader,
    search_words,
    title_of,
    with_record_slots,
)
from orbit_registry.site.memo import Content, PageCache, key_of
from orbit_registry.site.own_sources import rewritten
from orbit_registry.site.prose import parsed
from orbit_registry.site.search_data import lead
from orbit_registry.site.sources import SiteSources
from orbit_registry.site.stage_config import (
    DOCS,
    OVERRIDES,
    completed_navigation,
    configure,
    name_of,
)
from orbit_registry.snapshot.publication import Publication
from orbit_registry.snapshot.references import References
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text


@dataclass(frozen=True, slots=True)
class StagedSite:
    """The source tree: where it is, a digest of all of it,
    and the titles of mirrored documents by their path.
    """

    folder: Path
    digest: str
    titles: Mapping[str, str]
    descriptions: Mapping[str, str]
    nav: list[Any]
    unlisted: tuple[
        str, ...
    ]  # the generated pages that the navigation does not name, by their path among the pages
    diagnostics: tuple[Diagnostic, ...]


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
    heads = _heads(sources, pages, problems)

    if sources.user_config:
        _copy_user_pages(sources, sources.user_config, pages, problems)
    for path, page in sources.empty.items():
        out.write(f"{DOCS}/{path}", staged_page(page))
    for path, text in shells(sources.depths).items():
        out.write(f"{DOCS}/{path}", text)

    mirrored = {document.staged: title for document, (title, _) in heads.items()}
    staged_names = {name.removeprefix(f"{DOCS}/") for name in out.after} | mirrored.keys()
    nav = navigation(sources.kinds, mirrored, sources.curated)
    nav = completed_navigation(sources, nav, staged_names, problems)
    in_nav = {*files_in(nav)}
    for document, (title, _) in heads.items():
        # No page is as deep as one in the site's root.
        if document.staged in in_nav or sources.makes_nav or "/" not in document.url:
            source = staged_page(EmptyPage(document.url, title, "", hide=("footer",)))
            out.write(f"{DOCS}/{document.staged}", source)

    configure(sources, out, nav, base_url, problems)
    out.finish()

    pages.save()
    settings = ""
    if sources.user_config:
        settings = json.dumps(sources.user_config.data, sort_keys=True, default=name_of)

    digest = key_of(out.after, digest_of_tree(folder / OVERRIDES), str(folder), settings)
    listed = {*sources.user_files, *in_nav}
    generated = {*sources.curated, *mirrored}
    unlisted = [name for name in out.after if name.removeprefix(f"{DOCS}/") in generated - listed]
    titles = {document.path: title for document, (title, _) in heads.items()}
    descriptions = {document.path: description for document, (_, description) in heads.items()}
    return StagedSite(
        folder,
        digest,
        titles,
        descriptions,
        nav,
        tuple(name.removeprefix(f"{DOCS}/") for name in unlisted),
        (*problems, *pages.diagnostics),
    )


def _heads(
    sources: SiteSources, pages: PageCache, problems: list[Diagnostic]
) -> dict[MirroredDocument, tuple[str, str]]:
    """Return the documents that can be read, each with its title and description."""
    heads = {}
    for document in sources.documents:
        make = partial(_head, sources, document, problems)
        head = pages.value(f"head of {document.path}", document.stamp, make)
        if head is not None:
            title, description = head
            heads[document] = (str(title), str(description))

    return heads


def _head(
    sources: SiteSources, document: MirroredDocument, problems: list[Diagnostic]
) -> list[str] | None:
    text = published_text(sources.loader, document.path, problems)
    if text is None:
        return None

    title = title_of(parsed(text).structure.headings, document.path)
    return [title, lead(text) or title]


def _copy_user_pages(
    sources: SiteSources, config: UserConfig, pages: PageCache, problems: list[Diagnostic]
) -> None:
    site, docs, copied = sources.site, config.docs, list(sources.copied)
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

    text = published_text(sources.loader, path, problems)
    if text is None:
        return None

    page = rewritten(text, path, config.docs, sources.site, generates_pages=config.generates_pages)
    return Content(
        with_record_slots(page.html, record) if record else page.html, None, page.diagnostics
    )


def published_text(loader: ProseLoader, path: str, problems: list[Diagnostic]) -> str | None:
    """Return the text of a file as readers may see it; None where they may see none of it, or where
    it can't be read, which is added to the problems.
    """
    document = loader.documents.by_path.get(path)
    if document is not None:
        return document.text

    root = loader.root
    try:
        text = read_text(inside(root, path), limit=DOCUMENT_LIMIT)
        return loader.publication.document(path, text)
    except OrbitError as error:
        message = error.message.replace(f"{root}{os.sep}", "")
        problems.append(Diagnostic(UNREADABLE, Severity.ERROR, message, Location(path), error.hint))
        return None
