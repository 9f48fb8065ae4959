"""However the files came to be what they are, a site that was built step by step is the one built from nothing."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import Git
from tests.properties.test_sync_equals_rebuild import LOG, change, take, target, write

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.output import MANIFEST

CONFIG = """format: orbit-registry
schema_version: 1
project: demo
code: [src/**]
site: {repository: https://github.com/acme/demo}
"""
BODY = ".orbit/adrs/ADR-0001/body.md"
CITING = (
    "docs/design/f/1_overview.md",
    "docs/design/f/2_design.md",
    "src/a.py",
    "README.md",
    BODY,
)
LINKS = (f"[log]({LOG.rpartition('/')[2]}#adr-0001--t)", "[next](2_design.md)", "`L-bbbbb`", "")
STRAYS = ("lib/a_test.py", "lib/b.py")
cite = st.tuples(st.just("cite"), st.sampled_from(CITING), st.lists(target, max_size=2), st.sampled_from(LINKS))
stray = st.tuples(st.just("stray"), st.sampled_from(STRAYS), st.booleans())
steps = st.lists(st.lists(st.one_of(change, cite, cite, stray), min_size=1, max_size=3), min_size=1, max_size=5)


def apply(root: Path, change: Sequence[object]) -> None:
    """Change the files as one step says; a file that cites has a heading, so that titles change too.

    A stray is a file that git would add, and that comes or goes.
    """
    match change:
        case ("cite", str(path), list(targets), link):
            write(root / path, f"# {' '.join(targets) or 'None'}\n\nSee {', '.join(targets)} {link}\n")
        case ("stray", str(path), bool(is_there)):
            write(root / path, "") if is_there else (root / path).unlink(missing_ok=True)
        case _:
            take(root, change)


def pages(folder: Path) -> dict[str, str]:
    """Return a hash of every file of a site, and the rows of its database."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in (MANIFEST, "snapshot.duckdb")]
    contents = {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    with duckdb.connect(str(folder / "snapshot.duckdb"), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        for name in tables:
            rows = connection.execute(f"FROM {name} ORDER BY ALL").fetchall()
            contents[f"table {name}"] = repr([row for row in rows if row[0] != "built_at"])
    return contents


@settings(max_examples=6, deadline=None)
@given(steps=steps)
@example(steps=[[("document", [])], [("decision", 1, "accepted", "w0")]])
def test_an_incremental_site_is_the_one_built_from_nothing(git: Git, steps: list[list[Sequence[object]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "kept"
        write(root / ".orbit/config.yaml", CONFIG)
        write(root / ".gitignore", "/site/\n/.orbit/state/\n")
        git(root, "init", "--quiet")
        for changes in steps:
            for change in changes:
                apply(root, change)
                git(root, "add", "--all", "--", ".", ":!lib")
            last = build_site(Registry.open(root), root / "site")
        fresh = Path(folder) / "fresh"
        shutil.copytree(root, fresh, ignore=shutil.ignore_patterns("cache", "site"))
        first = build_site(Registry.open(fresh), fresh / "site")
        assert pages(root / "site") == pages(fresh / "site")
        assert last.diagnostics == first.diagnostics
        assert last.pages == first.pages
