"""Every page of a site in a real browser: both schemes and three widths, by keyboard, below a path,
without scripts.
"""

import http.server
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import DESK, PHONE, TABLET, Tab
from tests.acceptance.conftest import DemoSite

from orbit_registry.model.kind import load_kinds

SCHEMES = {"light": "default", "dark": "slate"}
"""What a system can ask for → what the theme calls it."""
VIEWS = [(scheme, width) for scheme in SCHEMES for width in (DESK, TABLET, PHONE)]
# Each run of axe costs half a second, so the views take turns.
AXE_VIEWS = [(DESK, "light"), (PHONE, "dark"), (DESK, "dark"), (TABLET, "light"), (PHONE, "light")]
WIDE = """() => {
    const room = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth <= room) return [];
    const stays = (one) => ["visible", "clip"].includes(getComputedStyle(one).overflowX);
    // What the theme's root cuts off, nobody can scroll to.
    const scrolls = (one) => one && one !== document.documentElement && (!stays(one) || scrolls(one.parentElement));
    return [...document.body.querySelectorAll("*")]
        .filter((one) => one.getBoundingClientRect().right > room + 1 && !scrolls(one.parentElement))
        .map((one) => one.outerHTML.slice(0, 120));
}"""  # noqa: E501
"""What stands out of the page to the right, where the page scrolls sideways."""


def pages(site: Path) -> list[str]:
    """Return the address of every page of a site but those that only lead on,
    the one for what is missing included.
    """
    urls = [
        page.relative_to(site).as_posix().removesuffix("index.html")
        for page in sorted(site.rglob("*.html"))
    ]
    sent_on = {
        page
        for page in urls
        if ' http-equiv="refresh"'
        in (site / (page if page.endswith(".html") else f"{page}index.html")).read_text("utf-8")
    }
    return [page for page in urls if not page.startswith("legacy/") and page not in sent_on]


@pytest.fixture(scope="module")
def site(demo_site: DemoSite) -> Path:
    return demo_site(every_kind=True)


@pytest.fixture(scope="module")
def home(site: Path) -> Iterator[str]:
    with browsing.served(site) as url:
        yield url


def one_of_each(urls: list[str]) -> list[str]:
    """Return the first address of each folder and depth:
    pages of one type, as parts of lists, come of one template.
    """
    plurals = {kind.plural for kind in load_kinds()}
    types: dict[tuple[str, int], str] = {}
    for url in urls:
        folder, depth = url.split("/")[0], url.count("/")
        is_part = folder in plurals and depth > 2
        types.setdefault(("part of a list" if is_part else folder, depth), url)
    return list(types.values())


def test_every_kind_is_gone_through(site: Path) -> None:
    urls = pages(site)
    for kind in load_kinds():
        assert f"{kind.plural}/" in urls
        records = [url for url in urls if url.startswith(f"{kind.plural}/{kind.prefix}")]
        assert records, f"add a record of the kind {kind.name} to tests/cases/site/kinds"


@dataclass
class Visit:
    """What a page showed and did: what stands out of it, its console and requests,
    and what axe objects to.
    """

    wide: list[tuple[object, ...]] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    violations: list[tuple[str, list[str]]] = field(default_factory=list)


