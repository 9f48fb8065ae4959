"""The report on three repositories of one organisation."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import push, vote
from tests.files import commit, make_workspace, write, write_learning, write_record

from orbit_registry.formats.yaml import load

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
TITLES = {
    "acme/org": {
        "ADR-0001": "Use PostgreSQL for orders",
        "ADR-0003": "Cache pages",
        "ADR-0004": "Do not cache pages",
        "ADR-0005": "Plan phase 1 of the move",
        "ADR-0006": "Plan phase 2 of the move",
    },
    "acme/shop": {
        "ADR-0001": "We adopt PostgreSQL for orders",
        "ADR-0002": "Do not write logs to files",
        "ADR-0003": "Cache pages",
        "ADR-0004": "Plan phase 1 of the move",
        "ADR-0005": "Plan phase 2 of the move",
    },
    "acme/bank": {"ADR-0001": "Write logs to files", "ADR-0002": "Pick Kafka"},
    "beta/org": {"ADR-0001": "Publish a weekly summary"},
}
CASES = Path(__file__).parents[2] / "cases/rejected_across.yaml"
REJECTED: list[dict[str, Any]] = load(CASES.read_text("utf-8"))
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
            text = f"# {title}\n\nStatus: {status.capitalize()}\n\n## Decision\n\nYes, {number}.\n"
            write(root, path, text)
            options = ["Pick Kafka", "Do not write logs to files"] if "Postgre" in title else []
            links = (
                [
                    {"rel": "contradicts", "to": f"org:{number}"}
                    for number in ("ADR-0001", "ADR-0003")
                ]
                if record_id == "ADR-0002"
                else []
            )
            fields = {"status": status, "title": title, "source": {"path": path}, "links": links}
            fields |= rejecting(options)
            write_record(root, f".orbit/adrs/{record_id}/adr.yaml", **fields)
        commit(root)
        vote(root, "T-1")
        push(root, folder / "lake", "--repository", name)
    return folder / "lake"


def answer(lake: Path, question: str) -> list[dict[str, Any]]:
    words = ("fleet", "report", question, "--lake", str(lake), "--rows", "200")
    text = orbit(lake, *words, "--format", "json")
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
    rows = {row["title"]: row for row in answer(lake, "repeated-decisions")}
    row = rows["Use PostgreSQL for orders"]
    assert len(rows) == 3
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


@pytest.fixture(scope="module")
def opponents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake of two repositories: one decides, the other one rejected."""
    folder = tmp_path_factory.mktemp("opponents")
    for name in ("uses", "rejects"):
        root = folder / name
        root.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        make_workspace(root)
        for number, row in enumerate(REJECTED, start=1):
            write_decision(root, number, row, name)

        commit(root)
        push(root, folder / "lake", "--repository", f"acme/{name}")

    return folder / "lake"


def rejecting(options: list[str]) -> dict[str, Any]:
    """Return the field of a record that rejects some options; a reason follows a colon."""
    pairs = [option.partition(": ") for option in options]
    rejected = [{"option": name, "reason": reason} for name, _, reason in pairs]
    return {"rejected": rejected} if rejected else {}


def write_decision(root: Path, number: int, row: dict[str, Any], name: str) -> None:
    title, chosen, options = row["title"], row.get("chosen", ""), []
    if name == "rejects":
        title, chosen, options = f"Topic {number}", f"Thing{number}", row["rejected"]

    considered = f"Chosen option: {chosen}\n" if chosen else ""
    text = f"# {title}\n\nStatus: Accepted\n\n## Decision\n\nYes, {number}.\n\n{considered}"
    record_id, path = f"ADR-{number:04d}", f"docs/adr/{number:04d}.md"
    write(root, path, text)
    fields = {"status": "accepted", "title": title, "source": {"path": path}}
    write_record(root, f".orbit/adrs/{record_id}/adr.yaml", **fields, **rejecting(options))
    if name == "rejects" and "also" in row:
        also = {"status": "accepted", "title": row["also"]}
        write_record(root, f".orbit/adrs/ADR-{number + 100:04d}/adr.yaml", **also)


def test_what_one_uses_and_another_rejected_is_named(opponents: Path) -> None:
    named = {row["example_for"].split()[1] for row in answer(opponents, "contradictions")}
    wrong = {
        row["title"]: row["named"]
        for number, row in enumerate(REJECTED, start=1)
        if (f"ADR-{number:04d}" in named) != row["named"]
    }
    assert wrong == {}
