"""What a site is staged from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.config import UserConfig
from orbit_registry.site.curated import SHELL_DEPTHS, EmptyPage
from orbit_registry.site.documents import MirroredDocument, ProseLoader
from orbit_registry.site.mentions import Tasks
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SiteSources:
    """What a site is staged from."""

    loader: ProseLoader
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
    curated: Mapping[str, EmptyPage]  # the pages that the navigation names, by their file
    release: str | None  # the newest tag, for the header

    @property
    def header(self) -> dict[str, str]:
        """The generator's settings for the link in the header,
        if the repository's own configuration has none.
        """
        own = self.user_config.data if self.user_config else {}
        repository = self.site.forge.repository
        if not repository or own.get("repo_url"):
            return {}

        edit = (
            {} if own.get("edit_uri") else {"edit_uri": ""}
        )  # which would lead to the staged tree
        return {"repo_url": repository, "repo_name": repository.split("/", 3)[-1], **edit}

    @property
    def copied(self) -> tuple[str, ...]:
        """The files of the repository's own pages that the generator reads."""
        if self.user_config is None:
            return ()

        mirrored = {document.path for document in self.documents}
        docs = self.user_config.docs
        return tuple(name for name in self.user_files if f"{docs}/{name}" not in mirrored)

    @property
    def empty(self) -> dict[str, EmptyPage]:
        """The pages that the navigation names, without those that the repository has itself."""
        copied = set(self.copied)
        return {name: page for name, page in self.curated.items() if name not in copied}

    @property
    def makes_nav(self) -> bool:
        """Whether a plugin makes the navigation out of the files that it has."""
        return self.user_config is not None and self.user_config.makes_nav

    @property
    def depths(self) -> list[int]:
        """How deep pages are that the navigation may not name."""
        depths = {document.url.count("/") for document in self.documents}
        return sorted({*SHELL_DEPTHS, *depths} - {0})

    @property
    def publication(self) -> Publication:
        """What readers may see."""
        return self.loader.publication

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return self.publication.workspace
