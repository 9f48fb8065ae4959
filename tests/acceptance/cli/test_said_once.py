"""A command that is given twice changes nothing the second time, and says so."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.files import commit, write

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases/said_once.yaml").read_text("utf-8"))
TEXT = """# {title}

## Status

{status}

## Decision

{title}.

## Consequences

- Cost: one.
"""
DECISIONS = {"Use files": "Accepted", "Use SQLite": "Accepted", "Use a queue": "Proposed"}


@pytest.fixture
def root(git_repo: Path) -> Path:
    for number, (title, status) in enumerate(DECISIONS.items(), 1):
        document = TEXT.format(title=title, status=status)
        write(git_repo, f"docs/adr/000{number}-{title.lower().replace(' ', '-')}.md", document)

    commit(git_repo)
    orbit(git_repo, "init", "--yes")
    orbit(git_repo, "import", "docs/adr")
    commit(git_repo)
    return git_repo


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["command"][:2]))
def test_the_second_time_says_that_nothing_changed(root: Path, case: dict[str, Any]) -> None:
    if "before" in case:
        orbit(root, *case["before"])

    first = orbit(root, *case["command"])
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    before = subprocess.run(status, cwd=root, capture_output=True, check=True).stdout

    second = orbit(root, *case["command"])

    assert case["again"] in second
    assert case["again"] not in first or case["command"][0] == "init"
    assert subprocess.run(status, cwd=root, capture_output=True, check=True).stdout == before
    indented = [line for line in second.splitlines() if line.startswith("  ") and "/" in line]
    assert [line for line in indented if (root / line.strip()).exists()] == []
