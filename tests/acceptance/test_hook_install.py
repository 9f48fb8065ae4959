"""The commands around the hook: installing, trying and removing it,
for one person or for a project.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.agents.agent import load_agent
from orbit_registry.doors.cli.main import run

ORBIT = [sys.executable, "-m", "orbit_registry.doors.cli.main"]
PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}
"""A busy machine is no bug: what is tested is what the hook says, not how soon."""
TEXT = "Look before you leap"


@pytest.fixture(scope="module")
def _seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one workspace with a learning for a tracked file, for `root` to copy."""
    seeded = tmp_path_factory.mktemp("seeded") / "repo"
    seeded.mkdir()
    (seeded / "README.md").write_text("# Demo\n", "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=seeded, check=True)
    subprocess.run(["git", "add", "."], cwd=seeded, check=True)
    for arguments in (
        ["init", "--yes"],
        ["learning", "add", "--summary", TEXT, "--path", "README.md", "--yes"],
    ):
        subprocess.run([*ORBIT, *arguments], cwd=seeded, check=True, capture_output=True)
    return seeded


@pytest.fixture
def root(_seeded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_seeded, tmp_path / "repo"))


def test_hook_test_takes_the_scope_that_is_installed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", PATIENT["ORBIT_HOOK_DEADLINE_MS"])
    assert run(["hook", "test", "codex"]) == 1
    assert "`orbit hook install codex`" in capsys.readouterr().err

    assert run(["hook", "install", "codex", "--scope", "project"]) == 0
    assert "all your projects" not in capsys.readouterr().out
    assert run(["hook", "test", "codex"]) == 0
    assert TEXT in capsys.readouterr().out

    assert run(["hook", "install", "codex"]) == 0
    page = capsys.readouterr().out
    assert "Codex CLI has no settings for you alone in one project" in page
    assert "it acts in all your projects that have .orbit/; `--scope project`" in page


THEIRS = {
    "claude": (
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", '
        '"command": "audit"}]}]}}'
    ),
    "codex": (
        '{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "audit"}]}]}\r\n}'
    ),
    "gemini": '{\n  // mine\n  "theme": "x", /* and */ "hooks": {"AfterTool": []}\n}\n',
    "cursor": '{"version": 1, "hooks": {"preToolUse": [{"command": "audit"}]}}\n',
    "copilot": '{"hooks": {"postToolUse": [{"type": "command", "bash": "audit"}]}}',
}


@pytest.mark.parametrize("name", THEIRS)
def test_every_agents_hook_comes_and_goes(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    agent = load_agent(name)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", PATIENT["ORBIT_HOOK_DEADLINE_MS"])
    for file in agent.settings.values():
        if file.home:
            monkeypatch.setenv(file.home, str(tmp_path / "moved"))

    def said(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = run(["hook", *arguments, name, "--format", "json"])
        return code, json.loads(capsys.readouterr().out)

    state = next(
        state
        for state in said("status")[1]["data"]["hooks"]
        if state["scope"] == agent.default_scope
    )
    path = Path(state["path"])
    assert (state["installed"], state["proven"]) == (False, agent.proven)
    assert state["proven"] is ("tested with " in state["evidence"])
    path.parent.mkdir(parents=True)
    path.write_bytes(THEIRS[name].encode())
    dry = said("install", "--dry-run")[1]["data"]
    assert path.read_bytes() == THEIRS[name].encode()
    assert [
        line for line in dry["diff"].splitlines() if line.startswith("+") and "# orbit hook" in line
    ]
    assert said("install")[1]["data"]["diff"] == dry["diff"]
    assert said("install")[1]["data"]["changed"] is False
    code, reply = said("test")
    assert (code, reply["data"]["problems"]) == (0, [])
    assert TEXT in reply["data"]["text"]
    assert said("uninstall")[1]["data"]["changed"] is True
    assert path.read_bytes() == THEIRS[name].encode()


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        (
            "gemini",
            lambda hooks: {state["matcher"] for state in hooks["PreCompress"]} == {"manual"},
        ),
        (
            "codex",
            lambda hooks: all(
                state["timeout"] <= 3 for group in hooks["SessionEnd"] for state in group["hooks"]
            ),
        ),
    ],
)
def test_an_agents_settings_keep_what_it_needs(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    asks: Callable[[Any], bool],
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(["hook", "install", name, "--scope", "project"]) == 0
    assert asks(
        json.loads((root / load_agent(name).settings["project"].path).read_text("utf-8"))["hooks"]
    )


@pytest.mark.parametrize(
    ("agent", "off", "on"),
    [
        ("claude", {"disableAllHooks": True}, {"disableAllHooks": False}),
        ("gemini", {"hooksConfig": {"enabled": False}}, {"hooksConfig": {"enabled": True}}),
    ],
)
def test_a_switch_that_stops_all_hooks_is_reported(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    agent: str,
    off: dict[str, Any],
    on: dict[str, Any],
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = root / f".{agent}/settings.json"
    assert run(["hook", "install", agent, "--scope", "project"]) == 0
    installed = json.loads(settings.read_text("utf-8"))

    for switch, is_off in ((on, False), (off, True)):
        settings.write_text(json.dumps({**installed, **switch}), "utf-8")
        capsys.readouterr()
        assert run(["hook", "status", agent]) == 0
        assert ("switches all hooks off" in capsys.readouterr().out) is is_off
        for command in (
            ["explain", "README.md"],
            ["doctor"],
            ["hook", "install", agent, "--scope", "project"],
            ["hook", "test", agent, "--scope", "project"],
        ):
            run(command)
            answer = "".join(capsys.readouterr())
            assert ("runs no hook" in answer) is is_off, (command, answer)
