"""Author of a change: a person, or an agent known by its environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import UsageError
from orbit_registry.workspace.git import Git

ROLES = ("human", "agent")
UNKNOWN = "unknown"  # the name of a person whom neither git nor the system names
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
"""Environment variables that coding agents set for the commands they run, and the agent's name."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: a person or an agent, and the agent's model."""

    name: str
    role: str
    model: str | None = None

    def as_data(self) -> dict[str, object]:
        """Return the author as records store it."""
        data: dict[str, object] = {"name": self.name, "role": self.role}
        if self.model:
            data["model"] = self.model
        return data


@dataclass(frozen=True, slots=True)
class Review:
    """Who decides on a pending record, and the reason;
    `expected` is the digest of the text they read.
    """

    by: str = ""
    reason: str = ""
    expected: str = ""


def current_author(
    git: Git, *, model: str | None = None, environment: Mapping[str, str] | None = None
) -> Author:
    """Return the author who runs this command;
    `ORBIT_ACTOR=human|agent` overrides the detection.
    """
    env = os.environ if environment is None else environment
    role = acting_role(env)
    if role == "agent":
        agent = _one_line(env.get("ORBIT_AGENT")) or _marked_agent(env) or "agent"
        return Author(agent, role, _one_line(model or env.get("ORBIT_MODEL")))

    names = (env.get(name) for name in ("GIT_AUTHOR_NAME", "USER", "USERNAME"))
    name = git.ask("config", "user.name") or next(filter(_one_line, names), None)
    return Author(_one_line(name) or UNKNOWN, role, _one_line(model))


def acting_role(environment: Mapping[str, str] | None = None) -> str:
    """Return `human` or `agent`: who runs this process."""
    env = os.environ if environment is None else environment
    role = env.get("ORBIT_ACTOR") or ("agent" if _marked_agent(env) else "human")
    if role not in ROLES:
        raise UsageError(f"ORBIT_ACTOR is {role!r}", hint="set it to human or agent")
    return role


def _marked_agent(env: Mapping[str, str]) -> str | None:
    return next((name for marker, name in AGENT_MARKERS.items() if env.get(marker)), None)


def _one_line(text: str | None) -> str | None:
    return " ".join((text or "").split())[:200].strip() or None
