"""What documents say of their status: the import, the lists and the commands tell it alike."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write

from orbit_registry.formats.yaml import load
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.registry import Registry

TABLE = Path(__file__).parents[2] / "cases/judgements/status_evidence.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
UNCLEAR = ("not understood", "not read")
Project = tuple[Path, str]


def id_of(number: int) -> str:
    return f"ADR-{number + 1:04d}"


def ids(*statements: str) -> set[str]:
    return {id_of(number) for number, row in enumerate(ROWS) if row["statement"] in statements}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Project:
    root = tmp_path_factory.mktemp("evidence") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    for number, row in enumerate(ROWS):
        name = f"thing{number}"
        text = row["text"].replace("{n}", name)
        write(root, f"docs/adr/{number + 1:04d}-{name}.md", f"{text}\n")

    commit(root)
    report = orbit(root, "import", "docs/adr", "--verbose")
    return root, report


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(row["statement"] in ("stated", "not stated") for row in ROWS) >= 15


def test_the_judgement(project: Project) -> None:
    root, _ = project
    records = Registry.open(root).collection.records
    said = {record.id: evidence_of(record) for record in records}
    expected = {id_of(number): row["statement"] for number, row in enumerate(ROWS)}
    assert {name: evidence.statement for name, evidence in said.items()} == expected
    for number, row in enumerate(ROWS):
        if row["words"]:
            assert said[id_of(number)].words == row["words"], row["what"]


def test_import_quotes_what_it_does_not_know(project: Project) -> None:
    _, report = project
    silent = len(ids("not stated"))
    assert f"{silent} × " in report
    assert f"no status for {silent} decisions" in report
    assert f"{len(ids(*UNCLEAR))} decisions state a status that Orbit does not know" in report
    for row in ROWS:
        if row["statement"] in UNCLEAR:
            assert f"the status `{row['words']}`" in report, row["what"]


def test_accept_all_takes_the_silent_ones_alone(project: Project) -> None:
    root, _ = project
    words = ("adr", "accept", "--status", "unknown", "--dry-run", "--format", "json")
    taken = json.loads(orbit(root, *words))["data"]
    assert {entry["id"] for entry in taken} == ids("not stated")


def test_accepting_by_id_says_what_it_replaces(project: Project) -> None:
    root, _ = project
    for number, row in enumerate(ROWS):
        if row["statement"] == "not understood":
            said = orbit(root, "adr", "accept", id_of(number), "--dry-run")
            assert f"the status was `{row['words']}`" in said
        elif row["statement"] == "not read":
            said = orbit(root, "adr", "accept", id_of(number), "--dry-run", code=1)
            assert "which Orbit does not write; nothing was changed" in said, row["what"]


def test_show_quotes_the_words(project: Project) -> None:
    root, _ = project
    for number, row in enumerate(ROWS):
        line = orbit(root, "show", id_of(number)).splitlines()[1]
        is_quoted = f"the status `{row['words']}`" in line
        assert is_quoted == (row["statement"] in UNCLEAR), line
        assert ("No status stated" in line) == (row["statement"] == "not stated"), line


def test_review_lists_them_apart(project: Project) -> None:
    root, _ = project
    said = orbit(root, "review")
    counts = dict(re.findall(r"^(No status stated|Status not understood) \((\d+)\)", said, re.M))
    assert counts == {
        "No status stated": str(len(ids("not stated"))),
        "Status not understood": str(len(ids(*UNCLEAR))),
    }
