"""Citations on the site: they lead to the record, say what it is, and the record's page says who cites it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.acceptance.browsing import PHONE, Tab, served
from tests.acceptance.site_cases import copied
from tests.conftest import Git

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CODE = "import os\n\n\ndef save() -> None:  # ADR-0002, and L-7k3fq\n    os.sync()  # ADR-0002\n"
CONFIG = "code: [src/**]\ntasks: {url: 'https://tracker.example/{id}'}\n"
GUIDE = "# Guide\n\nHow to save is ADR 2, `ADR-0002` and core/ADR-001.\n\n```\nADR-0005\n```\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, git: Git) -> tuple[Path, Path, str]:
    """Return a repository with code and a guide that cite records, its site, and the commit it was built at."""
    root = copied("demo", tmp_path_factory.mktemp("citations") / "repo")
    (root / "src/save.py").write_text(CODE, "utf-8")
    (root / "GUIDE.md").write_text(GUIDE, "utf-8")
    learning = root / ".orbit/learnings/L-7k3fq/learning.yaml"
    learning.write_text(learning.read_text("utf-8").replace("Because.", "Because L-7k3fq says so."), "utf-8")
    config = root / ".orbit/config.yaml"
    with config.open("a", encoding="utf-8") as file:
        file.write(CONFIG)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Start")
    build_site(Registry.open(root), root.parent / "site", snapshot=False)
    return root, root.parent / "site", git(root, "rev-parse", "HEAD").strip()


def section(page: Path, anchor: str) -> str:
    """Return the words of a page's section."""
    match = re.search(rf'<h2 id="{anchor}">.*?</section>', page.read_text("utf-8"), re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", match[0])).split()) if match else ""


def test_a_page_says_who_cites_it(built: tuple[Path, Path, str]) -> None:
    """Records, documents and files of code are named with their lines, at the commit the site was built at."""
    _, out, commit = built
    page = out / "adrs/ADR-0002/index.html"
    words = section(page, "cited-by")
    assert "L-7k3fq" in words
    assert "GUIDE.md line 3" in words
    assert "src/save.py lines 4 , 5" in words
    assert f'href="https://github.com/acme/demo/blob/{commit}/src/save.py#L4"' in page.read_text("utf-8")
    assert "GUIDE.md" not in section(out / "adrs/ADR-0005/index.html", "cited-by"), "an example in a block is none"


def test_a_page_that_nobody_cites_says_nothing_of_it(built: tuple[Path, Path, str]) -> None:
    """There is no empty list; a text that names its own record cites nobody."""
    _, out, _ = built
    assert section(out / "learnings/L-7k3fq/index.html", "cited-by") == "Cited by src/save.py line 4"
    assert section(out / "adrs/ADR-0004/index.html", "cited-by") == ""


def test_a_document_names_what_stands_beside_it(built: tuple[Path, Path, str]) -> None:
    """A mirrored document names the documents before and after it, once."""
    _, out, _ = built
    html = (out / "design/core/1_overview/index.html").read_text("utf-8")
    assert re.findall(r'<a rel="(\w+)" href="([^"]+)">', html) == [("next", "../4_decisions/")]
    assert re.search(r'<nav class="md-footer__inner[^>]* hidden', html), "the theme names them no second time"


def test_a_decision_leads_to_the_numbers_before_and_after(built: tuple[Path, Path, str]) -> None:
    """The first has none before it."""
    _, out, _ = built
    pages = {number: (out / f"adrs/ADR-000{number}/index.html").read_text("utf-8") for number in (1, 2)}
    along = {number: re.findall(r'<a rel="(\w+)" href="([^"]+)">', html) for number, html in pages.items()}
    assert along == {1: [("next", "../ADR-0002/")], 2: [("prev", "../ADR-0001/"), ("next", "../ADR-0003/")]}


def test_every_citation_has_its_preview_on_the_page(built: tuple[Path, Path, str]) -> None:
    """Each link to a record says title and status, and what describes it is there once, hidden."""
    _, out, _ = built
    count = 0
    for page in out.rglob("*.html"):
        html = page.read_text("utf-8")
        for link in re.findall(r'<a class="orbit-cite"[^>]*>', html):
            count += 1
            described = re.search(r'title="[^"]+ \([^)"]+\)" aria-describedby="([^"]+)"', link)
            assert described, link
            assert html.count(f'<div class="orbit-card" id="{described[1]}">') == 1, (page, link)
        cards = html.partition('<div class="orbit-cards" hidden>')[2]
        assert html.count('class="orbit-card"') == cards.count('class="orbit-card"')
    assert count > 8


def test_the_tasks_that_records_name_are_listed(built: tuple[Path, Path, str]) -> None:
    """Each has a row with the records that name it and how to look it up; records, and texts, lead there."""
    _, out, _ = built
    html = (out / "tasks/index.html").read_text("utf-8")
    rows = dict(re.findall(r'<tr id="task-([^"]+)">(.*?)</tr>', html, re.DOTALL))
    assert {"TASK-1", "TASK-9"} <= rows.keys()
    assert 'href="https://tracker.example/TASK-9"' in rows["TASK-9"]
    assert re.findall(r">(ADR-000[0-9])<", rows["TASK-9"]) == ["ADR-0002"]
    assert "(as evidence)" in rows["TASK-9"]
    page = (out / "adrs/ADR-0002/index.html").read_text("utf-8")
    assert page.count('href="../../tasks/#task-TASK-1"') == page.count(">TASK-1<") > 0


def test_a_preview_comes_with_pointer_and_focus(built: tuple[Path, Path, str], tab: Tab) -> None:
    """It stays while the pointer is on it, goes with Escape and with the focus, and fits a phone; axe is content."""
    with served(built[1]) as home:
        page = tab.go(f"{home}learnings/L-7k3fq/")
        link, card = page.locator("a.orbit-cite").first, page.locator(".orbit-shown")
        expect(link).to_have_accessible_description(re.compile("Store sessions in files in force 2026-05"))
        expect(card).to_have_count(0)
        link.hover()
        expect(card).to_contain_text("Store sessions in files")
        expect(link).to_have_attribute("title", "")  # the browser's own preview would cover ours
        card.hover()
        expect(card).to_be_visible()
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        expect(link).to_have_attribute("title", "Store sessions in files (in force)")
        page.mouse.move(0, 0)
        tab.resized(PHONE, "dark")
        link.focus()
        expect(card).to_be_visible()
        box = card.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE
        assert [rule["id"] for rule in Axe().run(page).response["violations"]] == []
        page.keyboard.press("Tab")
        expect(card).to_have_count(0)
        assert (tab.console, tab.requests) == ([], [])
