"""Consent: a command that a repository's configuration names is run once this user allowed exactly
that one.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import configure, write

from orbit_registry.workspace import trusted_commands
from orbit_registry.workspace.workspace import find_workspace

Shell = Any
WAYS = {
    "tasks.command": ("brief", "--task", "T-7", "--path", "src/app.py"),
    "tasks.classifier": ("brief", "--text", "text.txt"),
    "search.command": ("search", "leap"),
    "brief.sources.capacity": ("brief", "--for", "plan"),
    "brief.sources.work_items": ("pitch",),
    "capture.command": ("capture", "--from", "claude", "talk.jsonl"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def ran(root: Path) -> Path:
    return root.parent / f"ran-{root.name}"


def name_all(root: Path, more: str = "") -> None:
    """Have the configuration name a command under every key; each says where it ran."""
    code = f"import os; open('../ran-' + os.path.basename(os.getcwd()), 'a'); print('{{}}'){more}"
    words = [sys.executable, "-c", code]
    sections = {
        "tasks": {"command": [*words, "{id}"], "classifier": words},
        "search": {"command": words},
        "brief": {"sources": {"capacity": {"command": words}, "work_items": {"command": words}}},
        "capture": {"command": words, "at_session_end": True},
    }
    file = root / ".orbit/config.yaml"
    original = file.read_text("utf-8").split("\n# ours\n")[0]
    file.write_text(
        original
        + "\n# ours\n"
        + "".join(f"{key}: {json.dumps(value)}\n" for key, value in sections.items())
    )
    (root / "text.txt").write_text("Fix the parser", "utf-8")
    talk = Path(__file__).parents[2] / "cases/transcripts/claude-stumble.jsonl"
    (root / "talk.jsonl").write_text(
        talk.read_text("utf-8").replace("/home/ada/project", str(root)), "utf-8"
    )


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def answer(text: str) -> None:
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: text)

    return answer


@pytest.mark.parametrize("key", WAYS)
def test_a_clone_s_command_runs_once_it_was_allowed(shell: Shell, key: str) -> None:
    name_all(shell.root)
    code, _, err = shell(*WAYS[key])
    assert (code, ran(shell.root).exists()) == (0, False)
    assert (
        f"`{key}` was not run: you have not allowed what .orbit/config.yaml names; `orbit trust`"
        in err
    )
    assert shell("trust", "--yes")[0] == 0
    shell(*WAYS[key])
    assert ran(shell.root).exists()


def test_no_other_command_is_run_than_the_one_allowed(
    shell: Shell, at_terminal: Callable[[str], None]
) -> None:
    name_all(shell.root)
    at_terminal("y")
    code, out, _ = shell("trust")
    assert (code, '"import os; open(' in out) == (0, True)
    assert "all of them are allowed" in shell("trust")[1]
    name_all(shell.root, "; 'a\u202e\n'")
    assert "is not what you allowed" in shell("search", "leap")[2]
    at_terminal("n")
    code, out, _ = shell("trust")
    assert (code, "\\u202e\\n" in out, "(changed)" in out) == (130, True, True)
    assert not ran(shell.root).exists()


@pytest.mark.parametrize(
    "words",
    [
        ["./tools/resolve.py"],
        [sys.executable, "tools/../tools/resolve.py"],
        [sys.executable, "-m", "tools.resolve"],
        [sys.executable, "tools"],
        ["sh", "-c", "cat /dev/null; PYTHONPATH=. ./tools/resolve.py"],
        ["./link"],
    ],
    ids=["path", "way", "module", "folder", "shell", "link"],
)
def test_a_script_that_changes_is_asked_about_again(shell: Shell, words: list[str]) -> None:
    tools = shell.root / "tools"
    tools.mkdir()
    (tools / "__init__.py").touch()
    (shell.root / "link").symlink_to("tools/resolve.py")
    code = f"#!{sys.executable}\nopen('{ran(shell.root)}', 'a')\nprint('{{}}')\n"
    for name in ("resolve.py", "__main__.py"):
        (tools / name).write_text(code, "utf-8")
        (tools / name).chmod(0o755)
    configure(shell.root, f"tasks: {json.dumps({'command': [*words, '{id}']})}\n")
    shell("trust", "--yes")
    shell("brief", "--task", "T-7", "--path", "src/app.py")
    assert ran(shell.root).exists()
    ran(shell.root).unlink()

    for name in ("resolve.py", "__main__.py"):
        (tools / name).write_text(f"{code}# and more\n", "utf-8")

    assert (
        "starts a file that changed since you allowed it"
        in shell("brief", "--task", "T-7", "--path", "src/app.py")[2]
    )
    assert not ran(shell.root).exists()
    assert shell.data("trust")["commands"]["tasks.command"]["state"] == "changed"
    shell("trust", "--yes")
    shell("brief", "--task", "T-7", "--path", "src/app.py")
    assert ran(shell.root).exists()


def test_showing_commands_as_json_allows_none(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_all(shell.root)
    monkeypatch.setenv("ORBIT_ACTOR", "agent")

    code, report = shell.json("trust")

    assert code == 0
    assert {command["state"] for command in report["data"]["commands"].values()} == {"new"}
    assert report["next"] == ["orbit trust"]
    assert trusted_commands.allowed(find_workspace(shell.root)) == {}


def test_an_agent_or_a_script_allows_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    name_all(shell.root)
    assert "there is no terminal to ask in" in shell("trust")[2]
    monkeypatch.delenv("ORBIT_ACTOR")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert shell("trust", "--yes")[0] != 0
    assert "nothing is allowed anywhere" in shell("trust", "--list")[1]


def test_consent_is_private_and_can_be_revoked(shell: Shell, home: Path) -> None:
    name_all(shell.root)
    shell("trust", "--yes")
    (file,) = home.rglob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    workspace = find_workspace(shell.root)
    assert trusted_commands.allowed(workspace) == trusted_commands.configured_commands(workspace)
    file.chmod(0o622)
    assert trusted_commands.allowed(workspace) == {}
    file.chmod(0o600)
    assert list(shell.data("trust", "--list")["repositories"]) == [str(shell.root)]
    assert shell.data("trust", "--revoke") == {"revoked": True}
    assert shell.data("trust", "--revoke") == {"revoked": False}
    assert trusted_commands.allowed(workspace) == {}


def test_a_repository_brings_no_consent(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_all(shell.root)
    shell("trust", "--yes")
    shutil.copytree(home, shell.root / "config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(shell.root / "config"))
    assert trusted_commands.allowed(find_workspace(shell.root)) == {}
    assert "a repository could bring it" in shell("trust", "--yes")[2]


def test_only_a_real_work_tree_shares_consent(
    shell: Shell, tmp_path: Path, git: Callable[..., str]
) -> None:
    name_all(shell.root)
    git(shell.root, "commit", "-qam", "Commands")
    shell("trust", "--yes")
    git(shell.root, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = find_workspace(tmp_path / "linked")
    assert trusted_commands.allowed(linked) == trusted_commands.configured_commands(linked) != {}
    for name, leads in (
        ("forged", shell.root / ".git"),
        ("forged-too", shell.root / ".git/worktrees/linked"),
    ):
        forged = tmp_path / name
        shutil.copytree(tmp_path / "linked", forged)
        (forged / ".git").write_text(f"gitdir: {leads}\n", "utf-8")
        assert trusted_commands.allowed(find_workspace(forged)) == {}
    whole_copy = tmp_path / "forged-whole"
    shutil.copytree(tmp_path / "linked", whole_copy)
    write(whole_copy, "meta/commondir", f"{shell.root}/.git\n")
    (whole_copy / "meta/gitdir").write_text(f"{whole_copy}/.git\n", "utf-8")
    (whole_copy / ".git").write_text("gitdir: meta\n", "utf-8")
    assert trusted_commands.allowed(find_workspace(whole_copy)) == {}


@pytest.mark.parametrize(("switch", "runs"), [("on", True), ("off", False)])
def test_the_environment_decides_where_it_is_set(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, switch: str, runs: bool
) -> None:
    name_all(shell.root)
    if not runs:
        shell("trust", "--yes")
    monkeypatch.setenv("ORBIT_PROGRAMS", switch)
    shell("search", "leap")
    assert ran(shell.root).exists() == runs


def test_the_user_s_own_workspace_needs_no_consent(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_all(shell.root)
    monkeypatch.setenv("HOME", ".")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert trusted_commands.allowed(find_workspace(shell.root)) == {}
    monkeypatch.setenv("HOME", str(shell.root))
    shell("search", "leap")
    assert ran(shell.root).exists()


def test_a_session_that_ends_runs_what_was_allowed_alone(shell: Shell) -> None:
    name_all(shell.root)
    words = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "capture",
        "--at-session-end",
        "--from",
        "claude",
        "talk.jsonl",
    ]
    subprocess.run(words, check=True, env={**os.environ, "CLAUDECODE": "1"}, capture_output=True)
    assert not ran(shell.root).exists()
    shell("trust", "--yes")
    subprocess.run(words, check=True, env={**os.environ, "CLAUDECODE": "1"}, capture_output=True)
    assert ran(shell.root).exists()
