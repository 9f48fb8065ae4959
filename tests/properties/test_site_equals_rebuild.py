"""However the files came to be what they are, a site that was built step by step is the one built from nothing."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
from hypothesis import given, settings
from tests.properties.test_sync_equals_rebuild import steps, take, write

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.output import MANIFEST


def pages(folder: Path) -> dict[str, str]:
    """Return a hash of every file of a site, and the rows of its database."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in (MANIFEST, "snapshot.duckdb")]
    held = {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    with duckdb.connect(str(folder / "snapshot.duckdb"), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        for name in tables:
            rows = connection.execute(f"FROM {name} ORDER BY ALL").fetchall()
            held[f"table {name}"] = repr([row for row in rows if row[0] != "built_at"])
    return held


@settings(max_examples=4, deadline=None)
@given(steps=steps)
def test_an_incremental_site_is_the_one_built_from_nothing(steps: list[list[Sequence[object]]]) -> None:
    """After any changes, each followed by a build, files and findings are those of a build that knew nothing."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "kept"
        write(root / ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\nproject: demo\n")
        for changes in steps:
            for change in changes:
                take(root, change)
            kept = build_site(Registry.open(root), root / "site")
        fresh = Path(folder) / "fresh"
        shutil.copytree(root, fresh, ignore=shutil.ignore_patterns("cache", "site"))
        first = build_site(Registry.open(fresh), fresh / "site")
        assert pages(root / "site") == pages(fresh / "site")
        assert kept.diagnostics == first.diagnostics
        assert kept.pages == first.pages
