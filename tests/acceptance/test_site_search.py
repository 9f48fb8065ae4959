"""The search box in a real browser: pages and records in the order of `orbit search`,
by keyboard alone.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, expect
from tests.acceptance.browsing import DESK, PHONE, Tab, served
from tests.acceptance.browsing import tab as tab_of
from tests.acceptance.conftest import DemoSite, Shared, real_repository
from tests.acceptance.site_cases import copied
from tests.conftest import Git
from tests.files import configure, write, write_learning

from orbit_registry.doors.cli.main import main
from orbit_registry.hook.words import STOP_WORDS
from orbit_registry.model.rank import rank_order
from orbit_registry.registry import Registry
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.query import Query
from orbit_registry.search.text import words
from orbit_registry.search.texts import texts_of
from orbit_registry.site.build import build_site
from orbit_registry.site.config import overrides
from orbit_registry.site.search_data import LONGEST_LEAD, lead, packed, titles
from orbit_registry.site.search_data import words as words_of

ROOT = Path(__file__).parents[2]
Look = Callable[[str], tuple[str, str]]
Find = Callable[[list[str]], list[list[str]]]
EMPTY = "<!doctype html><title>Empty</title>"
MRR = 0.58
"""Of the first hits for real questions, in the search box."""
EQUAL = 0.8
"""What part of real questions has the ten hits of `orbit search` in its order;
the others have words of no record, which the box does not stem.
"""
FIND = """async (texts) => {
    const read = async (name) => (await fetch(`/search/${name}.json`)).json();
    const [titles, words] = [await read("titles"), await read("words")];
    const find = (await import("/assets/orbit/search.js")).finder(titles, words);
    return texts.map((text) => find.records(text).slice(0, 10).map((row) => titles.records[row][0]));
}"""  # noqa: E501
QUESTIONS = (
    "session",
    "network test",
    "importer utc timestamps",
    "rotate old keys",
    "checkout sandbox browser",
    "ADR-0003",
    "store sessions in files",
    "how is it deployed?",
    "RT-4w81q",
    "postgresql",
)


def test_an_entry_of_a_log_is_found_once(tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    log = root / "docs/design/core/4_decisions.md"
    text = log.read_text("utf-8")
    log.write_text(f"{text}\n## ADR-0099 — Nobody recorded this\n\n### Context\n\nSome.\n", "utf-8")
    site = tmp_path / "site"

    def places() -> list[str]:
        build_site(Registry.open(root), site, snapshot=False)
        data = json.loads((site / "search/words.json").read_text("utf-8"))["pages"]
        urls = [url for url, _ in data["pages"]]
        return [
            anchor
            for page, anchor, _ in data["sections"]
            if urls[page] == "design/core/4_decisions/" and anchor
        ]

    context = f"s-context-{text.count('### Context')}"
    assert places() == ["s-decisions", "s-adr-0099--nobody-recorded-this", context]
    record = (root / ".orbit/adrs/ADR-0005/adr.yaml").read_text("utf-8").replace("0005", "0099")
    write(root, ".orbit/adrs/ADR-0099/adr.yaml", re.sub("(?m)^uid: .", "uid: f", record))
    assert places() == ["s-decisions"]
    page = (site / "design/core/4_decisions/index.html").read_text("utf-8")
    assert all(f'id="s-adr-000{number}' in page for number in (1, 2)), "the page itself has all"


def test_words_are_found_by_stem_not_by_part(look: Look, demo_site: DemoSite) -> None:
    hits = {}
    with served(demo_site()) as url:  # ADR-0002: Store sessions in files
        for query in (
            "stored session",
            "session fil",
            "essio",
            "fil sessio",
            "ADR-0002",
            "2",
            "#0002",
        ):
            dom, _ = look(f"{url}?q={quote(query)}")
            hits[query] = re.findall(r'<a class="orbit-hit" href="[^"]*/(ADR-\d+)/"', dom)
            assert (hits[query][:1] == ["ADR-0002"]) is (query != "essio"), hits
    assert hits["essio"] == []


def test_the_browser_splits_texts_as_orbit_search_does(browser: Browser, tmp_path: Path) -> None:
    shutil.copy(overrides() / "assets/orbit/search.js", tmp_path)
    (tmp_path / "index.html").write_text(EMPTY, "utf-8")
    texts = [file.read_text("utf-8") for file in (ROOT / "docs").rglob("*.md")]
    texts += [
        "parseHTTPHeader URLs x2y 7f3a9c21b",
        "日本語のテスト ABC한국어 ไทย",
        "Größe naïve ÀbC ²½ ß",
        "नमस्ते ١٢٣",
    ]
    script = "async (texts) => (await import('/search.js')).words(texts.join('\\n'))"
    with served(tmp_path) as url, tab_of(browser) as opened:
        terms = opened.go(url).evaluate(script, texts)
    assert [word for word in terms if word not in STOP_WORDS] == words("\n".join(texts))
    assert len(terms) > 10_000


def test_a_number_leads_to_its_record_and_the_one_that_had_it_earlier(
    browser: Browser, tmp_path: Path
) -> None:
    shutil.copy(overrides() / "assets/orbit/search.js", tmp_path)
    (tmp_path / "index.html").write_text(EMPTY, "utf-8")
    script = """async (titles) => {
        const { finder, titleWords } = await import("/search.js");
        return ["0007", "7", "adr-7", "ADR-0012"].map((text) => finder(titles, titleWords(titles)).records(text));
    }"""  # noqa: E501
    titles = {
        "records": [["ADR-0007", "Seven", 0], ["ADR-0012", "Twelve", 0]],
        "names": {"0007": [1]},
        "looks": [{"searched": True, "closed": False}],
    }
    with served(tmp_path) as url, tab_of(browser) as opened:
        assert opened.go(url).evaluate(script, titles) == [[0, 1], [0], [0], [1]]


@pytest.fixture(scope="module")
def real(shared: Shared, corpora: Path) -> Registry:
    """Return a registry of 190 real records; what the search box reads of them is in the folder
    `box` next to it.
    """

    def fill(folder: Path) -> None:
        registry = Registry.open(real_repository(corpora, folder))
        records = sorted(registry.records, key=lambda record: rank_order(record, half_life_days()))
        counts = {record.path: [packed(text) for text in texts_of(record)] for record in records}
        write(folder, "box/index.html", EMPTY)
        write(folder, "box/search/titles.json", titles(records, registry.records.live_successors))
        write(folder, "box/search/words.json", words_of(records, counts, []))
        write(
            folder,
            "box/assets/orbit/search.js",
            (overrides() / "assets/orbit/search.js").read_text("utf-8"),
        )

    return Registry.open(shared("real", fill) / "repo")


@pytest.fixture(scope="module")
def find(browser: Browser, real: Registry) -> Iterator[Find]:
    """Return a function that gives the first ten records of the search box for each of some
    texts.
    """
    with served(real.workspace.root.parent / "box") as url, tab_of(browser) as opened:
        page = opened.go(url)
        yield lambda texts: page.evaluate(FIND, texts)


@pytest.fixture(scope="module")
def questions(corpora: Path) -> list[Any]:
    return [
        entry
        for file in sorted((corpora / "recall").glob("*.json"))
        for entry in json.loads(file.read_bytes())
    ]


def test_names_and_titles_lead_to_their_record(find: Find, real: Registry) -> None:
    records = list(real.records)
    ids = {record.id for record in records}
    names = [
        (name, record.id)
        for record in records
        for name in (record.id, *(set(record.legacy_ids) - ids))
    ]
    assert len(names) > 300
    heirs = {
        record.id: {heir.id for heir in real.records.live_successors(record)} for record in records
    }
    for hits, (_, record_id) in zip(find([name for name, _ in names]), names, strict=True):
        later = heirs[record_id] if real.get(record_id).phase == "closed" else set()
        assert set(hits[: len(later)]) == later, (
            "what took the place of a closed record comes before it"
        )
        assert hits[len(later)] == record_id
    by_title = find([record.title for record in records])
    firsts = [
        hits[: 1 + len(heirs[record.id])] for record, hits in zip(records, by_title, strict=True)
    ]
    assert sum(record.id in hits for record, hits in zip(records, firsts, strict=True)) > 180


def test_real_questions_are_answered(find: Find, real: Registry, questions: list[Any]) -> None:
    ranks = []
    for question, hits in zip(
        questions, find([question["query"] for question in questions]), strict=True
    ):
        answers = {
            candidate.id
            for name in question["relevant"]
            for candidate in real.records.candidates(name)
        }
        ranks.append(next((1 / rank for rank, hit in enumerate(hits, 1) if hit in answers), 0.0))
    assert sum(ranks) / len(ranks) > MRR


def test_real_questions_have_the_hits_of_orbit_search(
    find: Find, real: Registry, questions: list[Any]
) -> None:
    texts = [question["query"] for question in questions[::3]]
    expected = [[hit.record.id for hit in real.search(Query(text)).hits][:10] for text in texts]
    pairs = list(zip(find([f"{text} " for text in texts]), expected, strict=True))
    assert sum(hits[: len(ids)] == ids for hits, ids in pairs) / len(pairs) > EQUAL
    assert sum(hits[:1] == ids[:1] for hits, ids in pairs) / len(pairs) > 0.95


def test_a_resource_like_a_decision_is_redacted_too(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied("demo", tmp_path / "repo")
    configure(root, "  publish:\n    redact: ['(?i)project\\s+falcon']\n")
    (root / "docs/deploy.md").write_text(
        "# 8. Deploy\n\n## Decision\n\nProject falcon walks on Tuesdays.\n", "utf-8"
    )
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Deploy")):
        git(root, *arguments)
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit, match="0"):
        main(["import", "doc", "docs/deploy.md"])

    build_site(Registry.open(root), tmp_path / "site", snapshot=False)

    text = (tmp_path / "site/search/words.json").read_text("utf-8")
    assert "tuesday" in text
    assert "falcon" not in text


def test_the_first_line_is_one_that_says_something() -> None:
    text = (
        "# Title\n\nStatus: Accepted · 2026\n\n| a |\n\n## Context\n\n- We *read* the "
        "[docs](x.md) `twice`\n"
    )
    assert lead(text) == "We read the docs twice"
    assert (
        lead("> [!NOTE]\n> Set `__init__` and\n> NO_COLOR, *now*.\n\nMore.\n")
        == "Set __init__ and NO_COLOR, now."
    )
    assert lead("---\ntitle: A\n---\n\n# A\n\nIt begins.\n") == "It begins."
    assert lead("") == lead("## Only\n\n---\n") == ""
    assert len(lead("word " * 100)) <= LONGEST_LEAD + 2
    assert lead("word " * 100).endswith("word …")


@pytest.fixture(scope="module")
def site(demo_site: DemoSite) -> Iterator[str]:
    with served(demo_site(every_kind=True)) as url:
        yield url


def test_records_come_in_the_order_of_orbit_search(
    site: str, demo_site: DemoSite, tab: Tab
) -> None:
    registry = Registry.open(demo_site(every_kind=True).parent / "repo")
    page = tab.go(site)
    page.keyboard.press("/")
    options = page.locator("[role=group][aria-label=Records] [role=option]")
    for question in QUESTIONS:
        expected = [hit.record.id for hit in registry.search(Query(question)).hits]
        assert expected, question
        page.fill("[role=combobox]", question)
        for number, record_id in enumerate(
            expected
        ):  # hits by title are shown until the words are read
            expect(options.nth(number)).to_have_attribute("href", re.compile(f"/{record_id}/$"))


@pytest.mark.parametrize(("question", "hit"), [("one", "one"), ("ADR-0002", "ADR")])
def test_records_come_before_pages(site: str, tab: Tab, question: str, hit: str) -> None:
    page = tab.go(site)
    page.keyboard.press("/")
    page.fill("[role=combobox]", question)
    groups = page.locator("[role=listbox] > [role=group]")
    expect(groups).to_have_count(2)
    labels = [group.get_attribute("aria-label") for group in groups.all()]
    assert labels == ["Records", "Pages"]
    expect(page.locator("[role=listbox] > [role=option]")).to_have_text("All results")
    expect(page.locator("output.orbit-hits-count")).to_have_text(
        re.compile(r"^\d+ records?, \d+ pages?$")
    )
    expect(page.locator("[aria-label=Records] b mark").first).to_have_text(hit)
    expect(page.locator("[aria-label=Pages] small mark").first).to_have_text(hit)
    assert tab.console == []


def test_what_is_shown_of_a_hit_ends_with_a_whole_word(tmp_path: Path, tab: Tab) -> None:
    words = [f"zebra{'x' * (number % 7)}" for number in range(60)]
    root = copied("demo", tmp_path / "repo")
    write_learning(root, 99999, summary="Zebra", body=" ".join(words))
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    with served(tmp_path / "site") as url:
        line = tab.go(f"{url}search/?q=zebra").locator("[data-orbit-found] small").first
        expect(line).to_have_text(re.compile("zebra.*…$"))
        assert {*(line.text_content() or "").strip("…").split()} <= {*words}


def test_what_is_shown_of_a_hit_leaves_its_status_section_out(tmp_path: Path, tab: Tab) -> None:
    root = copied("demo", tmp_path / "repo")
    history = (
        "## Status\n\nProposed 2020-01-01\n\nAccepted 2020-02-03\n\n## Context\n\nA zebra waits."
    )
    write_learning(root, 99999, summary="Zebra", body=history)
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    with served(tmp_path / "site") as url:
        line = tab.go(f"{url}search/?q=zebra").locator("[data-orbit-found] small").first
        expect(line).to_have_text("A zebra waits.")


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_keyboard_leads_to_a_hit(site: str, tab: Tab, width: int) -> None:
    tab.resized(width)
    page = tab.go(f"{site}health/")
    box = page.locator("[role=combobox]")
    page.keyboard.press("s")
    expect(box).to_be_focused()
    page.keyboard.type("redis")
    expect(box).to_have_attribute("aria-expanded", "true")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    chosen = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(chosen).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("[role=listbox]")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("[role=listbox]")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}adrs/ADR-0005/")
    assert tab.console == []


HOSTILE = """"><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}} javascript:alert(3)"""


