"""The site of a lake: a page for each record, lists over all, and one search; texts of strangers
stay texts.
"""

import html
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.acceptance.browsing import DESK, PHONE, TABLET, served, tab
from tests.acceptance.cli.conftest import answer
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import push, repository_in
from tests.files import commit, write, write_record

from orbit_fleet.report import questions
from orbit_fleet.site.lists import navigation

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
pytest.importorskip("material", reason="the site extra is not installed")
HOSTILE = "<img src=x onerror=alert(1)> | [x](javascript:alert(2)) `{{ 7*7 }}` **b**"
TEXT = """# 2. Cache sessions in Redis

Status: Accepted

## Decision

See [the first](0001-x.md), [the code](../../src/cache.py) and ADR-0001. <script>alert(3)</script>
"""


def build(folder: Path, *words: str) -> dict[str, Any]:
    """Build the site of `lake` into `site`."""
    arguments = ("fleet", "site", "site", "--lake", "lake", *words, "--format", "json")
    result: dict[str, Any] = json.loads(orbit(folder, *arguments))
    return result


def shop_in(folder: Path) -> Path:
    """Make a repository at a forge, with a decision that has a hostile title."""
    root = repository_in(folder, "shop")
    write(root, "docs/adr/0002-y.md", TEXT)
    fields = {"status": "accepted", "source": {"path": "docs/adr/0002-y.md"}}
    scope = {"tags": ["storage"]}
    file = ".orbit/adrs/ADR-0002/adr.yaml"
    write_record(root, file, title="Cache sessions in Redis", scope=scope, **fields)
    write_record(root, ".orbit/adrs/ADR-0003/adr.yaml", title=HOSTILE, status="accepted")
    with (root / ".git/config").open("a", encoding="utf-8") as config:
        config.write('[remote "origin"]\n\turl = https://github.com/acme/shop\n')

    commit(root)
    return root


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a lake with two repositories, which no test changes."""
    folder = tmp_path_factory.mktemp("organisation")
    push(shop_in(folder), folder / "lake", "--repository", "acme/shop")
    push(repository_in(folder, "cart"), folder / "lake")
    data = build(folder)
    assert (data["diagnostics"], list(answer("fleet site").iter_errors(data["data"]))) == ([], [])
    return folder / "site"


def text_of(site: Path, url: str) -> str:
    return (site / url / "index.html").read_text("utf-8")


def test_a_decision_has_a_page_with_its_text_and_its_link_to_the_forge(site: Path) -> None:
    page = text_of(site, "repositories/acme/shop/adrs/ADR-0002")
    forge = "https://github.com/acme/shop/blob/"
    assert "<h1>Cache sessions in Redis</h1>" in page
    assert f'href="{forge}' in page
    assert "/docs/adr/0002-y.md" in page
    assert "/src/cache.py" in page
    assert 'href="../ADR-0001/"' in page


def test_texts_of_strangers_run_nothing(site: Path) -> None:
    pages = [file.read_text("utf-8") for file in site.rglob("*.html")]
    for text in ("<img src=x", 'href="javascript', "<script>alert(3)"):
        assert not any(text in page for page in pages), text

    assert HOSTILE.split(" | ")[0] in html.unescape(text_of(site, "repositories/acme/shop"))


def test_lists_lead_to_records_of_all_repositories(site: Path) -> None:
    record = 'href="{}repositories/acme/shop/adrs/ADR-0002/"'
    assert record.format("../../") in text_of(site, "areas/storage")
    assert record.format("../") in text_of(site, "events")
    assert 'href="../repositories/cart/"' in text_of(site, "repeated-decisions")
    assert 'href="repositories/cart/"' in text_of(site, "")
    assert {file.parent.name for file in site.glob("*/index.html")} >= questions().keys()


def test_the_navigation_begins_with_what_there_is() -> None:
    urls = list(navigation())
    assert urls[:4] == ["", "repositories/", "events/", "areas/"]
    assert sorted(urls) == sorted(["", *(f"{name}/" for name in questions())])


def test_no_link_of_the_site_is_dead(site: Path) -> None:
    dead = []
    for file in site.rglob("*.html"):
        for href in links_in(file.read_text("utf-8")):
            target = (file.parent / href).resolve()
            if not (target.is_file() or (target / "index.html").is_file()):
                dead.append(f"{file.relative_to(site)}: {href}")

    assert dead == []


def links_in(page: str) -> Iterator[str]:
    """Yield the links of a page's text that lead to files of the site."""
    content = page.partition('id="orbit-content"')[2]
    for part in content.split('href="')[1:]:
        href = html.unescape(part.partition('"')[0]).partition("#")[0].partition("?")[0]
        if href and ":" not in href:
            yield href


def test_only_repositories_that_changed_are_written_again(site: Path, tmp_path: Path) -> None:
    shutil.copytree(site.parent, tmp_path, dirs_exist_ok=True)
    shop, copy = tmp_path / "shop", tmp_path / "site"
    other = copy / "repositories/cart/index.html"
    before = other.stat().st_mtime_ns
    assert build(tmp_path)["data"]["written"] == 0

    write_record(shop, ".orbit/adrs/ADR-0004/adr.yaml", title="Use Go", status="accepted")
    commit(shop)
    push(shop, tmp_path / "lake", "--repository", "acme/shop")
    assert build(tmp_path)["data"]["written"] > 0
    assert "Use Go" in text_of(copy, "repositories/acme/shop/adrs/ADR-0004")
    assert other.stat().st_mtime_ns == before

    orbit(tmp_path, "fleet", "remove", "lake", "acme/shop", "--yes")
    build(tmp_path)
    assert not (copy / "repositories/acme").exists()
    assert "acme/shop" not in text_of(copy, "repositories")
    assert other.stat().st_mtime_ns == before


def test_the_search_finds_a_word_of_any_repository(site: Path, browser: Browser) -> None:
    with served(site) as address, tab(browser) as opened:
        page = opened.go(f"{address}repositories/cart/adrs/ADR-0001/")
        page.locator(".md-search__input").fill("caching sessions redis zebra")
        hit = page.locator("a.orbit-hit").first
        assert "ADR-0002 Cache sessions in Redis" in hit.inner_text()
        page.keyboard.press("Enter")
        page.wait_for_url("**/repositories/acme/shop/adrs/ADR-0002/")
        assert opened.console == []


@pytest.mark.parametrize("width", [DESK, TABLET, PHONE])
def test_a_day_in_a_list_is_one_line(site: Path, browser: Browser, width: int) -> None:
    lines = "cells => cells.map(cell => cell.getClientRects().length)"
    with served(site) as address, tab(browser) as opened:
        page = opened.go(f"{address}events/")
        opened.resized(width)
        counts = page.locator("td time").evaluate_all(lines)
        assert set(counts) == {1}


def test_a_title_that_is_too_long_is_refused(tmp_path: Path) -> None:
    words = ("fleet", "site", "out", "--lake", str(tmp_path), "--title", "x" * 300)
    assert "the title has 300 characters" in orbit(tmp_path, *words, code=2)


def test_the_navigation_marks_the_areas_on_their_pages_alone(site: Path) -> None:
    assert 'data-orbit-lists="../"' in text_of(site, "areas/storage")
    assert 'data-orbit-lists=""' in text_of(site, "contradictions")
