"""Ways through a site beside its indexes: tags, a kind's own columns, feeds; each leads to the records it names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.acceptance.conftest import DemoSite

from orbit_registry.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site


def test_every_tag_and_area_has_a_page_of_its_records(synthetic_site: Path) -> None:
    """A tag's page and that of a feature or category name each record that has it; the record's page leads there."""
    site = synthetic_site
    records = json.loads((site / "records.json").read_text("utf-8"))["records"]
    expected: dict[str, set[str]] = {}
    for record in records:
        for tag in record["tags"]:
            expected.setdefault(f"tags/{tag}/", set()).add(record["id"])
        for column, word in record["fields"].items():
            if word:
                expected.setdefault(f"{record['url'].split('/')[0]}/{column}/{word}/", set()).add(record["id"])
    assert len(expected) > 10
    for url, ids in expected.items():
        html = (site / url / "index.html").read_text("utf-8")
        assert set(re.findall(r'<span class="orbit-id">([^<]+)</span>', html)) == ids, url
    record = next(record for record in records if record["tags"])
    page = (site / record["url"] / "index.html").read_text("utf-8")
    assert f'href="../../tags/{record["tags"][0]}/"' in page
    assert all(
        f'href="{tag}/"' in (site / "tags/index.html").read_text("utf-8")
        for record in records
        for tag in record["tags"]
    )


def test_a_folder_of_documents_leads_to_them(demo_site: DemoSite) -> None:
    """Whoever shortens a document's address finds its folder in the overview; a folder with a page keeps it."""
    site = demo_site()
    folders = {page.parent.parent for page in (site / "design").rglob("*/index.html")}
    assert folders
    for folder in folders:
        page = (folder / "index.html").read_text("utf-8")
        if (onward := re.search(r'http-equiv="refresh" content="0; url=([^"#]+)#?([^"]*)"', page)) is not None:
            shelf = (folder / onward[1] / "index.html").read_text("utf-8")
            assert not onward[2] or f'id="{onward[2]}"' in shelf
    assert 'http-equiv="refresh"' in (site / "design/index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("---\nstatus: Adopted (2024)\n---\n# Use SQLite\n\n## Context\n\nOne file.\n", True),
        ("# Use SQLite\n\n## Status\n\nAdopted (2024)\n\n## Context\n\nOne file.\n", False),
    ],
    ids=["front matter", "text"],
)
def test_a_status_is_shown_as_written_where_the_text_does_not_say_it(text: str, is_shown: bool, tmp_path: Path) -> None:
    """Front matter is no part of a page, so what it says of a status stands beside the text; else it stands in it."""
    root = tmp_path / "repo"
    (root / "docs/adr").mkdir(parents=True)
    (root / "docs/adr/0001-use-sqlite.md").write_text(text, "utf-8")
    setup_workspace(root, load_kinds())
    import_from(root, "madr", start=root)
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    page = (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert "Adopted (2024)" in page
    assert ("<dt>Status as written</dt>" in page) == is_shown
