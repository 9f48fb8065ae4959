"""The first screen of real collections answers: what is decided, what happened lately, what applies
to a file; and no page shows the marks of another generator.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import DESK, PHONE
from tests.acceptance.conftest import real_repository

from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

COLLECTIONS = (
    "JabRef__jabref",
    "adr__madr",
    "alphagov__govuk-infrastructure",
    "arachne-framework__architecture",
    "cometbft__cometbft",
    "curie-eng__curie",
    "kamp-us__phoenix",
    "mbeacom__adrkit",
    "microsoft__agent-framework",
    "npryce__adr-tools",
    "thomvaill__log4brains",
    "orbit-2026-07",
)
VERBS = re.compile(
    r"added|proposed|accepted|rejected|deprecated|superseded by|edited|built|approved"
)
UNSCOPED = "no-such-folder/deep/file.xyz"
HONEST = (
    r"^No decision names .*: (none of the [\d,]+|[\d,]+ of the [\d,]+|the only) current decisions?"
)
RAW = re.compile(r"^!!!\s|^:::|<[A-Z]\w*(?:\s+\w+=|\s*/>)|</[A-Z]", re.MULTILINE)
"""`<Feature>` alone is a placeholder that an author wrote for readers."""
FORGE = "https://github.com/example/project"


class Prose(HTMLParser):
    """The text of a page without its code."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.lines = 0, [""]

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.depth += tag in ("code", "pre", "script", "style")
        self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self.depth:
            self.lines[-1] += data


@pytest.fixture(scope="module", params=COLLECTIONS)
def built(
    request: pytest.FixtureRequest, corpora: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the site of a collection whose repository is on a forge."""
    folder = tmp_path_factory.mktemp("answers")
    if request.param == "orbit-2026-07":
        root = real_repository(corpora, folder)
    else:
        source = corpora / "adr" / request.param
        if not source.is_dir():
            pytest.skip(f"needs the collection {request.param}")

        root = Path(shutil.copytree(source, folder / "repo"))
        setup_workspace(root, load_kinds())
        import_from(root, start=root)

    config = root / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}\nsite: {{repository: {FORGE}}}\n", "utf-8")
    build_site(Registry.open(root), folder / "site", snapshot=False)
    return folder / "site"


@pytest.fixture
def start(built: Path, browser: Browser) -> Iterator[browsing.Tab]:
    with browsing.served(built) as home, browsing.tab(browser) as tab:
        tab.settled(home)
        yield tab
        assert (tab.console, tab.requests) == ([], [])


def is_on_screen(page: Page, selector: str) -> bool:
    """Say whether the first element of a selector ends above the fold."""
    box: Any = page.locator(selector).first.bounding_box()
    size: Any = page.viewport_size
    return bool(box) and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_first_screen_answers_three_questions(start: browsing.Tab, width: int) -> None:
    page = start.page
    start.resized(width)
    assert is_on_screen(page, ".orbit-explorer input")
    assert is_on_screen(page, ".orbit-decided .orbit-sentence")
    assert is_on_screen(page, ".orbit-lately small > b")
    assert VERBS.match(page.locator(".orbit-lately small > b").first.inner_text())

    page.fill(".orbit-explorer input", UNSCOPED)
    answer = page.locator(".orbit-said")
    expect(answer).to_contain_text(UNSCOPED)
    # Where each decision names files, there is nothing to add.
    is_silent = page.get_attribute(".orbit-explorer", "data-orbit-unscoped") is None
    expect(answer).to_have_text(re.compile("^No records apply to" if is_silent else HONEST))
    assert is_on_screen(page, ".orbit-said")


def test_the_page_of_paths_says_once_how_many_decisions_name_no_files(
    start: browsing.Tab,
) -> None:
    page = start.page
    fact = page.get_attribute(".orbit-explorer", "data-orbit-unscoped")
    page.goto(f"{page.url}paths/?path={UNSCOPED}")
    expect(page.locator(".orbit-said")).to_contain_text(UNSCOPED)
    texts = page.inner_text("main").casefold()
    assert texts.count(fact.casefold() if fact else UNSCOPED) == 1


def test_a_decision_can_be_edited_with_one_click(start: browsing.Tab) -> None:
    page = start.page
    page.click(".orbit-decided a >> nth=0")
    edit = page.locator(".orbit-actions a", has_text="Edit")
    expect(edit).to_have_attribute("href", re.compile(re.escape(FORGE)))
    assert is_on_screen(page, ".orbit-actions a")


def test_no_page_shows_the_marks_of_another_generator(built: Path) -> None:
    raw = {}
    for file in built.rglob("*.html"):
        prose = Prose()
        prose.feed(file.read_text("utf-8"))
        raw[file.relative_to(built).as_posix()] = RAW.findall("\n".join(prose.lines))

    assert {url: found for url, found in raw.items() if found} == {}
