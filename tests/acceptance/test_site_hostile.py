"""Text written to run: in a real browser every field and every document of it is shown,
and nothing of it happens.
"""

import re
import shutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import Tab
from tests.acceptance.conftest import npm_of_the_user
from tests.acceptance.site_cases import copied

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
LONG = "<img/src=x/onerror=document.documentElement.dataset.fired=90>" * 17_000
"""A line of a megabyte, with no place to break it."""
TURNED = "\u202e\u2067gnihtemos\u05d0\u05d1\u05d2"
"""Text that runs from right to left, after characters that turn whatever follows them and are never
closed.
"""
HEBREW = "\u05db\u05dc \u05d4\u05d6\u05de\u05e0\u05d9\u05dd UTC"
"""A title that begins with words that run from right to left."""
STILL = """() => {
    const bad = [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(
        ({ name, value }) => name.startsWith("on") || /^\\s*(java|vb)script:/i.test(value)));
    const strangers = "iframe, object, embed, base, meta, style, form:not([class^=orbit-])";
    bad.push(...document.querySelectorAll(`.md-content :is(${strangers})`));
    return bad.map((one) => one.outerHTML.slice(0, 120));
}"""
"""Handlers, addresses that run, and elements of which our pages have none."""


MARKS = "design/evil/3_marks/"
DRAWN = (
    "[...document.querySelectorAll('.orbit-drawn')].flatMap(box => "
    "[...box.shadowRoot.querySelectorAll('*')])"
)
ACTING = f"""() => {DRAWN}.filter((one) => ["script", "iframe", "image", "img", "object"].includes(one.localName)
    || [...one.attributes].some(({{ name, value }}) => name.startsWith("on") || /script:|example\\.org/i.test(value)))
    .map((one) => one.outerHTML.slice(0, 120))"""  # noqa: E501
"""What could act in a diagram, or ask another host."""


