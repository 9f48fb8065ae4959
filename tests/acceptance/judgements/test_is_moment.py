"""Whether a moment is in the calendar: the gate, the lists and the snapshot read it alike."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.formats.yaml import load
from orbit_registry.judgements.is_moment import is_date, is_moment, is_review_day

TABLE = Path(__file__).parents[2] / "cases/judgements/is_moment.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
EXPIRY = "expires_at"
FIELDS = {
    "moment": ("created_at", "updated_at", "reviewed_at", EXPIRY),
    "day": ("date",),
    "review": ("review_by",),
}
MOMENTS = [row for row in ROWS if row["of"] == "moment"]
VOTED = "L-7k3fq"
JUDGES = {"moment": is_moment, "day": is_date, "review": is_review_day}


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(row["valid"] for row in ROWS) >= 15


@pytest.mark.parametrize("row", ROWS, ids=[row["text"] for row in ROWS])
def test_the_judgement(row: dict[str, Any]) -> None:
    assert JUDGES[row["of"]](row["text"]) == row["valid"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, git: Git) -> tuple[Path, dict[str, bool]]:
    root = tmp_path_factory.mktemp("moments") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    expected: dict[str, bool] = {}
    for row in ROWS:
        for field in FIELDS[row["of"]]:
            name = f"ADR-{len(expected) + 1:04d}"
            path = f".orbit/adrs/{name}/adr.yaml"
            title = f"Use thing{len(expected)} alone"
            stated: dict[str, object] = {field: row["text"]}
            if field == EXPIRY:
                stated = {"freshness": stated}

            write_record(root, path, **{"title": title, "status": "accepted", **stated})
            write(root, f".orbit/adrs/{name}/body.md", f"We use thing{len(expected)}.\n")
            expected[name] = row["valid"]

    write_record(root, f".orbit/learnings/{VOTED}/learning.yaml", summary="Vote", status="active")
    write(root, f".orbit/learnings/{VOTED}/votes.jsonl", "".join(map(vote, MOMENTS)))
    commit(root)
    return root, expected


def vote(row: dict[str, Any]) -> str:
    fields = {"learning_id": VOTED, "voter_model": "m", "voted_at": row["text"], "task_id": "T"}
    return json.dumps({**fields, "task_id": row["text"]}) + "\n"


def test_the_gate_names_line_and_column(project: tuple[Path, dict[str, bool]]) -> None:
    root, expected = project
    found = json.loads(orbit(root, "check", "--format", "json", code=1))["diagnostics"]
    named = {
        entry["path"].split("/")[2]: entry
        for entry in found
        if "no calendar has" in entry["message"]
    }
    assert set(named) == {name for name, is_valid in expected.items() if not is_valid}
    assert all(place["line"] > 1 and place["column"] > 0 for place in named.values())


def test_lists_and_the_snapshot_have_the_valid_ones(
    project: tuple[Path, dict[str, bool]],
) -> None:
    root, expected = project
    valid = {name for name, is_valid in expected.items() if is_valid}
    listed = json.loads(orbit(root, "list", "--format", "json"))["data"]
    assert {entry["id"] for entry in listed} == valid | {VOTED}

    rows = json.loads(
        orbit(root, "query", "SELECT id, created_at, updated_at FROM records", "--format", "json")
    )["data"]
    assert {row["id"] for row in rows} == valid | {VOTED}
    assert all(row["created_at"] and row["updated_at"] for row in rows)


def test_a_vote_of_no_moment_does_not_count(project: tuple[Path, dict[str, bool]]) -> None:
    root, _ = project
    answer = json.loads(orbit(root, "check", "--all", "--code", "ORB107", "--format", "json"))
    faulty = {entry["line"] for entry in answer["diagnostics"] if "not a time" in entry["message"]}
    numbered = enumerate(MOMENTS, start=1)
    assert faulty == {line for line, row in numbered if not row["valid"]}

    rows = json.loads(orbit(root, "query", "SELECT task_id FROM votes", "--format", "json"))["data"]
    counted = {row["task_id"] for row in rows}
    assert counted
    assert counted <= {row["text"] for row in MOMENTS if row["valid"]}


def test_no_command_writes_a_moment_of_no_calendar(project: tuple[Path, dict[str, bool]]) -> None:
    root, _ = project
    for row in MOMENTS:
        if not row["valid"]:
            assert "is not a moment" in orbit(
                root, "verify", VOTED, "--expires", row["text"], code=2
            )