@pytest.fixture(scope="module")
def visits(
    site: Path, home: str, browser: Browser, request: pytest.FixtureRequest
) -> dict[str, Visit]:
    """Open a page of each type once, in three widths and both schemes;
    keep a picture of every page if told to.
    """
    screenshots = request.config.getoption("screenshots")
    result = {}
    with browsing.tab(browser) as tab:
        for url in pages(site) if screenshots else one_of_each(pages(site)):
            result[url] = visit = Visit()
            tab.resized(DESK)
            page = tab.go(home + url)
            for scheme, width in VIEWS if screenshots else (*VIEWS[:3], VIEWS[-1]):
                tab.resized(width, scheme)
                page.wait_for_selector(f'body[data-md-color-scheme="{SCHEMES[scheme]}"]')
                if scheme == "light" and (
                    wide := page.evaluate(WIDE)
                ):  # no colour makes a page wider
                    visit.wide.append((width, *wide[:3]))
                if screenshots:
                    name = url.strip("/").replace("/", "-") or "landing"
                    page.screenshot(
                        path=Path(screenshots) / f"{name}-{width}-{scheme}.png", full_page=True
                    )
            tab.resized(*AXE_VIEWS[len(result) % len(AXE_VIEWS)])
            page.wait_for_load_state("networkidle")
            violations = (
                Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            )
            for rule in violations:
                visit.violations.append(
                    (rule["id"], [node["html"][:120] for node in rule["nodes"]][:3])
                )
            visit.noise = [*tab.console, *tab.requests]
            tab.console.clear()
            tab.requests.clear()
    return result


def test_a_page_of_each_type_is_quiet_and_fits(visits: dict[str, Visit]) -> None:
    assert {url: visit.wide for url, visit in visits.items() if visit.wide} == {}
    assert {url: visit.noise for url, visit in visits.items() if visit.noise} == {}


def test_every_page_can_be_read_by_everyone(visits: dict[str, Visit]) -> None:
    assert {url: visit.violations for url, visit in visits.items() if visit.violations} == {}


SMALL = """() => [...document.querySelectorAll(
    ".orbit-filter :is(input, select, .orbit-chip), .orbit-views a, .orbit-explorer input, .orbit-lookup input"
)].filter((one) => one.getClientRects().length && one.getBoundingClientRect().height < 44)
    .map((one) => one.outerHTML.slice(0, 120))"""  # noqa: E501
"""What one acts with and a finger would miss."""
HIDDEN = """() => [...document.querySelectorAll(".orbit-bars, .orbit-columns, .orbit-layers, .orbit-tasks")]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.outerHTML.slice(0, 120))"""  # noqa: E501
"""Numbers and names that stand beyond a phone's edge until one scrolls sideways."""


def test_a_phone_has_room_for_fingers_and_all_numbers(home: str, tab: Tab) -> None:
    tab.resized(PHONE)
    for url in ("", "adrs/", "adrs/timeline/", "paths/", "404.html", "health/", "tasks/"):
        page = tab.go(home + url)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SMALL) == [], url
        assert page.evaluate(HIDDEN) == [], url


SHIFTED = """() => new Promise((done) =>
    new PerformanceObserver((list) => done(list.getEntries().map((entry) => entry.sources[0].node.outerHTML)))
        .observe({ type: "layout-shift", buffered: true }) ?? setTimeout(done, 500, []))"""  # noqa: E501
"""What moved after it was drawn first."""


def test_nothing_moves_when_scripts_begin(home: str, tab: Tab) -> None:
    tab.resized(PHONE)
    for url in ("paths/", "adrs/"):
        page = tab.go(home + url)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SHIFTED) == [], url


def focused(page: Page) -> str:
    """Return what has the keyboard's focus: the class of the element, or of what is drawn in it."""
    return str(
        page.evaluate(
            "(document.activeElement.className.baseVal ?? document.activeElement.className) || ''"
        )
    )


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, as someone without a mouse does."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no key leads to {selector}; the focus ended on {focused(page)!r}")


def test_an_index_is_filtered_by_keyboard(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}adrs/")
    rows = page.locator("table.orbit-index tbody tr")
    total = rows.count()
    tab_to(page, "input[name=find]")
    page.keyboard.type("session")
    expect(page.locator(".orbit-filter output")).to_have_text("2 found")
    tab_to(page, "button[value=accepted]")
    page.keyboard.press("Space")
    expect(rows).to_have_count(1)
    assert page.url.endswith("?find=session&status=accepted")
    tab_to(page, "button[type=reset]")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(total)
    assert page.url == f"{home}adrs/"
    assert tab.console == []


