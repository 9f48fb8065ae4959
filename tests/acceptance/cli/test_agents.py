"""An agent proposes: no command accepts a record for it, or changes one that is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import RefusedError
from orbit_registry.operations.lifecycle import change_fields, supersede
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import AGENT_MARKERS, Author

Git = Callable[..., str]
FOLDER = "docs/adr"


def decide(root: Path, number: int, status: str) -> str:
    path = f"{FOLDER}/{number:04d}-choice.md"
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(
        f"# {number}. Choice {number}\n\n## Status\n\n{status}\n\n## Context\n\nReason {number * 7919}.\n\n"
        f"## Decision\n\nWay {number * 104729}.\n\n## Consequences\n\n- Bad, because of {number * 1299709}.\n",
        "utf-8",
    )
    return path


def files(root: Path) -> dict[str, bytes]:
    """Return every file that git would see."""
    result = (path for path in root.rglob("*") if path.is_file() and not {".git", "state"} & set(path.parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in result}


@pytest.fixture(params=["ORBIT_ACTOR", "CLAUDECODE"])
def agent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "ORBIT_ACTOR":
        monkeypatch.setenv("ORBIT_ACTOR", "agent")
        return
    monkeypatch.delenv("ORBIT_ACTOR")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "CLAUDECODE" in AGENT_MARKERS


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["adr", "backfill"], "orbit adr backfill"),
        (["adr", "backfill", f"{FOLDER}/0008-choice.md"], f"orbit adr backfill {FOLDER}/0008-choice.md"),
        (["import", FOLDER], f"orbit import {FOLDER}"),
    ],
)
def test_an_agent_adopts_no_decision_in_force(shell: Any, arguments: list[str], names: str) -> None:
    decide(shell.root, 8, "Accepted")
    before = files(shell.root)

    code, _, err = shell(*arguments)

    assert code == 1
    assert "ADR-0008 (Choice 8)" in err
    assert f"a person runs `{names}`" in err
    assert files(shell.root) == before
    assert shell(*arguments, "--dry-run")[0] == 0
    assert files(shell.root) == before


@pytest.mark.usefixtures("agent")
def test_an_agent_may_adopt_what_is_only_proposed(shell: Any) -> None:
    path = decide(shell.root, 8, "Proposed")
    assert shell("adr", "backfill", path)[0] == 0
    assert shell.data("show", "ADR-0008")["status"] == "proposed"


@pytest.mark.usefixtures("agent")
def test_an_agents_adoption_leaves_records_in_force_alone(shell: Any) -> None:
    decide(shell.root, 8, "Superseded by ADR-0001")
    before = files(shell.root)
    code, _, err = shell("adr", "backfill")
    assert (code, "ADR-0001 is accepted" in err) == (1, True)
    assert files(shell.root) == before


def test_an_agents_fix_accepts_no_decision(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = decide(shell.root, 9, "Accepted")
    assert shell("adr", "backfill", path)[0] == 0
    decide(shell.root, 8, "Accepted")
    decide(shell.root, 9, "Deprecated")
    before = files(shell.root)
    monkeypatch.setenv("ORBIT_ACTOR", "agent")

    outcome = Registry.open(shell.root).check(fix=True)

    hints = {entry.code: entry.hint or "" for entry in outcome.diagnostics}
    assert "an agent may not make a decision accepted: ADR-0008" in hints["ORB702"]
    assert "a person runs" in hints["ORB702"]
    assert "ADR-0009" in hints["ORB701"]
    assert "a person runs `orbit check --fix`" in hints["ORB701"]
    assert files(shell.root) == before

    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert {entry.code for entry in Registry.open(shell.root).check(fix=True).fixed} >= {"ORB701", "ORB702"}
    assert shell.data("show", "ADR-0008")["status"] == "accepted"
    assert shell.data("show", "ADR-0009")["status"] == "deprecated"


@pytest.mark.parametrize(
    "command",
    [
        "adr deprecate ADR-0001", "adr update ADR-0001 --title Other", "adr amend ADR-0001 --task T --text No.",
        "adr supersede ADR-0001 --with ADR-0002", "adr renumber ADR-0001 --to 40",
    ],
)  # fmt: skip
def test_an_agent_changes_no_accepted_record(shell: Any, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    before = files(shell.root)
    code, _, err = shell(*command.split())
    assert (code, "is accepted" in err) == (1, True)
    assert files(shell.root) == before


@pytest.mark.usefixtures("agent")
def test_an_agent_may_make_a_workspace(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(git_repo, 8, "Accepted")
    monkeypatch.chdir(git_repo)
    report = Registry.init(git_repo)
    assert report.created
    assert list((git_repo / ".orbit").glob("adrs/*")) == []


def test_no_door_of_the_store_leads_around_the_rule(shell: Any) -> None:
    agent = Author("bot", "agent")
    workspace = Registry.open(shell.root).workspace
    before = files(shell.root)
    with pytest.raises(RefusedError, match="is accepted"):
        supersede(workspace, "ADR-0001", "ADR-0002", author=agent)
    with pytest.raises(RefusedError, match="is active"):
        change_fields(workspace, shell.learning, lambda data: {**data, "summary": "Other"}, author=agent)
    assert files(shell.root) == before
