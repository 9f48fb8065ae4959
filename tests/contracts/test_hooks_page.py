"""The page about hooks says of every agent what its file says."""

from pathlib import Path

import pytest

from orbit_registry.agents.agent import JsonHooks, hook_agents, load_agent
from orbit_registry.hook import client

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/hooks.md").read_text("utf-8")
each_agent = pytest.mark.parametrize("name", hook_agents())


@each_agent
def test_an_agent_stands_on_the_page(name: str) -> None:
    agent = load_agent(name)
    _, _, section = PAGE.partition(f"\n## {agent.title}\n")
    section = section.partition("\n## ")[0]
    evidence = f"{'Proven' if agent.proven else 'Unproven'}: {agent.evidence}."
    assert evidence in " ".join(section.split())
    for scope, file in agent.settings.items():
        assert f"| `{scope}` | `{file.path}`" in section
        assert not file.home or f"`{file.home}`" in section
        if isinstance(file.format, JsonHooks):
            assert [event for event in file.format.events if f"`{event}`" not in section] == []


@each_agent
def test_an_agent_has_recorded_payloads(name: str) -> None:
    module = client.load_agent(name)
    assert callable(module.read)
    assert callable(module.reply)
    if any(isinstance(file.format, JsonHooks) for file in load_agent(name).settings.values()):
        assert list((ROOT / "tests/cases/hooks" / name).glob("*.json")) != []
