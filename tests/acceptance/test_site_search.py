"""The search box in a real browser: records above pages, without a wait for thousands of them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Route
from tests.acceptance.browsing import served, tab
from tests.acceptance.site_cases import copied, site_of
from tests.conftest import Git

from orbit_registry.cli.main import main
from orbit_registry.importers.takeover import import_from
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.search.terms import STOP_WORDS, terms
from orbit_registry.site.build import build_site
from orbit_registry.site.finder import LONGEST_LEAD, entries, files, lead
from orbit_registry.site.serve import SiteServer
from orbit_registry.site.texts import paths
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


def test_an_entry_of_a_log_is_found_once(tmp_path: Path) -> None:
    """What is a record's stands in the records' search, not in that of pages too; the rest of a log does."""
    root = copied("demo", tmp_path / "repo")
    log = root / "docs/design/core/4_decisions.md"
    text = log.read_text("utf-8")
    log.write_text(f"{text}\n## ADR-0099 — Nobody recorded this\n\n### Context\n\nSome.\n", "utf-8")
    site = tmp_path / "site"

    def places() -> list[str]:
        build_site(Registry.open(root), site, snapshot=False)
        found = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
        at = [one["location"].partition("#") for one in found]
        return [anchor for page, _, anchor in at if page == "design/core/4_decisions/" and anchor]

    context = f"s-context-{text.count('### Context')}"
    assert places() == ["s-decisions", "s-adr-0099--nobody-recorded-this", context]
    record = (root / ".orbit/adrs/ADR-0005/adr.yaml").read_text("utf-8").replace("0005", "0099")
    (root / ".orbit/adrs/ADR-0099").mkdir()
    (root / ".orbit/adrs/ADR-0099/adr.yaml").write_text(re.sub("(?m)^uid: .", "uid: f", record), "utf-8")
    assert places() == ["s-decisions"]
    page = (site / "design/core/4_decisions/index.html").read_text("utf-8")
    assert all(f'id="s-adr-000{number}' in page for number in (1, 2)), "the page itself has all"


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


def _real(corpora: Path, tmp_path: Path) -> Registry:
    """Return a registry of 190 real records."""
    root = Path(shutil.copytree(corpora / "orbit-2026-07", tmp_path / "repo"))
    (root / "dot_orbit").rename(root / ".orbit")
    import_from(root / ".orbit", start=root)
    return Registry.open(root)


def _ours(tmp_path: Path) -> Registry:
    """Return a registry of this repository's own records."""
    root = tmp_path / "own"
    shutil.copytree(ROOT / ".orbit", root / ".orbit", ignore=shutil.ignore_patterns("state"))
    shutil.copytree(ROOT / "docs/design", root / "docs/design")
    return Registry.open(root)


def _ranked(browser: Browser, site: Path, asked: list[str]) -> list[list[str] | None]:
    """Return the ids that the site's script finds for each text, None where a word is only begun."""
    said = """async (asked) => {
        const get = async (name) => (await fetch(name)).text();
        const data = JSON.parse(await get("/search/records.json"));
        const { files, ranker } = await import("/assets/orbit/ranking.js");
        const rank = await ranker(data, await Promise.all(files(data.ids.length).map(get)));
        return asked.map((text) => rank(text)?.map((row) => data.ids[row]) ?? null);
    }"""
    with served(site) as url, tab(browser) as opened:
        found: list[list[str] | None] = opened.go(url).evaluate(said, asked)
    return found


def _same_order(browser: Browser, registry: Registry, tmp_path: Path, more: list[str]) -> int:
    """Return for how many questions the site ranked records just as `orbit search` does; it must for all of them."""
    build_site(registry, tmp_path / "site", snapshot=False)
    records = list(registry.records)
    said = [(one.prose or one.title).split() for one in records]
    parts = [" ".join(words[3 + at % 7 :][: at % 18 + 1]) for at, words in enumerate(said)]
    queries = [Query(one, limit=16) for one in (*more, *(one.title for one in records), *parts)]
    queries = [one for one in queries if one.words and not one.is_generic]
    found = _ranked(browser, tmp_path / "site", [one.text for one in queries])
    held = {one.id for one in records if one.status.searched}
    asked = [(one, [id_ for id_ in ids if id_ in held][:8]) for one, ids in zip(queries, found, strict=True) if ids]
    answers = [registry.search(one).hits for one, _ in asked]
    # What a deep search brings because a hit links to it, a reader finds on that hit's page.
    led = [[hit.record.id for hit in hits if hit.parts.via in ("", hit.record.id)] for hits in answers]
    wanted = [ids[:8] for ids in led]
    assert [ids for _, ids in asked] == wanted
    assert len(asked) > len(queries) * 0.95
    return len(asked)


def test_whole_texts_are_ranked_as_orbit_search_ranks_them(browser: Browser, corpora: Path, tmp_path: Path) -> None:
    """Real questions, titles and words from the midst of texts find the same eight records in the same order."""
    files = sorted((corpora / "recall").glob("*.json"))
    asked = [one["query"] for file in files for one in json.loads(file.read_text("utf-8"))]
    assert _same_order(browser, _real(corpora, tmp_path), tmp_path, asked) > 500


