"""Whether decisions are built, in small projects with a history, one a case."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.files import make_workspace, write, write_record

from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

CASES = Path(__file__).parents[2] / "cases/lifecycle/built.yaml"
ROWS: list[dict[str, Any]] = load(CASES.read_text("utf-8"))
RECORD = ".orbit/adrs/ADR-0001/adr.yaml"
DOCUMENT = "docs/adr/0001-decision.md"


@pytest.mark.parametrize("row", ROWS, ids=[row["what"] for row in ROWS])
def test_a_decision_is_judged_by_what_shows_it(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, row, monkeypatch)
    judged = Registry.open(tmp_path).built().get(RECORD)

    assert (None if judged is None else judged.state.value) == row["built"]
    if judged is not None:
        assert row.get("says", "") in "\n".join(judged.lines())


def make_project(root: Path, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the project of a case, each commit on its day."""
    date = str(row.get("date", "2024-03-01"))
    made: list[str] = []

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(entry: dict[str, Any]) -> None:
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{entry.get('at', date)}T12:00:00Z")
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{entry.get('at', date)}T12:00:00Z")
        if "reverts" in entry:
            git("revert", "--no-edit", made[entry["reverts"]])
            made.append(git("rev-parse", "HEAD"))
            return

        for path, text in entry.get("files", {}).items():
            write(root, path, text)
        for path in entry.get("deletes", ()):
            (root / path).unlink()
        if entry.get("decides"):
            decide(root, row, date)

        git("add", "-A", "-f")
        git("commit", "-q", "-m", entry.get("message", "Change"))
        made.append(git("rev-parse", "HEAD"))

    git("init", "-q")
    make_workspace(root)
    write(root, "README.md", "# Project\n")
    write(root, "src/app.py", "print('hello')\n")
    commit({"at": "2023-01-10"})

    entries: list[dict[str, Any]] = list(row.get("commits", ()))
    if not any(entry.get("decides") for entry in entries):
        commit({"decides": True})

    made.clear()
    for entry in entries:
        commit(entry)


def decide(root: Path, row: dict[str, Any], date: str) -> None:
    text = row.get("text", "We do it.")
    body = text if text.startswith("## ") else f"## Decision\n\n{text}\n"
    write(root, DOCUMENT, f"# 1. {row['title']}\n\n{body}")
    write_record(
        root,
        RECORD,
        title=row["title"],
        status=row.get("status", "accepted"),
        date=date,
        source={"path": DOCUMENT, "format": "plain", "authority": "document"},
        **row.get("fields", {}),
    )
