"""A table of questions, asked at each door: the command line, and the site's page of results."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect
from tests.acceptance.browsing import served
from tests.acceptance.browsing import tab as tab_of
from tests.acceptance.conftest import orbit

from orbit_registry.doors.cli.main import main
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

TABLE = yaml.safe_load((Path(__file__).parents[1] / "cases/search/doors.yaml").read_text("utf-8"))
CASES = [pytest.param(case, id=case["q"]) for case in TABLE["cases"]]
RESULTS = "[data-orbit-found] h2:text-is('Records') + ol > li > a"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a project with the decisions of the table, in which commands run."""
    root = tmp_path_factory.mktemp("doors") / "project"
    adrs = root / "docs/adr"
    adrs.mkdir(parents=True)
    for number, record in enumerate(TABLE["records"], 1):
        text = f"# {number}. {record['title']}\n\n## Status\n\nAccepted\n\n"
        text += f"## Context\n\n{record['text']}\n\n## Decision\n\nWe do.\n"
        (adrs / f"{number:04}-entry.md").write_text(text, "utf-8")

    subprocess.run(["git", "init", "-q", root], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for command in (["init", "--yes"], ["import", "docs/adr"]):
            with pytest.raises(SystemExit, match="0"):
                main(command)
        yield root


@pytest.fixture(scope="module")
def results(project: Path, browser: Browser) -> Iterator[tuple[str, Page]]:
    site = project.parent / "site"
    build_site(Registry.open(project), site, snapshot=False)
    with served(site) as url, tab_of(browser) as opened:
        yield f"{url}search/", opened.go(url)


@pytest.mark.parametrize("case", CASES)
def test_the_command_line_finds(
    case: dict[str, Any], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["search", case["q"], "--format", "json"])
    data = json.loads(capsys.readouterr().out)["data"]

    check(case, [hit["id"] for hit in data["hits"]])
    assert data.get("corrected", {}) == case.get("corrected", {})
    assert case.get("has", "") in "".join(hit["snippet"] for hit in data["hits"][:1])


@pytest.mark.parametrize("case", CASES)
def test_the_page_of_results_finds(case: dict[str, Any], results: tuple[str, Page]) -> None:
    url, page = results
    page.goto(f"{url}?q={quote(case['q'])}")
    status = page.locator("[data-orbit-count]")
    expect(status).not_to_be_empty()

    links = page.locator(RESULTS)
    check(case, [str(link.get_attribute("href")).split("/")[-2] for link in links.all()])
    for word, right in case.get("corrected", {}).items():
        expect(status).to_contain_text(f"nothing has “{word}”, shown for “{right}”")
        expect(links.first.locator("mark").first).to_contain_text(right, ignore_case=True)
    if "has" in case:
        expect(links.first.locator("small")).to_contain_text(case["has"])


def check(case: dict[str, Any], ids: list[str]) -> None:
    if "first" in case:
        assert ids[:1] == [case["first"]]
    if "all" in case:
        assert sorted(ids) == case["all"]


def test_a_path_leads_a_search_to_the_records_that_match_names(tmp_path: Path) -> None:
    demo = tmp_path / "parcel"
    orbit(tmp_path, "init", "--demo", str(demo))

    # One of them has no glob for the file, which cites it.
    words = ("--path", "src/billing/charge.py", "--format", "json")
    hits = json.loads(orbit(demo, "search", *words))["data"]["hits"]
    matches = json.loads(orbit(demo, "match", words[1], *words[2:]))["data"]["matches"]

    assert {row["id"] for row in hits} == {row["id"] for row in matches}
    assert len(hits) == 3
