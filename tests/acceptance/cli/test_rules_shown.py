"""Where a rule is shown: approved, relevant, and led to by a path, a tag or a link;
through every door.
"""

import json
from typing import Any

import pytest
from tests.files import configure

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import Reply, reply
from orbit_registry.registry import Registry

TITLE = "Wrap each query in a transaction"
FITTING, OTHER = "Put every query into one transaction", "Draw the logo in green"


@pytest.fixture
def rule(shell: Any) -> str:
    command = [
        "rule",
        "add",
        "--title",
        TITLE,
        "--rationale",
        "The export read half a row.",
        "--tag",
        "sql",
    ]
    result = str(shell.data(*command)["id"])
    assert shell("promote", result)[0] == 0
    return result


def briefed(shell: Any, *arguments: str) -> tuple[set[str], dict[str, str]]:
    data = shell.data("brief", "--for", "prompt", *arguments)
    dropped = {entry["id"]: entry["reason"] for entry in data["dropped"]}
    return {entry["id"] for entry in data["matches"]}, dropped


def call(shell: Any, name: str, **arguments: object) -> Reply:
    """Return what a tool of the MCP server answers in a session of its own."""
    return reply(
        name, arguments, Caller("some-agent", f"session {name}"), lambda: Registry.open(shell.root)
    )


def beside(result: Reply) -> set[str]:
    return (
        {entry["id"] for entry in result.sidecar.learnings} if result.sidecar is not None else set()
    )


def task(shell: Any, text: str) -> str:
    (shell.root / "task.md").write_text(text, "utf-8")
    return "task.md"


def test_a_rule_needs_a_shared_tag_and_matching_text(shell: Any, rule: str) -> None:
    assert briefed(shell, "--tag", "sql", "--text", task(shell, FITTING))[0] >= {rule}
    for arguments in (("--tag", "sql"), ("--tag", "sql", "--text", task(shell, OTHER))):
        displayed, dropped = briefed(shell, *arguments)
        assert (rule in displayed, dropped.get(rule)) == (False, "rule")
    assert rule not in briefed(shell, "--tag", "care", "--text", task(shell, FITTING))[0]


@pytest.mark.parametrize("door", ["option", "task", "tool"])
def test_a_briefs_project_leads_to_its_rules(shell: Any, door: str) -> None:
    ids = {}
    for project in ("billing", "web"):
        command = (
            "--title",
            f"{TITLE} of {project}",
            "--rationale",
            "The export read half a row.",
            "--set",
        )
        ids[project] = shell.data("rule", "add", *command, f"project={project}")["id"]
        assert shell("promote", ids[project])[0] == 0
    shell("learning", "update", shell.learning, "--set", "project=web")

    def displayed(project: str, text: str) -> set[str]:
        if door == "tool":
            envelope = call(shell, "brief", tags=["care"], text=text, project=project).structured[
                "data"
            ]
            return {entry["id"] for entry in envelope["matches"]}
        if door == "option":
            return briefed(
                shell, "--tag", "care", "--text", task(shell, text), "--project", project
            )[0]
        (shell.root / "task.json").write_text(
            json.dumps({"text": text, "project": project}), "utf-8"
        )
        return briefed(shell, "--tag", "care", "--task-file", "task.json")[0]

    mine = {*ids.values(), shell.learning}
    assert displayed("billing", OTHER) & mine == set()
    assert displayed("billing", FITTING) & mine == {ids["billing"]}
    assert displayed("web", FITTING) & mine == {ids["web"], shell.learning}


def test_how_relevant_it_has_to_be_is_configured(shell: Any, rule: str) -> None:
    configure(shell.root, "rules: {min_relevance: 0}\n")
    assert rule in briefed(shell, "--tag", "sql", "--text", task(shell, OTHER))[0]


def test_a_record_that_is_linked_with_it_brings_it_along(shell: Any, rule: str) -> None:
    command = [
        "learning",
        "add",
        "--summary",
        "Exports saw half a row",
        "--path",
        "src/**",
        "--yes",
    ]
    learning = shell.data(*command)["id"]
    assert briefed(shell, "--path", "src/app.py")[0].isdisjoint({rule})

    shell("link", rule, "derived_from", learning)

    assert briefed(shell, "--path", "src/app.py")[0] >= {rule, learning}
    assert beside(call(shell, "show", id=learning)) == {rule}
    assert beside(call(shell, "show", id=rule)) == set()
    shell("unlink", rule, "derived_from", learning)
    assert beside(call(shell, "list")) == set()
    shell("link", learning, "proves", rule)
    assert beside(call(shell, "related", id=learning)) == set()  # the answer holds it
    assert beside(call(shell, "match", paths=["src/app.py"])) == set()
    matches = shell.data("match", "src/app.py")["matches"]
    assert {entry["id"]: entry["matched_by"] for entry in matches}[rule] == [{"link": learning}]
    verdicts = shell.data("explain", "src/app.py")["verdicts"]
    (verdict,) = [entry for entry in verdicts if entry["id"] == rule]
    assert (verdict["why"], verdict["link"], verdict["pushed"]) == ("link", learning, True)


@pytest.mark.parametrize("verdict", ["waits", "rejected", "retired"])
def test_what_is_not_in_force_is_shown_nowhere(shell: Any, verdict: str) -> None:
    command = [
        "rule",
        "add",
        "--title",
        TITLE,
        "--rationale",
        "Half rows.",
        "--tag",
        "sql",
        "--path",
        "src/**",
    ]
    record_id = str(shell.data(*command)["id"])
    shell("link", record_id, "related_to", "ADR-0001")
    if verdict == "rejected":
        shell("reject", record_id, "--reason", "no")
    elif verdict == "retired":
        shell("promote", record_id)
        shell("rule", "retire", record_id)

    assert (
        record_id
        not in briefed(
            shell, "--tag", "sql", "--path", "src/app.py", "--text", task(shell, FITTING)
        )[0]
    )
    assert record_id not in shell("match", "src/app.py", "--tag", "sql")[1]
    assert record_id not in shell("search", "transaction")[1]
    assert beside(call(shell, "show", id="ADR-0001")) == set()
    verdicts = shell.data("explain", "src/app.py")["verdicts"]
    assert record_id not in [row["id"] for row in verdicts if row["pushed"]]
