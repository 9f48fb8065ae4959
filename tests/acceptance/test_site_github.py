"""A document with everything that GitHub renders: its page is as kept, and a browser shows it.

`ORBIT_UPDATE_GOLDEN=1` writes the page anew; `git diff` then shows what changed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import DESK, PHONE, Tab
from tests.acceptance.conftest import npm_of_the_user
from tests.acceptance.site_cases import CASES, copied
from tests.files import configure

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.npm import MISSING
from orbit_registry.site.output import SiteResult

UPDATE = "ORBIT_UPDATE_GOLDEN" in os.environ  # read before the tests put such variables away
PAGE = "design/github/"
PROSE = re.compile(r'<div class="orbit-prose">.*?(?=<p class="orbit-mirrored">)', re.DOTALL)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> SiteResult:
    folder = tmp_path_factory.mktemp("github")
    with npm_of_the_user(pytestconfig):
        return build_site(
            Registry.open(copied("github", folder / "repo")), folder / "site", snapshot=False
        )


@pytest.fixture
def mermaid(built: SiteResult) -> None:
    """Skip a test where npm has no Mermaid."""
    missing = [problem.message for problem in built.diagnostics if problem.code == MISSING]
    assert not [message for message in missing if "hash" in message]
    if missing:
        pytest.skip(f"needs npm's Mermaid: {missing[0]}")


@pytest.fixture(scope="module")
def home(built: SiteResult) -> Iterator[str]:
    with browsing.served(built.out) as url:
        yield url


@pytest.fixture(scope="module")
def opened(home: str, browser: Browser) -> Iterator[Tab]:
    """Open the page once for all tests, for drawing its diagram costs a second."""
    with browsing.tab(browser) as tab:
        tab.go(home + PAGE)
        yield tab


@pytest.fixture
def page(opened: Tab) -> Page:
    opened.resized(DESK)
    return opened.page


def test_a_page_has_what_github_renders(built: SiteResult) -> None:
    match = PROSE.search((built.out / PAGE / "index.html").read_text("utf-8"))
    file = CASES / "github/github.html"
    assert match is not None
    if UPDATE:
        file.write_text(match[0], "utf-8")
    assert match[0] == file.read_text("utf-8")
    assert [problem for problem in built.diagnostics if problem.code != MISSING] == []


def test_alerts_have_a_title_and_a_colour_of_their_own(page: Page) -> None:
    alerts = page.locator(".admonition")
    titles = alerts.locator(".admonition-title").all_inner_texts()
    colours = alerts.evaluate_all(
        "alerts => alerts.map(alert => getComputedStyle(alert).borderTopColor)"
    )
    assert titles == ["Note", "Tip", "Important", "Warning", "Caution"]
    assert len(set(colours)) == len(titles)


def test_tasks_have_boxes(page: Page) -> None:
    boxes = page.get_by_role("img", name=re.compile("^(done|to do)$"))
    assert boxes.evaluate_all("boxes => boxes.map(box => box.ariaLabel)") == [
        "done",
        "to do",
        "done",
        "to do",
        "to do",
    ]
    script = (
        "box => [getComputedStyle(box, '::before').maskImage, getComputedStyle(box, "
        "'::before').backgroundColor]"
    )
    assert boxes.nth(0).evaluate(script) != boxes.nth(1).evaluate(script)
    assert "none" not in boxes.nth(1).evaluate(script)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_has_colours_in_both_schemes(page: Page, opened: Tab, scheme: str) -> None:
    opened.resized(PHONE, scheme)
    colours = (
        page.locator(".highlight code")
        .first.locator("span")
        .evaluate_all("spans => spans.map(span => getComputedStyle(span).color)")
    )
    assert len(set(colours)) > 3


def test_a_fold_opens_without_scripts(page: Page) -> None:
    text = page.get_by_text("With Markdown inside")
    expect(text).to_be_hidden()
    page.locator("summary").click()
    expect(text).to_be_visible()


def test_a_wide_table_scrolls_on_a_phone(page: Page, opened: Tab) -> None:
    opened.resized(PHONE)
    box = page.locator(".orbit-scroll").first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert page.evaluate(
        "document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"
    )


@pytest.mark.usefixtures("mermaid")
def test_a_diagram_is_drawn_in_the_colours_of_the_scheme(page: Page, opened: Tab) -> None:
    drawing = page.locator(".orbit-drawn")
    box = drawing.locator("rect.label-container").first
    light_grey = "rgb(238, 238, 238)"
    opened.resized(PHONE, "light")
    expect(drawing.locator("svg")).to_contain_text("The <b>sea</b>")
    expect(box).to_have_css("fill", light_grey, timeout=20_000)
    opened.resized(PHONE, "dark")
    expect(box).not_to_have_css("fill", light_grey, timeout=20_000)
    expect(page.locator("#orbit-diagram-1")).to_be_hidden()
    expect(page.locator("#orbit-diagram-2")).to_be_visible()
    assert (drawing.count(), opened.console, opened.requests) == (1, [], [])


def test_a_diagram_is_source_without_mermaid(tmp_path: Path, tab: Tab) -> None:
    root = copied("github", tmp_path / "repo")
    for _ in range(2):
        problems = build_site(Registry.open(root), tmp_path / "site", snapshot=False).diagnostics
        assert [(problem.code, str(problem.severity)) for problem in problems] == [
            (MISSING, "note")
        ]
    configure(root, "  diagrams: false\n")
    assert build_site(Registry.open(root), tmp_path / "site", snapshot=False).diagnostics == ()
    with browsing.served(tmp_path / "site") as url:
        page = tab.go(url + PAGE)
        page.wait_for_load_state("networkidle")
        expect(page.locator("#orbit-diagram-1")).to_be_visible()
    assert (page.locator(".orbit-drawn").count(), tab.console, tab.requests) == (0, [], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it(page: Page, opened: Tab, scheme: str) -> None:
    opened.resized(PHONE, scheme)
    violations = (
        Axe()
        .run(page, ".md-content", options={"resultTypes": ["violations"]})
        .response["violations"]
    )
    assert [rule["id"] for rule in violations if rule["impact"] in ("serious", "critical")] == []


def test_a_page_asks_no_other_host_and_breaks_no_rule(page: Page, opened: Tab) -> None:
    for image in page.locator(".orbit-prose img").all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("naturalWidth", 80)
    assert (opened.console, opened.requests) == ([], [])
