"""`orbit brief`: what stands in front of a prompt, for paths, tags and words; silence where nothing applies."""

from __future__ import annotations

from typing import Any

import pytest


def add(shell: Any, summary: str, *more: str) -> str:
    """Add a learning that is in force and return its id."""
    code, whole = shell.json("learning", "add", "--summary", summary, "--yes", *more)
    assert code == 0
    return str(whole["data"]["id"])


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
