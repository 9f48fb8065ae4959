"""The page about hooks says of every agent what its file in `hooks/agents` says; an agent has all of its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit_registry.hook.client import dialect
from orbit_registry.install import agents
from orbit_registry.install.settings import Entries

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/hooks.md").read_text("utf-8")
each_agent = pytest.mark.parametrize("name", agents.NAMES)


@each_agent
def test_an_agent_stands_on_the_page(name: str) -> None:
    """Under its name: that it is unproven and how it was checked, every settings file, every moment it is asked for."""
    agent = agents.agent(name)
    _, _, rest = PAGE.partition(f"\n## {agent.title}\n")
    section = rest.partition("\n## ")[0]
    evidence = f"{'Proven' if agent.proven else 'Unproven'}: {agent.evidence}."
    assert evidence in " ".join(section.split())
    for scope, file in agent.settings.items():
        assert f"| `{scope}` | `{file.path}`" in section
        assert not file.home or f"`{file.home}`" in section
        if isinstance(file.format, Entries):
            assert [event for event in file.format.events if f"`{event}`" not in section] == []


@each_agent
def test_an_agent_has_a_dialect_and_recorded_payloads(name: str) -> None:
    """Adding an agent is adding its file, its dialect and what it sends."""
    spoken = dialect(name)
    assert callable(spoken.read)
    assert callable(spoken.reply)
    if any(isinstance(file.format, Entries) for file in agents.agent(name).settings.values()):
        assert list((ROOT / "tests/cases/hooks" / name).glob("*.json")) != []