def is_calm(page: Page) -> bool:
    """Say whether nothing of the text ran, and the theme's own names still mean what the theme gave
    them.
    """
    clobbered = (
        "document.querySelector('.md-content :is(#__search, #__drawer, #__config, "
        "[id^=__palette])') ?? ''"
    )
    fired = "document.documentElement.dataset.fired ?? ''"
    names = "[typeof document.body, typeof document.forms, typeof document.getElementById].join()"
    return (
        page.evaluate(fired) == ""
        and page.evaluate(clobbered) == ""
        and page.evaluate(names) == "object,object,function"
        and page.evaluate(STILL) == []
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """Return a site made of hostile records and documents,
    a very long line and turned text among them.
    """
    top = tmp_path_factory.mktemp("hostile")
    root = copied("hostile", top / "repo")
    (root / "docs/design/evil/2_long.md").write_text(f"# Long {TURNED}\n\n{LONG}\n", "utf-8")
    learning = (root / ".orbit/learnings/L-ev1s0/learning.yaml").read_text("utf-8")
    for number, title in enumerate((f"Turned {TURNED}", HEBREW), start=1):
        copy = re.sub(
            r"(?m)^summary: .*",
            f"summary: '{title}'",
            learning.replace("L-ev1s0", f"L-ev1s{number}"),
        )
        (root / f".orbit/learnings/L-ev1s{number}").mkdir()
        file = root / f".orbit/learnings/L-ev1s{number}/learning.yaml"
        file.write_text(copy.replace("cde0\n", f"cde{number}\n"), "utf-8")
    with npm_of_the_user(pytestconfig):
        build_site(Registry.open(root), top / "site", snapshot=False)
    return top / "site"


@pytest.fixture(scope="module")
def published(site: Path) -> Iterator[str]:
    with browsing.served(site) as url:
        yield url


@pytest.fixture(scope="module")
def unguarded(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the hostile site with the policy taken out: the markup alone has to hold."""
    site = Path(shutil.copytree(site, tmp_path_factory.mktemp("unguarded") / "site"))
    for page in site.rglob("*.html"):
        page.write_text(POLICY.sub("", page.read_text("utf-8")), "utf-8")
    with browsing.served(site) as url:
        yield url


def test_the_alarm_rings_where_text_would_run(tab: Tab, tmp_path: Path) -> None:
    """Pages with the same text as raw markup are not calm: the other tests would see it."""
    for text in (
        "<img src=x onerror=document.documentElement.dataset.fired=1>",
        "<input id=__search><div class=md-content><a id=__search></a></div>",
        "<form id=f><input name=x></form><div class=md-content><form></form></div>",
        "<a href=' javascript:x'>x</a>",
        "<img name=getElementById><a name=body id=forms></a><form name=body></form>",
    ):
        (tmp_path / "a.html").write_text(f"<!doctype html>{text}", "utf-8")
        page = tab.go((tmp_path / "a.html").as_uri())
        page.wait_for_load_state("networkidle")
        assert not is_calm(page), text


@pytest.mark.parametrize("served", ["published", "unguarded"])
def test_hostile_text_stays_text(
    site: Path, served: str, request: pytest.FixtureRequest, tab: Tab
) -> None:
    home = request.getfixturevalue(served)
    files = sorted(
        page.relative_to(site) for page in site.rglob("*.html") if "legacy" not in page.parts
    )
    kinds = groupby(files, lambda page: page.parent.parent)
    urls = [MARKS, *(page.as_posix() for _, alike in kinds for page in list(alike)[:1])]
    assert len(urls) > 10
    for url in urls:
        page = tab.go(home + url)
        page.wait_for_selector("html.js", state="attached")
        assert is_calm(page), url
    assert [
        message
        for message in tab.console
        if "Content Security Policy" in message or message.startswith("error: ")
    ] == []
    assert tab.requests == []


def test_hostile_diagrams_are_drawn_calmly(unguarded: str, tab: Tab) -> None:
    page = tab.go(unguarded + MARKS)
    page.wait_for_load_state("networkidle")
    if page.evaluate("() => !globalThis.mermaid"):
        pytest.skip("needs npm's Mermaid")
    expect(page.locator(".orbit-drawn")).to_have_count(4)
    page.wait_for_load_state("networkidle")
    assert page.evaluate(ACTING) == []
    assert is_calm(page)
    assert (tab.console, tab.requests) == ([], [])


def test_what_scripts_write_stays_text(unguarded: str, tab: Tab) -> None:
    page = tab.go(f"{unguarded}adrs/?find=script")
    expect(page.locator("table.orbit-index tbody tr")).to_have_count(1)
    assert is_calm(page)
    page.goto(f"{unguarded}paths/?path=src/a.py")
    expect(page.locator(".orbit-answer a").first).to_contain_text("<script>")
    assert is_calm(page)
    for path in (
        "<img src=x onerror=document.documentElement.dataset.fired=2>",
        "__proto__",
        "constructor",
    ):
        page.fill(".orbit-explorer input", path)
        expect(page.locator(".orbit-said")).to_have_text(f"No records apply to {path}")
    page.goto(f"{unguarded}?q=script")
    expect(page.locator("a.orbit-hit").first).to_contain_text("<script>")
    assert is_calm(page)
    page.goto(f"{unguarded}404.html")
    page.fill("#orbit-lookup-text", "<img src=x onerror=document.documentElement.dataset.fired=3>")
    page.keyboard.press("Enter")
    expect(page.locator("a.orbit-hit small mark").first).to_be_visible()
    assert is_calm(page)
    assert tab.console == tab.requests == []


def test_template_syntax_is_shown_as_written(published: str, tab: Tab) -> None:
    text = tab.go(f"{published}adrs/ADR-0001/").inner_text("body")
    for syntax in (
        "{{ config.items() }}",
        "{{ 7*7 }}",
        "@@orbit:title@@",
        "@@orbit:content@@",
        "{% raw %}",
        "${1+1}",
    ):
        assert syntax in text


def test_turned_text_turns_nothing_else(published: str, tab: Tab) -> None:
    apart = """() => {
        const [title, chip] = ["b", ".orbit-chip"].map((part) => document.querySelector(`a.orbit-hit ${part}`));
        return title && chip && title.getBoundingClientRect().right <= chip.getBoundingClientRect().left + 1;
    }"""  # noqa: E501
    tab.go(f"{published}?q=turned").wait_for_function(
        apart
    )  # hits are drawn twice: by title, then by all words


@pytest.mark.parametrize(("record", "side"), [("L-ev1s1", "left"), ("L-ev1s2", "right")])
def test_a_title_begins_where_its_script_does(
    published: str, tab: Tab, record: str, side: str
) -> None:
    gap = """(one, side) => {
        const words = document.createRange();
        words.selectNodeContents(one);
        const style = getComputedStyle(one);
        const room = parseFloat(style[side === "left" ? "paddingLeft" : "paddingRight"]);
        return Math.abs(one.getBoundingClientRect()[side] - words.getBoundingClientRect()[side]) - room;
    }"""  # noqa: E501
    page = tab.go(f"{published}learnings/{record}/")
    assert page.locator("h1").evaluate(gap, side) < 1
    page.goto(f"{published}learnings/")
    assert page.locator(f"tr:has(a[href*={record}]) .orbit-col-summary").evaluate(gap, side) < 1
