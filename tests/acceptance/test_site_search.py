"""The search box in a real browser: records above pages, without a wait for thousands of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.acceptance.site_cases import site_of

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.finder import LONGEST_LEAD, lead
from orbit_registry.site.serve import SiteServer

CASES = Path(__file__).parents[1] / "cases/site"
Look = Callable[[str], tuple[str, str]]


def test_the_search_box_finds_records(look: Look, tmp_path: Path) -> None:
    """By id, by a word of the title, by an earlier name: a link to the record's page, from a page of any depth."""
    site = site_of("demo", tmp_path)
    held = json.loads((site / "records.json").read_text("utf-8"))["records"]
    old = next(one for one in held if one["legacy_ids"])
    word = max(old["title"].split(), key=len)
    server = SiteServer(site, 0)
    try:
        for said, page in ((old["id"], ""), (word, "adrs/"), (old["legacy_ids"][0], "adrs/ADR-0001/")):
            dom, console = look(f"{server.url}{page}?q={said}")
            hits = re.findall(r'<a class="orbit-hit" href="([^"]+)"', dom)
            assert f"{server.url}{old['url']}" in hits, (said, hits)
            assert console == ""
    finally:
        server.close()


def test_the_record_of_an_id_comes_before_those_that_speak_of_it(look: Look, tmp_path: Path) -> None:
    """A title that names another record's id stands below that record, whatever the order of the file."""
    site = site_of("demo", tmp_path)
    file = tmp_path / "repo/.orbit/adrs/ADR-0001/adr.yaml"
    file.write_text(re.sub(r"(?m)^title: .*", "title: Before ADR-0005 came", file.read_text("utf-8")), "utf-8")
    build_site(Registry.open(tmp_path / "repo"), site, snapshot=False)
    server = SiteServer(site, 0)
    try:
        dom, _ = look(f"{server.url}?q=adr-0005")
    finally:
        server.close()
    hits = re.findall(r'<a class="orbit-hit" href="[^"]*/(ADR-\d+)/"', dom)
    assert hits[:2] == ["ADR-0005", "ADR-0001"]


def test_hostile_rows_are_text(look: Look, tmp_path: Path) -> None:
    """Markup in a title is shown in the box as it is written, and nothing of it runs."""
    server = SiteServer(site_of("hostile", tmp_path), 0)
    try:
        dom, _ = look(f"{server.url}?q=script")
    finally:
        server.close()
    assert '<a class="orbit-hit"' in dom
    assert not re.search(r"<html[^>]*data-fired", dom)
    assert not re.search(r'class="orbit-hit"[^>]*>(?:(?!</a>).)*<(?:script|img|svg)', dom, re.DOTALL)


def test_the_first_line_is_one_that_says_something() -> None:
    """Headings, status lines, tables and Markdown marks are left out; long lines end at a word."""
    text = "# Title\n\nStatus: Accepted · 2026\n\n| a |\n\n## Context\n\n- We *read* the [docs](x.md) `twice`\n"
    assert lead(text) == "We read the docs twice"
    assert lead("") == lead("## Only\n\n---\n") == ""
    assert len(lead("word " * 100)) <= LONGEST_LEAD + 2
    assert lead("word " * 100).endswith("word …")
