"""Our MCP server in each agent's file: what is put in comes out again,
and every other byte stays.
"""

import json
from pathlib import Path

import pytest

from orbit_registry.agents.agent import ROOT, Scope, load_agent
from orbit_registry.agents.install.install import found_agents
from orbit_registry.agents.install.mcp import install_server, server_agents, uninstall_server
from orbit_registry.doors.cli.main import run
from orbit_registry.errors import RefusedError
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace

THEIRS = [
    "{}",
    "{ }\n",
    "{\n}\n",
    '{"KEY": {}}',
    '{"KEY": {\n  }}\n',
    '{\r\n\t"KEY": {"other": {"command": "x"}}\r\n}',
    '{\n  "theme": "x",\n  "KEY": {\n    "other": {"command": "x"}\n  }\n}\n',
    '\ufeff{"a": "}{"}',
    '{"KEY": {"ROOT": {}}}',
    '{\n  "KEY": {\n    "ROOT": {\n      "allowedTools": []\n    }\n  }\n}\n',
    '{"KEY": {"ROOT": {"mcpServers": {\n  "other": {"command": "x"}}}}}',
]
TOML = ["", 'model = "x"', 'model = "x"\n', '[mcp_servers.other]\ncommand = "x"\n\n']
FILES = [(name, scope) for name in server_agents() for scope in load_agent(name).servers]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize(("name", "scope"), FILES)
def test_a_server_comes_and_goes(tmp_path: Path, name: str, scope: Scope) -> None:
    agent = load_agent(name)
    keys = agent.servers[scope].keys
    path = Path(install_server(tmp_path, agent, scope, dry_run=True).path)
    assert not path.exists()
    assert install_server(tmp_path, agent, scope).changed
    assert not install_server(tmp_path, agent, scope).changed
    assert b"orbit-registry" in path.read_bytes()
    assert uninstall_server(tmp_path, agent, scope).changed
    assert not path.exists()

    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (
        [text.replace("KEY", keys[0]).replace("ROOT", str(tmp_path)) for text in THEIRS]
        if keys
        else TOML
    )
    for theirs in (text.encode() for text in texts):
        path.write_bytes(theirs)
        assert install_server(tmp_path, agent, scope).changed, theirs
        assert not install_server(tmp_path, agent, scope).changed
        assert uninstall_server(tmp_path, agent, scope).changed
        assert path.read_bytes() == theirs
        assert not uninstall_server(tmp_path, agent, scope).changed


@pytest.mark.parametrize(("name", "scope"), FILES)
def test_another_server_of_our_name_stays(tmp_path: Path, name: str, scope: Scope) -> None:
    agent = load_agent(name)
    path = install_server(tmp_path, agent, scope, dry_run=True).path
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs, empty = '[mcp_servers.orbit]\ncommand = "x"\n', "[mcp_servers.orbit]\n"
    if keys := agent.servers[scope].keys:
        theirs, empty = '{"orbit": {"command": "x"}}', '{"orbit": null}'
        for key in reversed(keys):
            theirs, empty = (
                f'{{"{key.replace(ROOT, str(tmp_path))}": {inner}}}' for inner in (theirs, empty)
            )
    for text, message in (
        (theirs, "another server"),
        (empty, "another server"),
        ("[", "valid"),
        ('"x"', "no object|valid"),
    ):
        path.write_text(text)
        with pytest.raises(RefusedError, match=message):
            install_server(tmp_path, agent, scope)
        assert path.read_text() == text
    path.write_text(theirs)
    assert not uninstall_server(tmp_path, agent, scope).changed


def test_the_default_is_for_you_alone(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    setup_workspace(root, load_kinds())
    monkeypatch.chdir(root)
    assert run(["mcp", "install", "claude"]) == 0
    assert json.loads((home / ".claude.json").read_text())["projects"][str(root)][
        "mcpServers"
    ].keys() == {"orbit"}
    assert not (root / ".mcp.json").exists()
    assert run(["mcp", "install", "cursor"]) == 0
    assert (
        "it acts in all your projects that have .orbit/; `--scope project`"
        in capsys.readouterr().out
    )
    assert run(["mcp", "install", "claude", "--scope", "project"]) == 0
    assert "GitHub Copilot reads this file too\ngit shares this file" in capsys.readouterr().out
    assert run(["mcp", "uninstall", "claude"]) == 0
    assert (
        f"it is still in {root}/.mcp.json: `orbit mcp uninstall claude --scope project`"
        in capsys.readouterr().out
    )
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "moved"))
    assert run(["mcp", "install", "claude", "--scope", "user"]) == 0
    assert json.loads((home / "moved/.claude.json").read_text())["mcpServers"].keys() == {"orbit"}
    assert run(["mcp", "install", "codex", "--scope", "local"]) == 1
    assert "choose --scope user or --scope project" in capsys.readouterr().err
    assert run(["mcp", "install", "generic"]) == 2
    assert "generic" not in capsys.readouterr().err.partition("not one of")[2]


def test_a_large_file_is_changed_and_a_linked_one_is_not(tmp_path: Path, home: Path) -> None:
    home.mkdir()
    file = home / ".claude.json"
    file.write_text(json.dumps({"history": "x" * 6_000_000}))
    assert install_server(tmp_path, load_agent("claude")).changed

    file.rename(home / "own.json")
    file.symlink_to("own.json")
    with pytest.raises(RefusedError, match="symbolic link") as caught:
        install_server(tmp_path, load_agent("claude"))
    assert "hook" not in str(caught.value.hint)


def test_agents_are_found_by_their_folders(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for folder in (
        root / ".cursor",
        root / ".github/workflows",
        tmp_path / "home/.codex",
        tmp_path / "home/.config",
    ):
        folder.mkdir(parents=True)
    assert found_agents(root) == ["codex", "cursor"]
    (tmp_path / "home/.config/opencode").mkdir()
    assert found_agents(root) == ["codex", "cursor", "opencode"]
