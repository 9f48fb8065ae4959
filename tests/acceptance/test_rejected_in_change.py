"""A change that adds what a decision ruled out: the gate and `orbit diff` say so, in one way."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write

CASES = Path(__file__).resolve().parents[1] / "cases" / "rejected_in_change.yaml"
DATA: Mapping[str, Any] = yaml.safe_load(CASES.read_text("utf-8"))


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    for number, decision in enumerate(DATA["decisions"].values(), 1):
        options = "".join(f"- {option}\n" for option in [decision["chosen"], *decision["rejected"]])
        text = (
            f"# {number}. {decision['title']}\n\n## Status\n\nAccepted\n\n"
            f"## Context\n\nIt is so.\n\n"
            f"## Considered Options\n\n{options}\n## Decision Outcome\n\n"
            f'Chosen option: "{decision["chosen"]}".\n\n## Consequences\n\n- Cost: some.\n'
        )
        write(git_repo, f"docs/adr/000{number}-x.md", text)

    orbit(git_repo, "import", "docs/adr")
    return git_repo


def _named(diagnostics: list[Mapping[str, Any]]) -> list[str]:
    return sorted(
        f"{row['path']}:{row['line']} {row['message'].split('`')[1]} {row['record']}"
        for row in diagnostics
        if row["code"] == "ORB1020" and row["severity"] != "note"
    )


def _unread(diagnostics: list[Mapping[str, Any]]) -> list[str]:
    return [
        row["path"]
        for row in diagnostics
        if row["code"] == "ORB1020" and "can't be read" in row["message"]
    ]


@pytest.mark.parametrize("case", DATA["cases"], ids=[str(n) for n in range(len(DATA["cases"]))])
def test_each_door_names_it(project: Path, case: Mapping[str, Any]) -> None:
    for path, text in case.get("before", {}).items():
        write(project, path, text)

    commit(project)
    subprocess.run(["git", "branch", "base"], cwd=project, check=True)
    for path in case.get("gone", ()):
        (project / path).unlink()
    for path, text in case["after"].items():
        write(project, path, text)

    checked = json.loads(orbit(project, "check", "--against", "base", "--format", "json"))
    assert _named(checked["diagnostics"]) == case["named"]
    assert _unread(checked["diagnostics"]) == case.get("unread", [])

    commit(project)
    compared = json.loads(orbit(project, "diff", "base", "--format", "json"))
    assert _named(compared["diagnostics"]) == case["named"]
    assert _unread(compared["diagnostics"]) == case.get("unread", [])
