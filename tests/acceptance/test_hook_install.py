"""The commands around the hook: installing, trying and removing it, for one person or for a project."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.agents.agent import hook_agents, load_agent
from orbit_registry.cli.main import run
from orbit_registry.install import install as installation

ORBIT = [sys.executable, "-m", "orbit_registry.cli.main"]
CLAUDE = load_agent("claude")
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
    for arguments in (["init", "--yes"], ["learning", "add", "--summary", TEXT, "--path", "README.md", "--yes"]):
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


def test_every_file_of_a_hook_is_named_and_every_other_scope_that_has_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def printed(*arguments: str) -> str:
        assert run(["hook", *arguments]) == 0
        return capsys.readouterr().out

    launcher = root / ".orbit/hook.sh"
    assert f"{launcher}, which it starts, was written" in printed("install", "cursor", "--scope", "project")
    assert f"{launcher}, which" not in printed("install", "claude", "--scope", "project")
    printed("install", "claude")
    assert "it is still in" not in printed("uninstall", "cursor", "--scope", "project")
    text = printed("uninstall", "claude")
    assert f"still in {root}/.claude/settings.json: `orbit hook uninstall claude --scope project`" in text
    assert f"{launcher} would be removed" in printed("uninstall", "claude", "--scope", "project", "--dry-run")
    assert f"{launcher} was removed" in printed("uninstall", "claude", "--scope", "project")
    assert not launcher.exists()


def test_all_agents_that_are_found_get_the_hook(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A local settings file that git would commit is ignored from then on, once."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert run(["hook", "install", "--all"]) == 1
    assert run(["hook", "install"]) == run(["hook", "install", "claude", "--all"]) == 2
    (root / ".claude").mkdir()
    (tmp_path / "home/.codex").mkdir(parents=True)
    before = (root / ".gitignore").read_text()
    capsys.readouterr()

    for _ in range(2):
        assert run(["hook", "install", "--all", "--format", "json"]) == 0
        hooks = json.loads(capsys.readouterr().out)["data"]["hooks"]
        assert [(hook["agent"], hook["scope"]) for hook in hooks] == [("claude", "local"), ("codex", "user")]

    line = "/.claude/settings.local.json"
    assert (root / ".gitignore").read_text() == f"{before}# orbit hook: for you alone\n{line}\n"

    assert run(["hook", "uninstall", "claude"]) == 0
    assert (root / ".gitignore").read_text() == before


@pytest.mark.parametrize("scope", ["local", "project"])
def test_doctor_finds_a_hook_of_an_earlier_version(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scope: str
) -> None:
    monkeypatch.chdir(root)
    assert run(["hook", "install", "claude", "--scope", scope]) == 0
    file = root / (".orbit/hook.sh" if scope == "project" else CLAUDE.settings["local"].path)
    file.write_text(file.read_text("utf-8").replace("/hook/launch.py", "/push/launch.py"), "utf-8")
    capsys.readouterr()
    run(["doctor"])
    page = capsys.readouterr().out
    assert "a hook of an earlier version, which starts push/launch.py" in page
    assert f"orbit hook install claude --scope {scope}" in page
    assert run(["hook", "install", "claude", "--scope", scope]) == 0
    capsys.readouterr()
    run(["doctor"])
    assert "push/launch.py" not in capsys.readouterr().out


THEIRS = {
    "claude": '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "audit"}]}]}}',
    "codex": '{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "audit"}]}]}\r\n}',
    "gemini": '{\n  // mine\n  "theme": "x", /* and */ "hooks": {"AfterTool": []}\n}\n',
    "cursor": '{"version": 1, "hooks": {"preToolUse": [{"command": "audit"}]}}\n',
    "copilot": '{"hooks": {"postToolUse": [{"type": "command", "bash": "audit"}]}}',
}


@pytest.mark.parametrize("name", THEIRS)
def test_every_agents_hook_comes_and_goes(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
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

    state = next(state for state in said("status")[1]["data"]["hooks"] if state["scope"] == agent.default_scope)
    path = Path(state["path"])
    assert (state["installed"], state["proven"]) == (False, agent.proven)
    assert state["proven"] is (" was run: " in state["evidence"])
    path.parent.mkdir(parents=True)
    path.write_bytes(THEIRS[name].encode())
    dry = said("install", "--dry-run")[1]["data"]
    assert path.read_bytes() == THEIRS[name].encode()
    assert [line for line in dry["diff"].splitlines() if line.startswith("+") and "# orbit hook" in line]
    assert said("install")[1]["data"]["diff"] == dry["diff"]
    assert said("install")[1]["data"]["changed"] is False
    code, reply = said("test")
    assert (code, reply["data"]["problems"]) == (0, [])
    assert TEXT in reply["data"]["text"]
    assert said("uninstall")[1]["data"]["changed"] is True
    assert path.read_bytes() == THEIRS[name].encode()


def test_a_scope_that_an_agent_does_not_have_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert run(["hook", "install", "codex", "--scope", "local"]) == 1
    page = capsys.readouterr().err
    assert "Codex CLI has no settings of scope local" in page
    assert "--scope user or --scope project" in page


def test_status_shows_every_agent_whatever_one_file_holds(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, ".codex/hooks.json", "{")
    (root / ".cursor").symlink_to(tmp_path)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(["hook", "status"]) == 0
    page = capsys.readouterr().out
    expected = {name: "proven" if load_agent(name).proven else "unproven" for name in hook_agents()}
    assert [name for name, word in expected.items() if f"{name} ({load_agent(name).title}; {word}" not in page] == []
    assert [name for name, word in expected.items() if word == "proven"] == [
        "claude",
        "codex",
        "copilot",
        "gemini",
        "opencode",
    ]
    assert "hooks.json:1:2: no valid JSON" in page
    assert "symbolic link" in page


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("gemini", lambda hooks: {state["matcher"] for state in hooks["PreCompress"]} == {"manual"}),
        (
            "codex",
            lambda hooks: all(state["timeout"] <= 3 for group in hooks["SessionEnd"] for state in group["hooks"]),
        ),
    ],
)
def test_an_agents_settings_keep_what_it_needs(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, asks: Callable[[Any], bool]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(["hook", "install", name, "--scope", "project"]) == 0
    assert asks(json.loads((root / load_agent(name).settings["project"].path).read_text("utf-8"))["hooks"])


def test_an_agent_that_needs_trust_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("codex", "copilot"):
        assert run(["hook", "install", name]) == 0
        assert "trust" in capsys.readouterr().out, name


def test_your_own_hook_needs_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "home/.claude/settings.json"
    assert run(["hook", "install", "claude", "--scope", "user"]) == 0
    assert installation.state_of(tmp_path, CLAUDE, "user").current
    assert run(["hook", "install", "claude"]) == run(["hook", "install", "claude", "--scope", "user", "--with-skills"])
    assert "orbit init" in capsys.readouterr().err
    assert run(["hook", "uninstall", "claude", "--scope", "user"]) == 0
    assert not settings.exists()


def test_skills_come_with_the_hook(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    page = root / ".claude/skills/orbit-adr/SKILL.md"
    assert run(["hook", "install", "claude", "--with-skills", "--dry-run"]) == 0
    assert "would write the skill .claude/skills/orbit-adr/SKILL.md" in capsys.readouterr().out
    assert not page.exists()
    assert run(["hook", "install", "claude", "--with-skills"]) == 0
    assert page.is_file()
    capsys.readouterr()
    assert run(["hook", "install", "claude", "--with-skills", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["skills"] == []
    assert run(["hook", "install", "cursor", "--with-skills"]) == 2
    assert "claude, codex" in capsys.readouterr().err
