"""`orbit brief`: what stands in front of a prompt, for paths, tags and words; silence where nothing applies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def add(shell: Any, summary: str, *more: str) -> str:
    """Add a learning that is in force and return its id."""
    code, whole = shell.json("learning", "add", "--summary", summary, "--yes", *more)
    assert code == 0
    return str(whole["data"]["id"])


def test_a_brief_leads_by_path_tag_and_words(shell: Any) -> None:
    """Each way in brings its record, and the JSON says by which it came."""
    by_path = add(shell, "Paths want slashes", "--path", "src/**")
    by_tag = add(shell, "Indexes want care", "--tag", "sql")
    by_word = add(shell, "Zeppelins want helium")
    Path("task.txt").write_text("Fill the zeppelins", "utf-8")

    code, whole = shell.json("brief", "--path", "src/a.py", "--tag", "sql", "--text", "task.txt")

    assert code == 0
    found = {one["id"]: one["matched_by"] for one in whole["data"]["matches"]}
    assert found[by_path] == [{"path": "src/a.py", "glob": "src/**"}]
    assert found[by_tag] == [{"tag": "sql"}]
    assert found[by_word] == [{"way": "text"}]


def test_a_brief_is_a_section_of_a_prompt(shell: Any) -> None:
    """The text has the heading that prompts keep, and the block; with nothing to say there is not even that."""
    made = add(shell, "Paths want slashes", "--path", "src/**")
    code, out, _ = shell("brief", "--path", "src/a.py")
    assert code == 0
    assert out.startswith("## System Context\n\n<project-notes>\n")
    assert f"- [{made}] Paths want slashes" in out.splitlines()
    assert shell("brief", "--path", "elsewhere.txt")[:2] == (0, "")


def test_agents_and_tasks_narrow(shell: Any) -> None:
    """A record for other agents is left out, and the JSON says why."""
    made = add(shell, "Reviewers look twice", "--set", "scope={agents: [reviewer], paths: ['lib/**']}")
    _, whole = shell.json("brief", "--path", "lib/a.py", "--agent", "judge")
    assert [(one["id"], one["reason"]) for one in whole["data"]["dropped"]] == [(made, "agent")]
    _, whole = shell.json("brief", "--path", "lib/a.py", "--agent", "reviewer")
    assert made in [one["id"] for one in whole["data"]["matches"]]


@pytest.mark.parametrize("arguments", [[], ["--path", "../out"], ["--text", "missing.txt"]])
def test_a_brief_about_nothing_is_refused(shell: Any, arguments: list[str]) -> None:
    """Without anything known of the work, and with a path that leads out, the call is wrong."""
    assert shell("brief", *arguments)[0] == 2


def test_a_configured_budget_is_the_one_that_binds(shell: Any) -> None:
    """More than the usual 1,000 tokens are shown where the configuration says so, fewer where it says that."""
    for number in range(40):
        words = " ".join(f"term{number}x{place}" for place in range(30))
        shell("learning", "add", "--summary", words[:270], "--yes")

    def tokens(most: int) -> int:
        settings = f"{{max_learnings_per_category: 100, max_total_tokens: {most}}}"
        (shell.root / ".orbit/config.yaml").write_text(
            f"format: orbit-registry\nschema_version: 1\nlearnings_config: {settings}\n", "utf-8"
        )
        return len(shell("brief", "--agent", "engineer")[1]) // 4

    few, usual, many = tokens(200), tokens(1000), tokens(2500)
    assert few <= 200 < usual <= 1000 < many <= 2500
