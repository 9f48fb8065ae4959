"""Pages of each type, held against files that a person has read, and the previews of records that
they cite.

`ORBIT_UPDATE_GOLDEN=1` writes those files anew; `git diff` then shows what changed.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.acceptance.browsing import PHONE, Tab, served
from tests.acceptance.site_cases import CASES, copied, with_every_kind
from tests.conftest import Git
from tests.files import configure, write

from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

UPDATE = "ORBIT_UPDATE_GOLDEN" in os.environ  # read before the tests put such variables away
CODE = "import os\n\n\ndef save() -> None:  # ADR-0002, and L-7k3fq\n    os.sync()  # ADR-0002\n"
ALLOWED = "    os.sync()  # orbit: allow ADR-0002 because it is a <b>script</b>\n"
CHECKS = """checks:
  - {id: no-sync, level: error, say: Let the database sync, in: ["{src,tools}/**"], text: {words: [os.sync]},
     passes: [save()], fails: [os.sync()]}
  - {id: layers, by: {engine: import-linter, rule: layers}}
"""  # noqa: E501
CONFIG = "code: [src/**]\ntasks: {url: 'https://tracker.example/{id}'}\n"
DECISION = "# {}\n\n## Status\n\nAccepted\n\n## Context\n\n{}\n\n## Decision\n\nWe do it.\n"
GUIDE = "# Guide\n\nHow to save is ADR 2, `ADR-0002` and core/ADR-001.\n\n```\nADR-0005\n```\n"
PAGES = (
    *(
        "index",
        "adrs",
        "adrs/timeline",
        "adrs/ADR-0001",
        "adrs/ADR-0002",
        "adrs/ADR-0004",
        "learnings/L-7k3fq",
    ),
    *(
        "failures/F-sy8pj",
        "proposals/P-afqgs",
        "retros",
        "retros/RT-4w81q",
        "resources/RES-t6z9v",
        "rules/R-dge15",
    ),
    *(
        "documents",
        "design/core/1_overview",
        "map",
        "paths",
        "tags",
        "tags/storage",
        "adrs/feature/core",
        "tasks",
        "enforced",
    ),
)
FILES = (
    *(
        "feed.xml",
        "feed.json",
        "robots.txt",
        "legacy/core/ADR-001/index.html",
        "legacy/ADR-001/index.html",
    ),
    *(
        "llms.txt",
        "index.md",
        "adrs/index.md",
        "adrs/ADR-0001/index.md",
        "learnings/L-7k3fq/index.md",
    ),
    *("design/core/1_overview/index.md", "resources/RES-t6z9v/index.md"),
)
WAITING = "L-7k3fr"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Return the site of a repository with every kind of record, a candidate,
    and code and a guide that cite.
    """
    root = with_every_kind(copied("demo", tmp_path_factory.mktemp("pages") / "repo"))
    (root / "src/save.py").write_text(CODE + ALLOWED, "utf-8")
    write(root, "tools/save.py", f"def save():\n{ALLOWED}")  # no citation is looked up there
    decision = root / ".orbit/adrs/ADR-0002/adr.yaml"
    decision.write_text(decision.read_text("utf-8") + CHECKS, "utf-8")
    (root / "GUIDE.md").write_text(GUIDE, "utf-8")
    learning = root / ".orbit/learnings/L-7k3fq/learning.yaml"
    text = learning.read_text("utf-8").replace("Because.", "Because L-7k3fq says so.")
    learning.write_text(text, "utf-8")
    candidate = Registry.open(root).workspace.inbox / f"learnings/{WAITING}/learning.yaml"
    candidate.parent.mkdir(parents=True)
    text = text.replace("L-7k3fq", WAITING).replace("89abcdef\n", "89abcd99\n")
    candidate.write_text(text.replace("status: active", "status: candidate"), "utf-8")
    configure(root, CONFIG)
    (root / ".gitignore").write_text(".orbit/state/\n", "utf-8")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Start")
    registry = Registry.open(root)
    assert registry.records.get(WAITING).phase == "pending"
    build_site(registry, root.parent / "site", "https://example.org/why/", snapshot=False)
    return root.parent / "site"


