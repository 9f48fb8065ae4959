"""Pages of what a loop leaves: retros, failures and proposals, as people read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.acceptance.site_cases import copied

from orbit_registry.cli.main import run
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

DIFF = "--- a/skills/pay/SKILL.md\n+++ b/skills/pay/SKILL.md\n@@ -1 +1,2 @@\n # Pay\n+- Ask <b>first</b>\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a repository with a retro, a failure and an approved proposal."""
    root = copied("demo", tmp_path_factory.mktemp("loop") / "repo")
    outcome = "story:shop:S-1=failed,attempts=3,tool=codex,reason=no browser"
    retro = ["--loop", "L-1", "--title", "Loop one", "--summary", "One failed", "--date", "2026-05-01"]
    target = "target={path: skills/pay/SKILL.md}"
    proposal = ["--title", "Ask", "--drift", "additive", "--diff", DIFF, "--reason", "Why not", "--set", target]
    for command in (
        ["retro", *retro, "--outcome", outcome, "--worked", "Reading the fixture first saved a round"],
        ["fail", "story:shop:S-1", "--attempts", "3", "--reason", "no browser"],
        ["proposal", "add", *proposal, "--yes"],
    ):
        assert run(["-C", str(root), *command]) == 0
    registry = Registry.open(root)
    (waiting,) = registry.records.of_kind("proposal")
    registry.transition(waiting.id, "approved")
    build_site(Registry.open(root), root.parent / "site", snapshot=False)
    return root.parent / "site"


def page_of(site: Path, plural: str) -> str:
    """Return the only record's page of a kind."""
    (page,) = [file for file in (site / plural).glob("*/index.html") if "orbit-record" in file.read_text("utf-8")]
    return page.read_text("utf-8")


def test_a_retro_begins_with_what_came_of_it(built: Path) -> None:
    """Its title once, its summary, its outcomes, then what worked; its index says the day."""
    page = page_of(built, "retros")
    main = page[page.index('class="orbit-main"') :]
    places = [main.index(words) for words in ("One failed", "<h2>Outcomes</h2>", "What worked</h2>")]
    assert places == sorted(places)
    assert len(re.findall(r"<h\d[^>]*>Loop one</h", main)) == 1
    index = (built / "retros/index.html").read_text("utf-8")
    assert '<td class="orbit-col-date">2026-05-01</td>' in index


def test_a_proposal_shows_its_diff_once_line_by_line(built: Path) -> None:
    """As a block of code that keeps its lines, and as text, whatever stands in it."""
    page = page_of(built, "proposals")
    assert page.count("+++ b/skills/pay/SKILL.md") == 1
    assert "\n+++ b/skills/pay/SKILL.md\n@@ -1 +1,2 @@\n # Pay\n+- Ask &lt;b&gt;first&lt;/b&gt;\n" in page


def test_a_failure_says_each_thing_once(built: Path) -> None:
    """What failed and how often stands in the head, not beside the text again."""
    page = page_of(built, "failures")
    assert "story S-1 of shop" in page
    assert "tried 3 times" in page
    assert "<dt>Attempts</dt>" not in page
    assert "<dt>Target</dt>" not in page


def test_what_waits_in_the_inbox_is_nowhere_on_the_site(built: Path) -> None:
    """The finding of the retro is a candidate on this machine: no page, index, file of data or search knows its id."""
    learnings = Registry.open(built.parent / "repo").records.of_kind("learning")
    (candidate,) = [record for record in learnings if record.phase == "pending"]
    assert candidate.status.banner == "Candidate: waiting for review"
    assert [path for path in built.rglob("*") if path.is_file() and candidate.id.encode() in path.read_bytes()] == []


def test_a_failure_says_once_why(built: Path) -> None:
    """Its title holds the reason; plain words are not said again as its text."""
    page = page_of(built, "failures")
    main = page[page.index("<h1") : page.index('class="orbit-aside"')]
    assert main.count("no browser") == 1