def test_our_own_records_are_ranked_as_orbit_search_ranks_them(browser: Browser, tmp_path: Path) -> None:
    """Single words, names of code and questions among them."""
    asked = ["push rank", "BM25?", "text_index", "near-duplicates", "ADR-0002", "how are votes weighed over time?"]
    assert _same_order(browser, _ours(tmp_path), tmp_path, asked) > 100


def test_the_box_ranks_whole_texts_once_one_stops_typing(browser: Browser, tmp_path: Path) -> None:
    """A word that stands in the midst of a text alone finds its record; one that is begun still completes."""
    site = site_of("demo", tmp_path)
    lines = (site / "search/texts/0.txt").read_text("utf-8").splitlines()
    known = (site / "search/terms.txt").read_text("utf-8")
    id_, *_, said = next(line for line in lines if line.startswith("ADR-0002")).split("\t")
    word = next(one for one in said.split() if one.isalpha() and len(one) > 4 and f"\n{one}" not in known)
    with served(site) as url, tab(browser) as opened:
        page = opened.go(url)
        page.locator("[data-md-component=search-query]").first.evaluate(
            "(input, text) => { input.value = text; input.dispatchEvent(new Event('input')); }", word
        )
        page.locator(".orbit-hit").first.wait_for(state="attached")
        hits = page.locator(".orbit-hit").all_text_contents()
        assert opened.said == opened.asked == []
    assert any(hit.startswith(id_) for hit in hits), (word, hits)


@pytest.mark.parametrize("focused", [False, True], ids=["pointed at", "focused"])
def test_a_hit_that_stays_is_not_drawn_anew(browser: Browser, tmp_path: Path, focused: bool) -> None:
    """Whole texts may arrive while somebody is about to click, or has gone to a hit with the keyboard."""
    site = site_of("demo", tmp_path)
    with served(site) as url, tab(browser) as opened:
        on_the_way: list[Route] = []
        opened.page.route("**/search/texts/*", lambda route: on_the_way.append(route))
        page = opened.go(f"{url}?q=adr-0005")
        page.locator("[data-md-component=search-query]").first.focus()
        hit = page.locator(".orbit-hit").first.element_handle()
        assert hit is not None
        while not on_the_way:
            page.wait_for_timeout(50)
        if focused:
            hit.focus()
        with page.expect_response("**/search/texts/*"):
            on_the_way[0].continue_()
        page.wait_for_timeout(500)
        assert hit.evaluate("(one) => one.isConnected")
        assert hit.evaluate("(one) => one === document.activeElement") is focused


def test_whole_texts_are_not_fetched_where_data_is_saved(browser: Browser, tmp_path: Path) -> None:
    """The few records that the small index finds are enough for who pays by the megabyte."""
    site = site_of("demo", tmp_path)
    with served(site) as url, tab(browser) as opened:
        asked: list[str] = []
        opened.page.on("request", lambda request: asked.append(request.url))
        opened.page.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
        page = opened.go(f"{url}?q=adr-0005")
        page.locator(".orbit-hit").first.wait_for(state="attached")
        page.wait_for_timeout(800)
    assert any("search/records.json" in one for one in asked)
    assert not any("search/texts/" in one for one in asked)


def test_words_that_only_go_on_are_not_ranked(browser: Browser, tmp_path: Path) -> None:
    """As `orbit search` finds nothing for them; with one word that says something they are."""
    assert Query("please continue!").is_generic
    nothing, something = _ranked(
        browser, site_of("demo", tmp_path), ["please continue!", "please continue the snapshot!"]
    )
    assert nothing is None
    assert something is not None


def test_the_browser_asks_for_the_files_that_were_written(browser: Browser, tmp_path: Path) -> None:
    """As many as there are for that number of records."""
    for name in ("search.js", "ranking.js"):
        shutil.copy(overrides() / "assets/orbit" / name, tmp_path)
    (tmp_path / "index.html").write_text("<!doctype html><title>Empty</title>", "utf-8")
    numbers = [0, 1, 256, 257, 512, 513, 10_000]
    said = "async (numbers) => { const { files } = await import('/ranking.js'); return numbers.map(files); }"
    with served(tmp_path) as url, tab(browser) as opened:
        assert opened.go(url).evaluate(said, numbers) == [paths(number) for number in numbers]


def test_a_name_leads_to_its_record_as_in_orbit_search(browser: Browser, corpora: Path, tmp_path: Path) -> None:
    """Of 190 real records: an id always, so does an earlier name that is no other's id; a title no less often."""
    registry = _real(corpora, tmp_path)
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


def test_a_resource_that_reads_like_a_decision_is_struck_out_too(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text is that of its file, whatever its headings are, and the publish filter goes over it."""
    root = copied("demo", tmp_path / "repo")
    with (root / ".orbit/config.yaml").open("a", encoding="utf-8") as config:
        config.write("  publish:\n    redact: ['(?i)project\\s+falcon']\n")
    (root / "docs/deploy.md").write_text("# 8. Deploy\n\n## Decision\n\nProject falcon walks on Tuesdays.\n", "utf-8")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Deploy")):
        git(root, *words)
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit, match="0"):
        main(["import", "doc", "docs/deploy.md"])

    build_site(Registry.open(root), tmp_path / "site", snapshot=False)

    (texts,) = (tmp_path / "site/search/texts").iterdir()
    said = texts.read_text("utf-8")
    assert "tuesday" in said
    assert "falcon" not in said


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
