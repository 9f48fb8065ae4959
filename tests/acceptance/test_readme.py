"""README's first commands, word for word, lead to records in the reply of the hook."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import PATIENT
from tests.acceptance.test_first_steps import GET_STARTED, README, scripts
from tests.files import commit, write

PROGRAMS = Path(sys.executable).parent
SLOW = re.compile(r"(?m)^orbit (?:site|query) .*\n")
"""Commands that the tests of the wheel run; they change nothing that a hook reads."""


@pytest.fixture
def busy(git_repo: Path) -> Path:
    """Return a repository of forty commits, each of which changes the same files."""
    for number in range(40):
        for name in ("src/importer/read.py", "src/app.py", "README.md"):
            write(git_repo, name, f"number = {number}\n")

        write(git_repo, f"src/part{number}.py", "x = 1\n")
        commit(git_repo)

    return git_repo


def _run(root: Path, script: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "ORBIT_ACTOR": "human",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _shown(root: Path, path: str) -> str:
    """Return what the command that Claude Code has in its settings replies before an edit."""
    settings = json.loads((root / ".claude/settings.local.json").read_text("utf-8"))
    entries: list[dict[str, Any]] = settings["hooks"]["PreToolUse"]
    call = {
        "session_id": path,
        "cwd": str(root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": f"{root}/{path}"},
    }
    done = subprocess.run(
        ["bash", "-c", entries[0]["hooks"][0]["command"]],
        input=json.dumps(call),
        cwd=root,
        env={**os.environ, **PATIENT},
        capture_output=True,
        text=True,
        check=True,
    )
    reply = json.loads(done.stdout or "{}")
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize(
    "blocks",
    [
        scripts(README)[1:],
        [block for block in scripts(GET_STARTED) if "learning vote" not in block],
    ],
    ids=["README", "get started"],
)
def test_your_own_decision_and_learning_reach_the_edit(busy: Path, blocks: list[str]) -> None:
    _run(busy, SLOW.sub("", "\n".join(blocks)))

    text = _shown(busy, "src/importer/read.py")
    assert "[ADR-0001] Store sessions in PostgreSQL" in text
    assert "The importer needs UTC timestamps" in text
    assert "[ADR-0001]" in _shown(busy, "src/part7.py")


def test_the_demo_shows_what_readme_prints(git_repo: Path) -> None:
    _run(git_repo, scripts(README)[0])
    text = _shown(git_repo.parent / "parcel", "src/billing/charge.py")
    printed = README.read_text("utf-8").partition("```\n")[2].partition("```")[0]

    def without_codes(value: str) -> str:
        return re.sub(r"\b([RL])-[0-9a-z]{5}\b", r"\1-", value).strip()

    assert without_codes(text) == without_codes(printed)
