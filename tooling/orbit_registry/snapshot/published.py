"""Writes the snapshot that others may read: made of published records alone, beside the one that this machine keeps.

Rows taken out of a finished file could leave their bytes in it, so a filtered file is never a copy of the whole one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from orbit_registry.checks.citing import references_of
from orbit_registry.checks.derivation import standing_of_all
from orbit_registry.records.freshness import Freshness
from orbit_registry.snapshot.build import write_database
from orbit_registry.snapshot.delta import sources_of
from orbit_registry.snapshot.export import export
from orbit_registry.snapshot.policy import NO_SECRETS
from orbit_registry.snapshot.publication import publication_of
from orbit_registry.snapshot.rows import rows_of
from orbit_registry.snapshot.sync import meta_of
from orbit_registry.store.decisions.prose import prose_of
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace


def export_published(
    workspace: Workspace,
    reading: Reading,
    file: Path,
    parquet: Path | None = None,
    freshness: Mapping[str, Freshness] | None = None,
) -> list[Path]:
    """Write what `site.publish` admits, and where asked a Parquet file a table; returns the paths.

    Raises what `snapshot.export.export` does.
    """
    publication = publication_of(workspace, reading.collection)
    prose = prose_of(workspace, reading.entries, reading.documents)
    inbox = workspace.relative(workspace.inbox) if workspace.config.inbox == "local" else ""
    shared = [one for one in reading.collection.records if not (inbox and one.path.startswith(f"{inbox}/"))]
    known = standing_of_all(workspace, shared).freshness if freshness is None else freshness
    records = publication.records(NO_SECRETS.applied(prose.filled(shared)))
    rows = rows_of(
        records,
        sources_of(reading, prose, {one.path for one in records}, False),
        freshness=publication.freshness(known),
        half_life_days=half_life_days(),
        references={one.path: references_of(one, workspace.kinds.id_forms) for one in records},
    )
    with tempfile.TemporaryDirectory(prefix="orbit-") as folder:
        whole = Path(folder) / "snapshot.duckdb"
        write_database(whole, rows, meta_of(workspace, rows.digest))
        return export(whole, file, parquet)
