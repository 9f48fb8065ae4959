"""`orbit scope suggest` proposes code, never prose or data, and says why."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write

CASES = Path(__file__).resolve().parents[1] / "cases" / "suggestions.yaml"
DATA: Mapping[str, Any] = yaml.safe_load(CASES.read_text("utf-8"))


def _decision(title: str, decides: str) -> str:
    return (
        f"# {title}\n\n## Status\n\nAccepted\n\n## Context\n\nThings grow.\n\n"
        f"## Decision\n\n{decides}\n\n## Consequences\n\nOne more thing to know.\n"
    )


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(git_repo)
    for path, text in DATA["files"].items():
        write(git_repo, path, text)

    commit(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    return git_repo


def _add_decision(project: Path, case: Mapping[str, Any]) -> None:
    for path, text in case.get("files", {}).items():
        write(project, path, text)

    commit(project)
    text = _decision(case["title"], case.get("decides", "So it is."))
    write(project, "docs/adr/0001-a-decision.md", text)
    for path in case.get("made_with", ()):
        write(project, path, "x = 1\n")

    commit(project)
    orbit(project, "import", "docs/adr")


def _suggested(project: Path, *arguments: str) -> Sequence[Mapping[str, Any]]:
    answer = json.loads(orbit(project, "scope", "suggest", *arguments, "--format", "json"))
    suggestions: Sequence[Mapping[str, Any]] = answer["data"]["suggestions"]
    return suggestions


@pytest.mark.parametrize(
    "case", DATA["cases"], ids=[f"{n} {case['title']}" for n, case in enumerate(DATA["cases"])]
)
def test_a_decision_gets_the_code_that_it_is_about(project: Path, case: Mapping[str, Any]) -> None:
    _add_decision(project, case)
    [suggestion] = _suggested(project)

    got = [f"uses {entry['package']}" for entry in suggestion["uses"]]
    got += [entry["glob"] for entry in suggestion["globs"]]
    assert sorted(got) == sorted(case["gets"])
    for entry in (*suggestion["uses"], *suggestion["globs"]):
        assert entry["files"] >= 1
        assert entry["reasons"]


def test_what_is_applied_reaches_the_edit(project: Path) -> None:
    _add_decision(project, {"title": "Use Redis for the queue"})
    assert "redis" in orbit(project, "scope", "suggest")
    assert "uses" not in orbit(project, "show", "ADR-0001")

    orbit(project, "scope", "suggest", "--apply")
    assert _suggested(project) == []
    shown = json.loads(orbit(project, "match", "src/queue.py", "--format", "json"))
    assert [match["id"] for match in shown["data"]["matches"]] == ["ADR-0001"]


def test_a_commit_that_touches_a_log_speaks_for_no_decision_in_it(project: Path) -> None:
    entries = ("Sums are whole", "Names are short")
    log = "# Decisions\n"
    for number, title in enumerate(entries, 1):
        body = _decision(title, "So it is.").partition("\n")[2].replace("## ", "### ")
        log += f"\n## ADR-000{number}: {title}\n{body}"

    write(project, "docs/decisions.md", log)
    commit(project)
    orbit(project, "import", "docs/decisions.md")
    commit(project)
    for number in (1, 2):
        write(project, "docs/decisions.md", f"{log}\nA remark, {number}.\n")
        write(project, "src/money.py", f"x = {number}\n")
        commit(project)

    suggested = _suggested(project)
    assert [entry["id"] for entry in suggested] == ["ADR-0001", "ADR-0002"]
    assert [entry["globs"] for entry in suggested] == [[], []]
