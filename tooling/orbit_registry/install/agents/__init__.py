"""The agents that can have our hook, one file each; adding one is adding its file here and its dialect in `push`."""

from __future__ import annotations

import importlib
import pkgutil

from orbit_registry.agents.agent import Agent

NAMES: tuple[str, ...] = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def agent(name: str) -> Agent:
    """Return an agent by its name, one of `NAMES`; only its own module is loaded."""
    found: Agent = importlib.import_module(f"{__name__}.{name}").AGENT
    return found