def test_the_page_of_results_can_be_linked_and_used(site: str, tab: Tab) -> None:
    page = tab.go(f"{site}health/?q=redis")  # from any page
    page.wait_for_url(f"{site}search/?q=redis")
    box = page.get_by_label("Search for")
    expect(box).to_have_value("redis")
    expect(page.locator("[data-orbit-found] a").first).to_contain_text("Redis")
    expect(page.locator("[data-orbit-found] a mark").first).to_be_visible()
    assert page.title().startswith("redis - Search - ")

    box.fill("session files")
    box.press("Enter")
    page.wait_for_url(f"{site}search/?q=session%20files")
    expect(page.locator("[data-orbit-count]")).to_contain_text("record")
    page.go_back()
    expect(page.get_by_label("Search for")).to_have_value("redis")
    assert tab.console == []


def test_all_results_are_one_key_away_from_the_box(site: str, tab: Tab) -> None:
    page = tab.go(site)
    page.keyboard.press("/")
    page.keyboard.type("session")
    expect(page.locator("[role=listbox] > [role=option]")).to_be_visible()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}search/?q=session")


def test_a_missing_page_leads_to_results(demo_site: DemoSite, tab: Tab) -> None:
    missing = (demo_site() / "404.html").read_text("utf-8")
    assert '<form class="orbit-lookup" hidden' in missing
    with served(demo_site()) as url:
        page = tab.go(f"{url}404.html")
        page.get_by_label("Search for").fill("redis")
        page.get_by_role("button", name="Search", exact=True).click()
        page.wait_for_url("**/search/?q=redis")


