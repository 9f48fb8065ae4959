"""The search box in a real browser: records above pages, without a wait for thousands of them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser
from tests.acceptance.browsing import served, tab
from tests.acceptance.site_cases import site_of

from orbit_registry.importers.takeover import import_from
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.search.terms import STOP_WORDS, terms
from orbit_registry.site.build import build_site
from orbit_registry.site.finder import LONGEST_LEAD, entries, files, lead
from orbit_registry.site.serve import SiteServer
from orbit_registry.site.theme import overrides

CASES = Path(__file__).parents[1] / "cases/site"
ROOT = Path(__file__).parents[2]
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


def test_words_are_found_by_their_stem_and_never_by_a_part_of_them(look: Look, tmp_path: Path) -> None:
    """Another form of a word finds it, and so does the start of the last one; what stands inside a word does not."""
    server = SiteServer(site_of("demo", tmp_path), 0)  # ADR-0002: Store sessions in files
    try:
        hits = {}
        for said in ("stored session", "session fil", "essio", "fil sessio", "ADR-0002"):
            dom, _ = look(f"{server.url}?q={quote(said)}")
            hits[said] = re.findall(r'<a class="orbit-hit" href="[^"]*/(ADR-\d+)/"', dom)
            assert (hits[said][:1] == ["ADR-0002"]) is (said != "essio"), hits
        assert hits["essio"] == []
    finally:
        server.close()


def test_the_browser_splits_texts_as_orbit_search_does(browser: Browser, tmp_path: Path) -> None:
    """Terms are the same in both, in prose, identifiers and writing without spaces."""
    shutil.copy(overrides() / "assets/orbit/search.js", tmp_path)
    (tmp_path / "index.html").write_text("<!doctype html><title>Empty</title>", "utf-8")
    texts = [file.read_text("utf-8") for file in (ROOT / "docs").rglob("*.md")]
    texts += ["parseHTTPHeader URLs x2y 7f3a9c21b", "日本語のテスト ABC한국어 ไทย", "Größe naïve ÀbC ²½ ß", "नमस्ते ١٢٣"]
    said = "async ([texts, common]) => (await import('/search.js')).terms(texts.join('\\n'), new Set(common))"
    with served(tmp_path) as url, tab(browser) as opened:
        found = opened.go(url).evaluate(said, [texts, sorted(STOP_WORDS)])
    assert [one["term"] for one in found] == terms("\n".join(texts))
    assert len(found) > 10_000


def test_a_name_leads_to_its_record_as_in_orbit_search(browser: Browser, corpora: Path, tmp_path: Path) -> None:
    """Of 190 real records: an id always, so does an earlier name that is no other's id; a title no less often."""
    root = Path(shutil.copytree(corpora / "orbit-2026-07", tmp_path / "repo"))
    (root / "dot_orbit").rename(root / ".orbit")
    import_from(root / ".orbit", start=root)
    registry = Registry.open(root)
    records = list(registry.records)
    out = tmp_path / "out"
    (out / "search").mkdir(parents=True)
    shutil.copy(overrides() / "assets/orbit/search.js", out)
    (out / "index.html").write_text("<!doctype html><title>Empty</title>", "utf-8")
    for name, text in files(entries(records, lambda one: lead(one.prose or ""))):
        (out / name).write_text(text, "utf-8")
    ids = {one.id for one in records}
    names = [(name, one.id) for one in records for name in (one.id, *(set(one.legacy_ids) - ids))]
    said = """async (asked) => {
        const [held, lines] = await Promise.all(["records.json", "terms.txt"].map((name) => fetch(`/search/${name}`)));
        const data = await held.json();
        const find = (await import("/search.js")).finder(data, (await lines.text()).trimEnd().split("\\n"));
        return asked.map((text) => data.ids[find(text, 1).rows[0]] ?? "");
    }"""

    def ours(text: str) -> str:
        return next((hit.record.id for hit in registry.search(Query(text, limit=1, everything=True)).hits), "")

    with served(out) as url, tab(browser) as opened:
        page = opened.go(url)
        by_name = page.evaluate(said, [name for name, _ in names])
        by_title = page.evaluate(said, [one.title for one in records])
    assert len(names) > 300
    assert by_name == [ours(name) for name, _ in names] == [own for _, own in names]
    right = [sum(one.id == found(at, one) for at, one in enumerate(records))
             for found in (lambda at, _: by_title[at], lambda _, one: ours(one.title))]  # fmt: skip
    assert right[0] >= right[1] > 180


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
