"""Our MCP server in each agent's file: what is put in comes out again, and every other byte stays."""

from pathlib import Path

import pytest

from orbit_registry.agents.agent import load_agent
from orbit_registry.errors import RefusedError
from orbit_registry.install.install import found_agents
from orbit_registry.install.mcp import install_server, server_agents, sharing_agents, uninstall_server

THEIRS = [
    "{}", "{ }\n", "{\n}\n", '{"KEY": {}}', '{"KEY": {\n  }}\n', '{\r\n\t"KEY": {"other": {"command": "x"}}\r\n}',
    '{\n  "theme": "x",\n  "KEY": {\n    "other": {"command": "x"}\n  }\n}\n', '\ufeff{"a": "}{"}',
]  # fmt: skip
TOML = ['model = "x"', 'model = "x"\n', '[mcp_servers.other]\ncommand = "x"\n\n']


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("name", server_agents())
def test_a_server_comes_and_goes(tmp_path: Path, name: str) -> None:
    agent = load_agent(name)
    assert agent.servers is not None
    key = agent.servers.key
    path = Path(install_server(tmp_path, agent, dry_run=True).path)
    assert not path.exists()
    assert install_server(tmp_path, agent).changed
    assert not install_server(tmp_path, agent).changed
    assert b"orbit-registry" in path.read_bytes()
    assert uninstall_server(tmp_path, agent).changed
    assert not path.exists()

    path.parent.mkdir(parents=True, exist_ok=True)
    for theirs in (text.replace("KEY", key).encode() for text in (THEIRS if key else TOML)):
        path.write_bytes(theirs)
        assert install_server(tmp_path, agent).changed, theirs
        assert not install_server(tmp_path, agent).changed
        assert uninstall_server(tmp_path, agent).changed
        assert path.read_bytes() == theirs
        assert not uninstall_server(tmp_path, agent).changed


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_another_server_of_our_name_stays(tmp_path: Path, name: str) -> None:
    agent = load_agent(name)
    path = install_server(tmp_path, agent, dry_run=True).path
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs = (
        '{"mcpServers": {"orbit": {"command": "x"}}}' if name == "claude" else '[mcp_servers.orbit]\ncommand = "x"\n'
    )
    for text, message in ((theirs, "another server"), ("[", "valid")):
        path.write_text(text)
        with pytest.raises(RefusedError, match=message):
            install_server(tmp_path, agent)
        assert path.read_text() == text
    path.write_text(theirs)
    assert not uninstall_server(tmp_path, agent).changed


def test_agents_are_found_by_their_folders(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for folder in (root / ".cursor", root / ".github/workflows", tmp_path / "home/.codex", tmp_path / "home/.config"):
        folder.mkdir(parents=True)
    assert found_agents(root) == ["codex", "cursor"]
    (tmp_path / "home/.config/opencode").mkdir()
    assert found_agents(root) == ["codex", "cursor", "opencode"]


def test_the_agents_that_read_one_file_are_named() -> None:
    assert sharing_agents(load_agent("claude")) == "GitHub Copilot"
    assert sharing_agents(load_agent("cursor")) == ""