def test_without_scripts_the_page_of_results_names_the_lists(site: str, browser: Browser) -> None:
    with tab_of(browser, scripts=False) as opened:
        page = opened.go(f"{site}search/?q=redis")
        expect(page.locator("article")).to_contain_text("needs JavaScript")
        expect(page.locator("[data-orbit-results] form")).to_be_hidden()
        page.locator("[data-orbit-plain] a").first.click()
        expect(page.locator("h1")).to_be_visible()


def test_a_hostile_question_stays_text(site: str, tab: Tab) -> None:
    page = tab.go(f"{site}search/?q={quote(HOSTILE)}")
    expect(page.locator("[data-orbit-count]")).not_to_be_empty()
    expect(page.get_by_label("Search for")).to_have_value(HOSTILE)
    assert page.locator("article img, article script").count() == 0
    assert tab.console == tab.requests == []


def test_titles_are_read_at_the_focus_and_words_at_the_first_key(site: str, tab: Tab) -> None:
    paths: list[str] = []
    tab.page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page = tab.go(site)
    page.wait_for_load_state("networkidle")
    assert not [path for path in paths if path.startswith("/search/")]
    with page.expect_response("**/search/titles.json"):
        page.keyboard.press("/")
    page.wait_for_load_state("networkidle")
    assert "/search/words.json" not in paths
    with page.expect_response("**/search/words.json"):
        page.keyboard.type("redis")
    assert not [path for path in paths if "worker" in path or "search_index" in path]


def test_titles_are_found_while_the_words_are_read(site: str, tab: Tab) -> None:
    tab.page.route("**/search/words.json", lambda route: None)  # which never arrive
    page = tab.go(site)
    page.keyboard.press("/")
    page.keyboard.type("redis")
    expect(page.locator("[aria-label=Records] [role=option]").first).to_contain_text("Redis")
