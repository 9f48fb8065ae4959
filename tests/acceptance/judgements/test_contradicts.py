"""Whether two sentences say the opposite: the gate, proposals, consolidation and the fleet agree.

All rows of the table stand in one project; each test asks one of its doors about all of them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.formats.yaml import load
from orbit_registry.judgements.contradicts import contradicts
from orbit_registry.judgements.is_duplicate import Limits, Wording, is_duplicate

TABLE = Path(__file__).parents[2] / "cases/judgements/contradicts.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
NAMES = [f"{row['first']} - {row['second']}" for row in ROWS]


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(not row["opposite"] for row in ROWS) >= 15


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_judgement(row: dict[str, Any]) -> None:
    assert (contradicts(row["first"], row["second"]) is not None) == row["opposite"]
    assert (contradicts(row["second"], row["first"]) is not None) == row["opposite"]


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_an_opposite_is_no_copy(row: dict[str, Any]) -> None:
    if row["opposite"] and row["in_fleet"]:
        first, second = (Wording("", row[name]) for name in ("first", "second"))
        assert is_duplicate(first, second, 0.99, Limits(0.55, 0.8, 0.8)).level == "warning"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    pytest.importorskip("fsspec", reason="the fleet extra is not installed")
    folder = tmp_path_factory.mktemp("fleet")
    for name in ("first", "second"):
        root = folder / name
        root.mkdir()
        git(root, "init", "--quiet")
        make_workspace(root)
        for number, row in enumerate(ROWS, start=1):
            path = f".orbit/adrs/ADR-{number:04d}/adr.yaml"
            write_record(root, path, title=row[name], status="accepted")

        commit(root)
        orbit(root, "fleet", "push", str(folder / "lake"), "--repository", f"acme/{name}")

    return folder / "lake"


def report(lake: Path, name: str) -> list[dict[str, Any]]:
    words = ("fleet", "report", name, "--lake", str(lake), "--rows", "200", "--format", "json")
    (answer,) = json.loads(orbit(lake.parent / "first", *words))["data"]
    rows: list[dict[str, Any]] = answer["rows"]
    return rows


def test_the_fleet_reports_the_opposites(lake: Path) -> None:
    rows = report(lake, "contradictions")
    pairs = {frozenset((row["example_for"], row["example_against"])) for row in rows}
    titles = {frozenset(text.split(" ", 2)[2] for text in pair) for pair in pairs}
    expected = {frozenset((row["first"], row["second"])) for row in ROWS if row["in_fleet"]}
    assert titles == expected
    named = {row["topic"] for row in rows}
    assert named <= {row[name] for row in ROWS for name in ("first", "second")}


def test_the_fleet_takes_no_opposites_for_one_decision(lake: Path) -> None:
    repeated = {row["title"] for row in report(lake, "repeated-decisions")}
    opposites = {row[name] for row in ROWS if row["opposite"] for name in ("first", "second")}
    assert repeated.isdisjoint(opposites)


LEARNINGS = [(f"L-{number:03d}aa", f"L-{number:03d}bb") for number in range(len(ROWS))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Return a project with each pair as learnings, and a skill that says the first sentence."""
    root = tmp_path_factory.mktemp("contradicts") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    for number, name in enumerate(("first", "second")):
        for row, pair in zip(ROWS, LEARNINGS, strict=True):
            path = f".orbit/learnings/{pair[number]}/learning.yaml"
            write_record(root, path, summary=row[name], status="active")

        if name == "first":
            commit(root)

    for number, row in enumerate(ROWS):
        head = f"---\nname: thing{number}\ndescription: Thing {number}.\n---\n\n# Thing {number}\n"
        write(root, f"skills/thing{number}/SKILL.md", f"{head}\n- {row['first']}\n")

    return root


def pairs_where(is_opposite: bool) -> set[frozenset[str]]:
    rows = zip(ROWS, LEARNINGS, strict=True)
    return {frozenset(pair) for row, pair in rows if row["opposite"] == is_opposite}


def test_the_gate_takes_no_opposites_for_duplicates(project: Path) -> None:
    words = ("check", "--all", "--code", "ORB601", "--code", "ORB602", "--format", "json")
    answer = json.loads(orbit(project, *words, code=1))
    is_error = {}
    for entry in answer["diagnostics"]:
        other = entry["related"][0].split("/")[2]
        is_error[frozenset((entry["record"], other))] = entry["severity"] == "error"

    errors = {pair for pair, is_wrong in is_error.items() if is_wrong}
    assert errors.isdisjoint(pairs_where(is_opposite=True))
    assert errors & pairs_where(is_opposite=False)


def test_consolidation_keeps_opposites_apart_and_asks_about_them(project: Path) -> None:
    words = ("propose", "--consolidate", "--dry-run", "--format", "json")
    answer = json.loads(orbit(project, *words))["data"]
    together = [{member["id"] for member in each["members"]} for each in answer["clusters"]]
    apart = pairs_where(is_opposite=True)
    assert not [pair for pair in apart for members in together if pair <= members]

    asked = {frozenset(link["to"] for link in each["links"]) for each in answer["contradictions"]}
    assert asked >= apart
    assert asked.isdisjoint(pairs_where(is_opposite=False))


def test_a_page_that_says_the_opposite_gets_a_note(project: Path) -> None:
    answer = json.loads(orbit(project, "propose", "--dry-run", "--format", "json"))["data"]
    noted = set()
    for each in answer["proposals"]:
        if each["drift"] == "structural":
            noted.add((each["target"]["path"], each["links"][0]["to"]))

    expected = set()
    harmless = set()
    for number, (row, pair) in enumerate(zip(ROWS, LEARNINGS, strict=True)):
        note = (f"skills/thing{number}/SKILL.md", pair[1])
        (expected if row["opposite"] else harmless).add(note)

    assert noted >= expected
    assert noted.isdisjoint(harmless)
