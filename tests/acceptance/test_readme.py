"""README's first commands, word for word, lead to your own decision in the reply of the hook."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import PATIENT
from tests.acceptance.test_first_steps import GET_STARTED, README, ROOT, scripts
from tests.files import commit, write

from orbit_registry.agents.agent import hook_agents, load_agent

PROGRAMS = Path(sys.executable).parent
SLOW = re.compile(r"(?m)^orbit (?:site|query) .*\n")
"""Commands that the tests of the wheel run; they change nothing that a hook reads."""
NUMBERS = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
TEXT = README.read_text("utf-8")
ABOVE = TEXT.partition("## Work on Orbit itself")[0]
NOTES = re.compile(r"(?s)<project-notes>.*?</project-notes>")


def _empty(root: Path) -> None:
    """Leave the repository without a commit."""


def _python(root: Path) -> None:
    for name in ("pyproject.toml", "src/shop/__init__.py", "src/app.py", "tests/test_app.py"):
        write(root, name, "x = 1\n")
    commit(root)


def _decided(root: Path) -> None:
    for number in (1, 2):
        text = (
            f"# {number}. Choose {number}\n\n## Status\n\nAccepted\n\n## Decision\n\nWe choose.\n"
        )
        write(root, f"docs/adr/000{number}-choose.md", text)
    write(root, "src/app.py", "x = 1\n")
    commit(root)


def _busy(root: Path) -> None:
    for number in range(40):
        for name in ("src/importer/read.py", "src/app.py", "README.md"):
            write(root, name, f"number = {number}\n")

        write(root, f"src/part{number}.py", "x = 1\n")
        commit(root)


def _madr(root: Path) -> None:
    for number in range(20):
        front = "---\nstatus: accepted\ndate: 2025-03-04\n---\n\n"
        why = f"Chosen option: number {number}, because `src/part{number}.py` is simple so.\n"
        text = f"{front}# Choose number {number}\n\n## Decision Outcome\n\n{why}"
        write(root, f"docs/decisions/{number:04}-choose-number-{number}.md", text)
        write(root, f"src/part{number}.py", "x = 1\n")

    commit(root)


def _typescript(root: Path) -> None:
    write(root, "package.json", '{"name": "shop", "workspaces": ["packages/*"]}\n')
    write(root, "packages/api/src/server.ts", 'import express from "express";\n')
    write(root, "AGENTS.md", "# Agents\n\nUse strict types.\n")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    write(root, ".claude/settings.json", '{"permissions": {"allow": ["Bash(npm test)"]}}\n')
    write(root, ".cursor/rules/types.mdc", '---\nglobs: "**/*.ts"\n---\n\nUse strict types.\n')
    write(root, ".github/copilot-instructions.md", "Use strict types.\n")
    commit(root)


def _run(root: Path, script: str) -> str:
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
    return done.stdout


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


def _notes(text: str) -> str:
    """Return the notes in a text, with ADR-0001 in place of the number that was free."""
    (notes,) = NOTES.findall(text)
    lines = (line.strip() for line in str(notes).splitlines())
    notes = re.sub(r"ADR-\d{4}", "ADR-0001", "\n".join(lines))
    return re.sub(r"docs/\w+/\d{4}", "docs/adr/0001", notes)


@pytest.mark.parametrize("layout", [_empty, _python, _decided, _busy, _madr, _typescript])
def test_your_own_decision_reaches_the_edit(git_repo: Path, layout: Any) -> None:
    layout(git_repo)
    _, own = scripts(README)

    printed = _run(git_repo, own)
    assert _notes(printed) == _notes(TEXT)
    assert _notes(_shown(git_repo, "src/app.py")) == _notes(TEXT)


def test_an_adopted_decision_reaches_the_edit_in_as_many_commands(git_repo: Path) -> None:
    _madr(git_repo)
    way = """
    orbit init --yes
    orbit import .
    orbit scope suggest --yes
    orbit hook install claude
    orbit hook test claude --file src/part7.py
    """
    printed = _run(git_repo, way)
    assert "[ADR-0007] Choose number 7" in printed
    assert "Chosen option: number 7" in _shown(git_repo, "src/part7.py")


def test_that_takes_six_commands_at_most() -> None:
    demo, own = scripts(README)
    assert len(re.findall(r"(?m)^orbit ", own)) + len(["install"]) <= 6
    assert demo.startswith("orbit init --demo ")


def test_the_demo_shows_a_decision(git_repo: Path) -> None:
    demo, _ = scripts(README)
    assert "Charge with an idempotency key" in NOTES.findall(_run(git_repo, demo))[0]


def test_the_first_page_shows_decision_and_learning_at_an_edit(git_repo: Path) -> None:
    _busy(git_repo)
    blocks = [block for block in scripts(GET_STARTED) if "orbit vote" not in block]
    _run(git_repo, SLOW.sub("", "\n".join(blocks)))

    text = _shown(git_repo, "src/importer/read.py")
    assert "[ADR-0001] Store sessions in PostgreSQL" in text
    assert "The importer needs UTC timestamps" in text
    assert "[ADR-0001]" in _shown(git_repo, "src/part7.py")


def test_the_picture_has_the_words_of_the_reply() -> None:
    (name,) = re.findall(r"!\[[^]]*\]\((.*?)\)", ABOVE)
    picture = (ROOT / name).read_text("utf-8")
    assert "prefers-color-scheme: dark" in picture

    words = re.sub(r"<[^>]+>", "", picture).replace("&lt;", "<").replace("&gt;", ">")
    lines = [line for line in _notes(TEXT).splitlines() if not line.startswith("Notes that")]
    assert [line for line in lines if line not in words] == []


def test_the_part_for_newcomers_is_short() -> None:
    assert len(ABOVE.split()) <= 700


def test_the_numbers_of_agents_are_right() -> None:
    agents = [load_agent(name) for name in hook_agents() if name != "generic"]
    tested = [agent for agent in agents if agent.proven]
    counts = (
        f"{NUMBERS[len(agents)].title()} agents have a hook; we ran it in {NUMBERS[len(tested)]}"
    )
    assert counts in " ".join(ABOVE.split())

    guide = (ROOT / "docs/guides/agents.md").read_text("utf-8")
    assert f"one of {NUMBERS[len(agents)]} agents" in guide
