"""Where everything of a lake is on its site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_fleet.checkout import DOCUMENTS
from orbit_fleet.lake import Repository
from orbit_fleet.rows import forge_in
from orbit_registry.formats.hosting import Forge, forge_of
from orbit_registry.model.kind import KindTable
from orbit_registry.model.record import Record
from orbit_registry.site.destinations import Destination
from orbit_registry.site.sitemap import SiteMap, site_map
from orbit_registry.site.urls import record_url, safe_segment

REPOSITORIES = "repositories/"
KINDS = ("adr", "rule", "learning")
"""The kinds whose records have a page."""
_NOWHERE = Path("/nonexistent")
"""No file of a repository is here."""


def repository_url(name: str) -> str:
    """Return the URL of a repository's page: `repositories/acme/shop/`."""
    return REPOSITORIES + "".join(f"{safe_segment(part)}/" for part in name.split("/") if part)


@dataclass(frozen=True, slots=True)
class Places:
    """The records that have a page: their kinds by repository and id."""

    kinds: KindTable
    records: Mapping[tuple[str, str], str]
    repositories: frozenset[str]

    def record(self, repository: str, record_id: str) -> str:
        """Return the URL of a record; "" for one without a page."""
        kind = self.records.get((repository, record_id))
        if kind is None:
            return ""

        return repository_url(repository) + record_url(self.kinds[kind].plural, record_id)


class RootMap(SiteMap):
    """The map of pages over all: their links are addresses from the top of the site."""

    def target(self, origin: str, href: str) -> Destination:
        """Return what a link of such a page leads to."""
        if href.startswith("/"):
            return Destination(href[1:])

        return Destination(href, outside=True)


class RepositoryMap(SiteMap):
    """The map of a repository's pages, from its own top: files are at the forge."""

    def target(self, origin: str, href: str) -> Destination:
        """Return what a link in a document leads to: a page, else the file at the forge."""
        return self._at_forge(super().target(origin, href), origin, href)

    def image(self, origin: str, href: str) -> Destination:
        """Return where a picture is: at the forge."""
        return self._at_forge(super().image(origin, href), origin, href)

    def _at_forge(self, destination: Destination, origin: str, href: str) -> Destination:
        if not destination.broken:
            return destination

        folder = origin.rpartition("/")[0]
        path, _, fragment = href.partition("#")
        full = path.lstrip("/") if path.startswith("/") else f"{folder}/{path}".lstrip("/")
        address = self.forge.linked(full, fragment) if self.forge.holds(full) else None
        return Destination(address, outside=address is not None)


def root_map(kinds: KindTable) -> RootMap:
    """Return the map of the pages over all repositories."""
    return RootMap(_NOWHERE, forge_of(None, None), kinds.id_forms, {}, {}, {})


def repository_map(kinds: KindTable, state: Repository, records: list[Record]) -> RepositoryMap:
    """Return the map of a repository's pages."""
    plain = site_map(_NOWHERE, forge(state), kinds.id_forms, records, {}, {}, (), "", (), None)
    return RepositoryMap(**vars(plain))


def forge(state: Repository) -> Forge:
    """Return the forge of a repository, whose links lead to the commit that was read."""
    # The paths of documents begin at the top of the repository.
    return forge_in(state, "" if state.reader == DOCUMENTS else state.folder)
