"""The report on three repositories of one organisation."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.fleet.conftest import push, vote
from tests.files import commit, make_workspace, write, write_learning, write_record

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
TITLES = {
    "acme/org": {
        "ADR-0001": "Use PostgreSQL for orders",
        "ADR-0003": "Cache pages",
        "ADR-0004": "Do not cache pages",
    },
    "acme/shop": {
        "ADR-0001": "We adopt PostgreSQL for orders",
        "ADR-0002": "Do not write logs to files",
        "ADR-0003": "Cache pages",
    },
    "acme/bank": {"ADR-0001": "Write logs to files", "ADR-0002": "Pick Kafka"},
    "beta/org": {"ADR-0001": "Publish a weekly summary"},
}
LEARNED = (
    "Close the database when a test ends, or the next test waits for the lock until it times out"
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    for name, titles in TITLES.items():
        root = folder / name.replace("/", "-")
        root.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        make_workspace(root)
        write_learning(root, 1, summary=LEARNED)
        for number, (record_id, title) in enumerate(titles.items()):
            status = "proposed" if (name, record_id) == ("acme/shop", "ADR-0003") else "accepted"
            path = f"docs/adr/{number:04d}.md"
            options = (
                (
                    "## Considered options\n\n- Pick Kafka\n- Do not write logs to files\n- Redis\n"
                    "\nChosen option: Redis\n"
                )
                if "Postgre" in title
                else ""
            )
            write(
                root,
                path,
                f"# {title}\n\nStatus: {status.capitalize()}\n\n## Decision\n\nYes, "
                f"{number}.\n\n{options}",
            )
            links = (
                [
                    {"rel": "contradicts", "to": f"org:{number}"}
                    for number in ("ADR-0001", "ADR-0003")
                ]
                if record_id == "ADR-0002"
                else []
            )
            fields = {"status": status, "title": title, "source": {"path": path}, "links": links}
            write_record(root, f".orbit/adrs/{record_id}/adr.yaml", **fields)
        commit(root)
        vote(root, "T-1")
        push(root, folder / "lake", "--repository", name)
    return folder / "lake"


def answer(lake: Path, question: str) -> list[dict[str, Any]]:
    text = orbit(lake, "fleet", "report", question, "--lake", str(lake), "--format", "json")
    (entry,) = json.loads(text)["data"]
    rows: list[dict[str, Any]] = entry["rows"]
    return rows


def test_a_decision_contradicts_one_of_another_repository(lake: Path) -> None:
    rows = {
        row["topic"]: (row["example_for"], row["example_against"])
        for row in answer(lake, "contradictions")
    }
    assert rows["Write logs to files"] == (
        "acme/bank ADR-0001 Write logs to files",
        "acme/shop ADR-0002 Do not write logs to files",
    )
    assert rows["Pick Kafka"] == ("acme/bank ADR-0002 Pick Kafka", "acme/org ADR-0001 Pick Kafka")
    assert len(rows) == 2


def test_a_decision_is_repeated_in_other_words(lake: Path) -> None:
    (row,) = answer(lake, "repeated-decisions")
    assert (row["title"], row["repositories"]) == ("Use PostgreSQL for orders", 2)
    assert (row["first_example"], row["last_example"]) == (
        "acme/org ADR-0001",
        "acme/shop ADR-0001",
    )


def test_a_learning_was_learned_more_than_once(lake: Path) -> None:
    (row,) = answer(lake, "repeated-learnings")
    assert (row["title"], row["repositories"], row["votes"]) == (LEARNED, 4, 4)


def test_a_decision_of_the_organisation_is_overridden(lake: Path) -> None:
    rows = [
        (row["title"], row["overridden_in"], row["overridden_by"])
        for row in answer(lake, "overrides")
    ]
    names = ("acme/bank", "acme/shop")
    assert rows == [
        (title, name, "ADR-0002") for title in (None, "Cache pages") for name in names
    ]  # two have ADR-0001


def test_the_whole_report_has_every_question(lake: Path) -> None:
    text = orbit(lake, "fleet", "report", "--lake", str(lake), "--rows", "1")
    assert text.count("… and more") >= 3
    assert "Ranking by votes" in text
    assert "did you mean votes?" in orbit(
        lake, "fleet", "report", "vote", "--lake", str(lake), code=2
    )
