"""What checks ask of texts and records: what they cite, how they read, what globs match; it remembers no answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from orbit_registry.checks.citing import cited_by, cited_in
from orbit_registry.checks.matching import count_matches
from orbit_registry.checks.wording import wording
from orbit_registry.records.record import Record
from orbit_registry.text.citations import Citation, IdForms

if TYPE_CHECKING:
    from orbit_registry.store.freshness.relocation import Renames


class Pieces:
    """The answers where there is no file; `checks.material.Material` reads, and gives each answer once."""

    def text(self, path: str) -> str | None:
        """Return the text of a file, named from the root; None where it has none."""
        return None

    def counts(self, globs: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        """Return how many of some files each glob matches, as `matching.count_matches` does."""
        return count_matches(globs, files)

    def renames(self, since: datetime, files: Sequence[str]) -> Renames | None:
        """Return the renames that git saw since a moment; None where it can't tell."""
        return None

    def cited(self, path: str, forms: IdForms) -> Sequence[tuple[str, int, int]]:
        """Return the ids that a file cites, each with line and column."""
        return cited_in(self.text(path), path, forms)

    def cited_by(self, record: Record, forms: IdForms) -> Sequence[Citation]:
        """Return what the text of a record's own file surely cites."""
        return cited_by(record, forms)

    def wording(self, record: Record) -> str:
        """Return what a record says, as compared for duplicates."""
        return wording(record)
