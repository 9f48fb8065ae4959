"""Skills and the plugin: where they are put, that what they say runs,
and that nobody else's files are touched.
"""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.exchange.exporters.plugin import FOLDERS, NAMES, skill_files
from orbit_registry.formats.yaml import load

SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
DECISION = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


def commands(page: str) -> list[str]:
    return [line for block in SHELL.findall(page) for line in block.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_a_skill_runs(
    shell: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    page = skill_files()[f"{name}/SKILL.md"].decode()
    (shell.root / "decision.md").write_text(DECISION, "utf-8")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    lines = [line.replace("L-7k3fq", shell.learning) for line in commands(page)]
    assert len(lines) >= 6
    for line in lines:
        *before, words = map(shlex.split, line.split(" | "))
        text = " ".join(word for echo in before for word in echo[1:])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert (words[0], [echo[0] for echo in before]) in (
            ("orbit-registry", []),
            ("orbit-registry", ["echo"]),
        )
        code, _, messages = shell(*words[1:])
        assert code == 0, (line, messages)


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_says_when_to_use_it(name: str) -> None:
    page = skill_files()[f"{name}/SKILL.md"].decode()
    head = load(page.split("---\n")[1])
    assert isinstance(head, dict)
    assert head.keys() == {"name", "description"}
    assert head["name"] == name
    assert "Use " in head["description"]


@pytest.mark.parametrize("agent", FOLDERS)
def test_skills_are_put_where_the_agent_looks(shell: Any, agent: str) -> None:
    assert shell("export", "skills", "--agent", agent, "--check")[0] == 1
    assert not (shell.root / FOLDERS[agent]).exists()
    _, skills = shell.json("export", "skills", "--agent", agent)
    assert [change["what"] for change in skills["data"]["changes"]] == ["add"] * 3
    assert shell.data("export", "skills", "--agent", agent)["changes"] == []
    assert shell("export", "skills", "--agent", agent, "--check")[0] == 0

    page = shell.root / FOLDERS[agent] / "orbit-adr/SKILL.md"
    page.write_text("---\nname: orbit-adr\n---\nMine.\n", "utf-8")
    code, _, output = shell("export", "skills", "--agent", agent)
    assert (code, page.read_text("utf-8")) == (1, "---\nname: orbit-adr\n---\nMine.\n")
    assert "is not our skill" in output


def test_a_plugin_carries_skills_hooks_and_the_server(shell: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    assert shell("export", "plugin", str(folder), "--dry-run")[0] == 0
    assert not folder.exists()
    assert shell("export", "plugin", str(folder))[0] == 0
    manifest, market, server, hooks = (
        json.loads((folder / name).read_text("utf-8"))
        for name in (
            ".claude-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
            ".mcp.json",
            "hooks/hooks.json",
        )
    )
    assert (manifest["name"], market["plugins"][0]["name"]) == ("orbit", "orbit")
    assert server["mcpServers"]["orbit"] == {"command": "orbit-registry", "args": ["mcp", "serve"]}
    assert {"SessionStart", "PreToolUse", "InstructionsLoaded"} <= hooks["hooks"].keys()
    assert sorted(path.name for path in (folder / "skills").iterdir()) == sorted(NAMES)

    (folder / "mine.md").write_text("mine", "utf-8")
    assert shell.data("export", "plugin", str(folder))["changes"] == []
    assert (folder / "mine.md").exists()
    code, _, output = shell("export", "plugin", str(shell.root / "src"))
    assert (code, sorted(path.name for path in (shell.root / "src").iterdir())) == (1, ["app.py"])
    assert "holds something else" in output


def test_the_plugins_hook_answers_and_is_silent_without_the_program(
    shell: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "a plugin"
    assert shell("export", "plugin", str(folder))[0] == 0
    assert shell("sync")[0] == 0
    (entry,) = json.loads((folder / "hooks/hooks.json").read_text("utf-8"))["hooks"]["PreToolUse"]
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(shell.root),
        "tool_name": "Edit",
        "tool_input": {"file_path": str(shell.root / "src/app.py")},
    }
    program = write(tmp_path, "bin/orbit-registry", f"#!{sys.executable}\n")
    program.chmod(0o755)
    tools = [str(Path(reply).parent) for tool in ("sh", "git") if (reply := shutil.which(tool))]

    def said(*folders: str) -> str:
        environment = {
            **os.environ,
            "PATH": ":".join([*folders, *tools]),
            "CLAUDE_PLUGIN_ROOT": str(folder),
            "ORBIT_HOOK_DEADLINE_MS": "60000",
        }
        done = subprocess.run(
            entry["hooks"][0]["command"],
            shell=True,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            cwd=shell.root,
            env=environment,
            check=True,
        )
        return done.stdout

    assert said() == ""
    assert (
        "[ADR-0001] Use SQLite"
        in json.loads(said(str(program.parent)))["hookSpecificOutput"]["additionalContext"]
    )


def test_a_server_that_cannot_start_is_named_when_it_is_installed(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "can't start" not in shell("mcp", "install", "claude")[2]
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert (
        "can't start yet: install the extra `orbit-registry[mcp]`"
        in shell("mcp", "install", "cursor")[2]
    )
