"""Owns what the configuration says of learnings for agents: which categories, how many, how long kept; chooses none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from orbit_registry.text.yaml import load

SECTION, MAPPING = "learnings_config", "agent_category_mapping"
GENERAL = "general"
"""The category of what is for everybody: what an agent that nobody knows is briefed with."""
_APART = re.compile(r"[\s_]+")


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories an agent is briefed with; `known` says whether a mapping names the agent."""

    names: tuple[str, ...]
    known: bool


def agent_name(said: str) -> str:
    """Return an agent's name in the one form in which names are compared."""
    return _APART.sub("-", said.strip()).casefold()


@cache
def default_mapping() -> Mapping[str, tuple[str, ...]]:
    """Return the table that is shipped: an agent's name, its categories."""
    text = Path(__file__).with_name("agent_categories.yaml").read_text(encoding="utf-8")
    return _mapping(load(text))


def _mapping(said: object) -> dict[str, tuple[str, ...]]:
    held = said if isinstance(said, Mapping) else {}
    return {agent_name(name): tuple(dict.fromkeys(names)) for name, names in held.items()}


@dataclass(frozen=True, slots=True)
class LearningsConfig:
    """The section `learnings_config`, defaults filled in: agents of the shipped table that it does not name too."""

    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=default_mapping)
    per_category: int = 5
    tokens: int = 1000
    ttl_seconds: float = 300

    def categories_for(self, agent: str) -> Categories | None:
        """Return what an agent is briefed with; None where nobody says which agent it is: nothing is narrowed then.

        Case, and whether words are parted by `-`, `_` or a space, make no difference.
        """
        name = agent_name(agent)
        if not name:
            return None
        named = self.mapping.get(name)
        return Categories((GENERAL,), False) if named is None else Categories(named, True)


def learnings_config(section: Mapping[str, Any]) -> LearningsConfig:
    """Return the values of a section that is valid by the configuration's schema."""
    default = LearningsConfig()
    return LearningsConfig(
        {**default.mapping, **_mapping(section.get(MAPPING, {}))},
        section.get("max_learnings_per_category", default.per_category),
        section.get("max_total_tokens", default.tokens),
        section.get("cache_ttl_seconds", default.ttl_seconds),
    )


def mapping_lines() -> Sequence[str]:
    """Return the shipped table as lines of YAML, for a new configuration to show."""
    return [f"{name}: [{', '.join(names)}]" for name, names in default_mapping().items()]
