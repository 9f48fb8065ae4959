"""Says who is writing: a person, or an agent by the markers its host sets; it does not decide what they may do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import UsageError
from orbit_registry.workspace.git import Git

ROLES = ("human", "agent")
AGENT_MARKERS: Mapping[str, str] = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "CURSOR_AGENT": "cursor",
    "CURSOR_TRACE_ID": "cursor",
    "COPILOT_AGENT": "copilot",
    "OPENCODE": "opencode",
    "AIDER_MODEL": "aider",
    "GROK_CLI": "grok",
}
"""Environment variables that a coding agent sets for the commands it runs, and the agent each one means."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: a person or an agent, and the agent's model."""

    name: str
    role: str
    model: str | None = None

    def as_data(self) -> dict[str, object]:
        """Return the author as records state it."""
        data: dict[str, object] = {"name": self.name, "role": self.role}
        return {**data, "model": self.model} if self.model else data


@dataclass(frozen=True, slots=True)
class Review:
    """Who decides on a record that waits, as they name themselves, and why; empty for whoever runs this.

    `expected` is the digest of what they read; where it is given, they decide on nothing else.
    """

    by: str = ""
    reason: str = ""
    expected: str = ""


def current_author(git: Git, *, model: str | None = None, environment: Mapping[str, str] | None = None) -> Author:
    """Return who runs this command. `ORBIT_ACTOR=human|agent` decides where it is set.

    Raises:
        UsageError: `ORBIT_ACTOR` is neither.
    """
    env = os.environ if environment is None else environment
    role, agent = acting_role(env), _marked_agent(env)
    model = _one_line(model or env.get("ORBIT_MODEL") if role == "agent" else model)
    if role == "agent":
        return Author(_one_line(env.get("ORBIT_AGENT")) or agent or "agent", role, model)
    name = git.ask("config", "user.name") or env.get("USER") or env.get("USERNAME")
    return Author(_one_line(name) or "unknown", role, model)


def acting_role(environment: Mapping[str, str] | None = None) -> str:
    """Return `human` or `agent`: who runs this process, by its environment.

    Raises:
        UsageError: `ORBIT_ACTOR` is neither.
    """
    env = os.environ if environment is None else environment
    role = env.get("ORBIT_ACTOR") or ("agent" if _marked_agent(env) else "human")
    if role not in ROLES:
        raise UsageError(f"ORBIT_ACTOR is {role!r}", hint="set it to human or agent")
    return role


def _marked_agent(env: Mapping[str, str]) -> str | None:
    return next((name for marker, name in AGENT_MARKERS.items() if env.get(marker)), None)


def _one_line(text: str | None) -> str | None:
    """Return a name as a record can hold it: one line, 200 characters; None where there is none."""
    return " ".join((text or "").split())[:200].strip() or None