def test_an_index_is_sorted_by_its_headings(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}adrs/")
    ids = page.locator("table.orbit-index tbody .orbit-col-id")
    as_listed = ids.all_text_contents()
    heading = page.get_by_role("columnheader", name="Id")
    heading.get_by_role("button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(ids).to_have_text(sorted(as_listed))
    heading.get_by_role("button").click()
    assert page.url.endswith("?sort=-id")
    heading.get_by_role("button").click()
    expect(ids).to_have_text(as_listed)
    page.goto(f"{home}adrs/?sort=-title")
    titles = page.locator("table.orbit-index tbody .orbit-col-title > a")
    expect(titles).to_have_text(sorted(titles.all_text_contents(), key=str.lower, reverse=True))
    page.click(".orbit-filter button[type=reset]")
    expect(ids).to_have_text(as_listed)
    assert tab.console == []


@pytest.mark.parametrize("url", ["adrs/ADR-0001/", "adrs/timeline/", "404.html"])
def test_the_first_link_skips_to_the_content(home: str, tab: Tab, url: str) -> None:
    page = tab.go(home + url)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#orbit-content")).to_be_focused()


def test_the_timeline_is_walked_by_keyboard(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}adrs/timeline/")
    tab_to(page, ".orbit-columns a")
    names = page.locator(".orbit-columns a:focus .orbit-shown")
    expect(names).to_contain_text("ADR-")
    page.keyboard.press("Enter")
    expect(page.locator("h2:target + .orbit-items")).to_contain_text("ADR-")


@pytest.mark.parametrize("start", ["", "paths/"])
def test_the_explorer_answers_the_keyboard(home: str, tab: Tab, start: str) -> None:
    page = tab.go(home + start)
    tab_to(page, ".orbit-explorer input")
    page.keyboard.type("src/a.py")
    expect(page.locator(".orbit-said")).to_have_text("1 record applies to src/a.py")
    tab_to(page, ".orbit-answer a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{home}adrs/ADR-0002/")
    assert tab.console == []


def test_a_path_that_nothing_applies_to_leads_on(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}paths/?path=no/such.file")
    expect(page.locator(".orbit-said")).to_have_text("No records apply to no/such.file")
    expect(page.locator(".orbit-answer .orbit-hint")).to_contain_text("Try src/")
    page.click(".orbit-answer .orbit-hint a >> nth=0")
    expect(page.locator(".orbit-answer .orbit-found a").first).to_be_visible()


@pytest.mark.parametrize(
    ("text", "answer", "leads_to"),
    [
        ("ADR-0002", "1 record for “ADR-0002”", "adrs/ADR-0002/"),
        ("adr-2", "1 record for “adr-2”", "adrs/ADR-0002/"),
        ("sessions in files", "“sessions in files”; Enter opens the first", "adrs/ADR-0002/"),
        ("zzqqzz", "Nothing found for “zzqqzz”", ""),
    ],
)
def test_the_box_of_the_start_page_leads_from_ids_and_words_to_records(
    home: str, tab: Tab, text: str, answer: str, leads_to: str
) -> None:
    page = tab.go(home)
    page.fill(".orbit-explorer input", text)
    expect(page.locator(".orbit-said")).to_contain_text(answer)
    if leads_to:
        expect(page.locator(".orbit-answer .orbit-sentence").first).to_be_visible()

    page.keyboard.press("Enter")
    page.wait_for_url(home + leads_to)
    assert (tab.console, tab.requests) == ([], [])


@pytest.fixture(scope="module")
def below(demo_site: DemoSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a site below a path of its host, which answers what is missing with the site's own page
    for that.
    """
    top = tmp_path_factory.mktemp("below")
    shutil.copytree(demo_site(every_kind=True, has_address=True), top / "why")

    class Host(http.server.SimpleHTTPRequestHandler):
        def send_error(
            self, code: int, message: str | None = None, explain: str | None = None
        ) -> None:
            body = (top / "why/404.html").read_bytes()
            self.send_response(code)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of requests."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(top)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/why/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_site_works_below_a_path(below: str, tab: Tab) -> None:
    """Boxes, search and links of a page ask below the site's own address,
    as if the host had others.
    """
    page = tab.go(f"{below}adrs/ADR-0002/")
    page.goto(f"{below}paths/?path=src/a.py")
    expect(page.locator(".orbit-answer a").first).to_have_attribute(
        "href", f"{below}adrs/ADR-0002/"
    )
    page.goto(f"{below}adrs/?find=redis")
    expect(page.locator("table.orbit-index tbody a").first).to_have_attribute(
        "href", f"{below}adrs/ADR-0005/"
    )
    page.goto(f"{below}?q=redis")
    expect(page.locator("a.orbit-hit")).to_have_attribute("href", f"{below}adrs/ADR-0005/")
    assert tab.console == []


def test_what_is_missing_is_looked_up(below: str, tab: Tab) -> None:
    page = tab.go(f"{below}no/such/core%2FADR-001")
    assert [message for message in tab.console if "no/such" not in message] == []
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.md-header')).position") == "sticky"
    )
    for address, record_id in (
        ("adr/ADR-0003.html", "ADR-0003"),
        ("old/adr-001", "ADR-0001"),
        ("0002-x", "ADR-0002"),
    ):
        page.goto(f"{below}{address}")
        expect(page.locator("[data-orbit-meant] a")).to_have_attribute(
            "href", f"{below}adrs/{record_id}/"
        )
    page.goto(f"{below}no/such-sessions")
    expect(page.locator("[data-orbit-meant]")).to_be_hidden()
    page.click(".orbit-lookup button")
    page.wait_for_url(f"{below}search/?q=such%20sessions")
    expect(page.locator("#orbit-search-text")).to_have_value("such sessions")
    page.goto(f"{below}legacy/none/ADR-001/")  # an earlier name without a page of its own
    page.wait_for_url(f"{below}adrs/ADR-0001/")


def test_a_site_can_be_read_from_its_files(site: Path, tab: Tab) -> None:
    for page in (
        "index.html",
        "adrs/index.html",
        "adrs/ADR-0001/index.html",
        "design/core/1_overview/index.html",
    ):
        opened = tab.go((site / page).as_uri())
        assert (
            opened.evaluate("getComputedStyle(document.querySelector('.md-header')).position")
            == "sticky"
        )
    assert tab.console == []
    for url, box, answer in (
        ("adrs/index.html", "input[name=find]", ".orbit-filter output"),
        ("paths/index.html", ".orbit-explorer input", ".orbit-said"),
    ):
        opened = tab.go((site / url).as_uri())
        opened.fill(box, "src/a.py")
        expect(opened.locator(answer)).to_contain_text("serve")
    assert [
        message for message in tab.console if message.startswith("error: Failed to fetch")
    ] == []


def test_a_site_is_useful_without_scripts(home: str, browser: Browser) -> None:
    with browsing.tab(browser, scripts=False) as tab:
        for url in (
            "",
            "404.html",
            "adrs/",
            "adrs/ADR-0001/",
            "adrs/timeline/",
            "documents/",
            "health/",
            "map/",
            "paths/",
        ):
            page = tab.go(home + url)
            assert page.locator("h1").first.is_visible(), url
            assert (
                not page.locator(".orbit-filter, .orbit-explorer, .orbit-lookup")
                .filter(visible=True)
                .count()
            ), url
            assert page.locator(".md-content a").filter(visible=True).count(), url
        page = tab.go(f"{home}adrs/")
        page.click("table.orbit-index tbody tr:first-child a")
        assert "/adrs/ADR-" in page.url
        tab.go(f"{home}legacy/core/ADR-001/").wait_for_url(f"{home}adrs/ADR-0001/")
        assert "ADR-0002" in page.locator(".orbit-banner").inner_text()
        assert tab.console == tab.requests == []
