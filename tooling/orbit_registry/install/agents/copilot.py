"""GitHub Copilot: where its settings are, which of its events we ask for, and what it takes as an answer."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, SPECIFIC, Agent, SettingsFile, flat, nested
from orbit_registry.install.settings import Entries

ANSWERED = {"sessionStart": "", "postToolUse": "", "subagentStart": ""}
EVENTS = {**ANSWERED, "preCompact": "", "agentStop": ""}
"""Without matchers: one that it can't read makes it leave out the entry, and names of tools differ by version."""
HANDLER = {"type": "command", "bash": "", "timeoutSec": 5}
INLINE = Entries(EVENTS, HANDLER, "bash", grouped=False)
OWN = Entries(EVENTS, HANDLER, "bash", grouped=False, head={"version": 1})

AGENT = Agent(
    name="copilot",
    title="GitHub Copilot",
    evidence="its 1.0.102 was run: what the hook says stands in the next request to its model, once",
    proven=True,
    settings={
        "local": SettingsFile(".github/copilot/settings.local.json", INLINE),
        "project": SettingsFile(".github/hooks/orbit.json", OWN),
        "user": SettingsFile("~/.copilot/hooks/orbit.json", OWN, "COPILOT_HOME"),
    },
    payload={
        "sessionId": SESSION,
        "timestamp": 1767225600000,
        "cwd": ROOT,
        "toolName": "edit",
        "toolArgs": {"path": PATH, "old_str": "before", "new_str": "after"},
        "toolResult": {"resultType": "success", "textResultForLlm": "done"},
    },
    event="postToolUse",
    replies={
        **flat(ANSWERED, "additionalContext"),
        **nested(event[0].upper() + event[1:] for event in ANSWERED),  # as an editor asks, and is answered
    },
    texts=(("additionalContext",), SPECIFIC),
    after="Copilot runs the hooks of a project only where you trust its folder: start it there once, and say so.",
)