def content_of(page: Path) -> str:
    """Return what a page says in its article, without the commit of the build and the votes of its
    months.
    """
    html = page.read_text("utf-8")
    article = re.search(
        r'<article class="md-content__inner.*?</article>(?=\s*</div>)', html, re.DOTALL
    )
    text = re.sub(r"\b[0-9a-f]{40}\b", "COMMIT", article[0] if article else html)
    text = re.sub(r"(Built from) .*? of \d{4}-\d\d-\d\d", r"\1 COMMIT", text)
    text = re.sub(r'<svg class="orbit-sparkline".*?</svg>', "VOTES", text, flags=re.DOTALL)
    return re.sub(r"\n\s*\n", "\n", text).strip() + "\n"


def test_a_page_of_each_type_is_as_it_was_read(built: Path) -> None:
    pages = {
        f"{url.replace('/', '-')}.html": content_of(
            built / url.removeprefix("index") / "index.html"
        )
        for url in PAGES
    }
    pages |= {path.replace("/", "-"): content_of(built / path) for path in FILES}
    folder = CASES / "pages"
    if UPDATE:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in pages.items():
            (folder / name).write_text(text, "utf-8")
    assert pages == {file.name: file.read_text("utf-8") for file in folder.iterdir()}


def test_texts_that_alone_name_others_have_a_map(tmp_path: Path) -> None:
    later = "docs/adr/0002-sync-files.md"
    write(tmp_path, "docs/adr/0001-use-files.md", DECISION.format("Use files", "We store."))
    write(tmp_path, later, DECISION.format("Sync files", "As ADR-0001 says."))
    setup_workspace(tmp_path, load_kinds())
    import_from(tmp_path, start=tmp_path)
    build_site(Registry.open(tmp_path), tmp_path / "site", snapshot=False)
    assert "1 citation between 2 records" in (tmp_path / "site/map/index.html").read_text("utf-8")
    write(tmp_path, later, DECISION.format("Sync files", "Why not."))
    build_site(Registry.open(tmp_path), tmp_path / "site", snapshot=False)
    assert not (tmp_path / "site/map").exists()


def test_what_waits_in_the_inbox_is_nowhere_on_the_site(built: Path) -> None:
    assert [
        path
        for path in built.rglob("*")
        if path.is_file() and WAITING.encode() in path.read_bytes()
    ] == []


def test_every_citation_has_its_preview_on_the_page(built: Path) -> None:
    count = 0
    for page in built.rglob("*.html"):
        html = page.read_text("utf-8")
        for link in re.findall(r'<a class="orbit-cite"[^>]*>', html):
            count += 1
            described = re.search(r'title="[^"]+ \([^)"]+\)" aria-describedby="([^"]+)"', link)
            assert described, link
            assert html.count(f'<div class="orbit-card" id="{described[1]}">') == 1, (page, link)
        cards = html.partition('<div class="orbit-cards" hidden>')[2]
        assert html.count('class="orbit-card"') == cards.count('class="orbit-card"')
    assert count > 8


def test_a_preview_comes_with_pointer_and_focus(built: Path, tab: Tab) -> None:
    with served(built) as home:
        page = tab.go(f"{home}learnings/L-7k3fq/")
        link, card = page.locator("a.orbit-cite").first, page.locator(".orbit-shown")
        expect(link).to_have_accessible_description(
            re.compile("Store sessions in files accepted 2026-05")
        )
        expect(card).to_have_count(0)
        link.hover()
        expect(card).to_contain_text("Store sessions in files")
        expect(link).to_have_attribute("title", "")  # the browser's own preview would cover ours
        card.hover()
        expect(card).to_be_visible()
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        expect(link).to_have_attribute("title", "Store sessions in files (accepted)")
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
