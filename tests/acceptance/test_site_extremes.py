"""Pages at their extremes in a real browser:
many tags, wide tables, both directions, paper, forced colours.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import DESK, PHONE, Tab
from tests.files import write

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

TAGS = 70
A4 = 794
"""The width of a sheet of paper in pixels."""
COLUMNS = 14
WIDE = "\n".join(
    [
        f"| {' | '.join(f'Column number {number}' for number in range(COLUMNS))} |",
        f"|{'---|' * COLUMNS}",
        f"| {' | '.join(f'some value {number}' for number in range(COLUMNS))} |",
    ]
)
ARABIC = "- أول\n- ثان (see ADR-0001)\n\n1. واحد\n\n> اقتباس\n\n"
ARABIC += "| عمود | Column |\n|---|---|\n| قيمة | value |\n\n- English\n"
BODIES = {2: WIDE, 4: ARABIC, 5: "- One\n- Two\n"}


def decision(number: int) -> str:
    """Return a record that has a tag of its own,
    and one that begins as that of another record does.
    """
    supersedes = "supersedes: [ADR-0001]\n" if number == 2 else ""
    status = (
        "superseded\nsuperseded_by: [ADR-0002]"
        if number == 1
        else "proposed"
        if number == 3
        else "accepted"
    )
    return (
        f"schema_version: 1\nid: ADR-{number:04d}\nuid: {number:032x}\ntitle: Keep shelf "
        f"{number} apart\n"
        f'status: {status}\n{supersedes}date: "2026-05-{number % 27 + 1:02d}"\nfeature: core\n'
        f"summary: So that it is found.\nscope: {{paths: [src/a.py], tags: [shelf-{number}]}}\n"
        "created_at: 2026-05-01T00:00:00Z\nupdated_at: 2026-05-02T00:00:00Z\n"
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, git: Callable[..., str]) -> Iterator[str]:
    """Serve a site of decisions with many tags; all cite the first."""
    root = tmp_path_factory.mktemp("extremes")
    for number in range(1, TAGS + 1):
        folder = root / f"repo/.orbit/adrs/ADR-{number:04d}"
        folder.mkdir(parents=True)
        (folder / "adr.yaml").write_text(decision(number), "utf-8")
        (folder / "body.md").write_text(
            f"## Context\n\n{BODIES.get(number, 'As ADR-0001 says.')}\n", "utf-8"
        )
    (root / "repo/.orbit/config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\nproject: Shelves\n"
    )
    write(root, "repo/src/a.py", "")
    git(root / "repo", "init", "-q")
    git(root / "repo", "add", "-A")
    result = build_site(Registry.open(root / "repo"), root / "site", snapshot=False)
    assert not [problem for problem in result.diagnostics if problem.severity == "error"]
    with browsing.served(root / "site") as url:
        yield url


def test_one_of_many_tags_is_typed(home: str, tab: Tab) -> None:
    """Where a list would be too long, its words are proposed;
    what is typed stands for those that begin with it.
    """
    page = tab.go(f"{home}adrs/")
    box, rows = page.locator("input[name=tag]"), page.locator("table.orbit-index tbody tr")
    box.focus()
    expect(page.locator("#orbit-tag option")).to_have_count(TAGS)
    box.press_sequentially("Shelf-7")
    expect(page.locator(".orbit-filter output")).to_have_text(
        "1 found"
    )  # there is a tag of just that name
    box.fill("sh")
    expect(page.locator(".orbit-filter output")).to_have_text(f"{TAGS} found")
    page.goto(f"{home}adrs/?tag=shelf-1")
    expect(box).to_have_value("shelf-1")
    expect(rows).to_have_count(1)
    assert tab.console == []


def test_the_box_says_once_what_it_found(home: str, tab: Tab) -> None:
    page = tab.go(home)
    page.keyboard.press("/")
    page.keyboard.type("shelf")
    expect(page.locator("a.orbit-hit").first).to_be_visible()
    page.fill("[role=combobox]", "zzzznothing")
    expect(page.locator("output.orbit-hits-count")).to_have_text("Nothing found for “zzzznothing”")
    expect(page.locator("a.orbit-hit")).to_have_count(0)


def test_what_scrolls_sideways_says_so(home: str, tab: Tab) -> None:
    tab.resized(PHONE)
    page = tab.go(f"{home}adrs/ADR-0002/")
    box = page.locator(".orbit-prose .orbit-scroll")
    expect(box).to_have_class(re.compile("orbit-more-after"))
    expect(box).not_to_have_class(re.compile("orbit-more-before"))
    assert "gradient" in box.evaluate("(box) => getComputedStyle(box).maskImage")
    box.evaluate("(box) => box.scrollTo(box.scrollWidth, 0)")
    expect(box).to_have_class(re.compile("orbit-more-before"))
    expect(box).not_to_have_class(re.compile("orbit-more-after"))


def test_paper_has_all_of_a_page(home: str, tab: Tab) -> None:
    tab.page.set_viewport_size({"width": A4, "height": 1123})
    page = tab.go(f"{home}adrs/ADR-0002/")
    page.emulate_media(media="print")
    table = page.locator(".orbit-prose table")
    assert table.evaluate("(table) => table.getBoundingClientRect().right") <= A4
    masks = (
        "[...document.querySelectorAll('.orbit-scroll')].map((one) => "
        "getComputedStyle(one).maskImage)"
    )
    assert set(page.evaluate(masks)) == {"none"}
    page.goto(f"{home}paths/?path=src/a.py")
    expect(page.locator(".orbit-found").first).to_be_visible()
    page.goto(f"{home}paths/")
    expect(page.locator(".orbit-explorer")).to_be_hidden()


def test_what_is_folded_looks_like_a_line(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}adrs/ADR-0001/")
    style = page.locator(".orbit-cited details").evaluate(
        "(one) => [getComputedStyle(one).borderWidth, "
        "getComputedStyle(one.firstElementChild).backgroundColor]"
    )
    assert style == ["0px", "rgba(0, 0, 0, 0)"]


def test_colours_of_the_reader_hide_nothing(home: str, browser: Browser) -> None:
    context = browser.new_context(forced_colors="active", viewport={"width": DESK, "height": 900})
    page = context.new_page()
    page.goto(f"{home}adrs/?status=accepted")
    chip = (
        "(value) => "
        "getComputedStyle(document.querySelector(`button[value=${value}]`)).backgroundColor"
    )
    page.wait_for_selector("button[value=accepted][aria-pressed=true]")
    assert page.evaluate(chip, "accepted") != page.evaluate(chip, "proposed")
    page.goto(f"{home}adrs/ADR-0001/")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.orbit-banner')).borderTopWidth")
        == "1px"
    )
    page.goto(f"{home}health/")
    fills = "(css) => getComputedStyle(document.querySelector(`.orbit-bars .${css}`)).fill"
    assert page.evaluate(fills, "orbit-rest") == paper
    assert page.evaluate(fills, "orbit-part") != paper
    context.close()


SIDES = """(css) => {
    const box = document.querySelector(css), at = box.getBoundingClientRect();
    const item = box.matches("ul, ol") ? box.firstElementChild : box;
    const style = getComputedStyle(item);
    return [style.direction, style.marginRight !== "0px" || style.borderRightWidth !== "0px", at.left, at.right];
}"""  # noqa: E501
"""Of a list, a quotation or a table: its direction, and whether its marks stand on the right."""


def test_each_block_begins_where_its_script_does(home: str, tab: Tab) -> None:
    page = tab.go(f"{home}adrs/ADR-0004/")
    prose = ".orbit-prose"
    for css in (f"{prose} ul", f"{prose} ol", f"{prose} blockquote"):
        direction, marked, *_ = page.evaluate(SIDES, css)
        assert (direction, marked) == ("rtl", True), css
    cells = page.locator(f"{prose} table th")
    first, second = (cells.nth(number).bounding_box() for number in (0, 1))
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"], (
        "the first column of a table that begins in Arabic is the right one"
    )
    assert page.evaluate(SIDES, f"{prose} ul:last-of-type")[0] == "ltr"
    plain = tab.go(f"{home}adrs/ADR-0005/").locator(f"{prose} ul")
    assert plain.get_attribute("dir") is None


def test_bars_fit_a_phone(home: str, tab: Tab) -> None:
    tab.resized(PHONE)
    for bars in tab.go(f"{home}health/").locator(".orbit-bars").all():
        assert bars.evaluate("(bars) => bars.getBoundingClientRect().right") <= PHONE


FOCUSED = """() => {
    const one = document.activeElement, at = one.getBoundingClientRect();
    if (one.matches("body, .md-option, .md-search__input")) return "";
    const drawn = one.closest("svg") || getComputedStyle(one).outlineStyle !== "none";
    return drawn && at.width * at.height ? "" : one.outerHTML.slice(0, 80);
}"""
"""What has the focus, where one can't see that;
what the theme marks beside itself is left to it.
"""


@pytest.mark.parametrize("url", ["adrs/", "adrs/ADR-0001/", "404.html"])
def test_the_focus_can_always_be_seen(home: str, tab: Tab, url: str) -> None:
    page = tab.go(home + url)
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) == ""
