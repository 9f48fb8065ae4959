"""Any tool that can run a command: our script takes an object, and answers with one or with text.

Both are published as `docs/schemas/hook-call.schema.json` and `hook-reply.schema.json`.
"""

from orbit_registry.hook.call import MOST_PATHS, Call, field
from orbit_registry.hook.payload import take_prompt, take_tool, to_json
from orbit_registry.model.reach import PROMPT, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.agents.agent import Agent
    from orbit_registry.hook.call import Payload

SURFACES = {
    "tool": TOOL,
    "tool-done": TOOL,
    "tool-failed": TOOL,
    "prompt": PROMPT,
    "session-start": SESSION,
    "subagent-start": SESSION,
}
LOGGED = {
    "stop": "stop",
    "subagent-stop": "subagent stop",
    "session-end": "session end",
    "compaction": "compaction",
    "compacted": "compacted",
}


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    event = field(payload, "event")
    surface = SURFACES.get(event, "")
    if not surface and event not in LOGGED:
        return None

    call = Call(event, surface)
    call.session = field(payload, "session")
    call.agent_id = field(payload, "agent_id")
    call.agent = field(payload, "agent")
    call.folder = field(payload, "cwd")
    call.is_plain = payload.get("reply") == "text"

    if surface == TOOL:
        take_tool(call, field(payload, "tool"), payload.get("input", {}))
        if event == "tool-failed":
            call.error = field(payload, "error")
        if payload.get("writes") is True:
            call.task_class = "code"
    elif surface == PROMPT:
        take_prompt(call, field(payload, "text"))
    elif event in LOGGED:
        call.log_only_event = LOGGED[event]
        call.context_was_compacted = event in ("compaction", "compacted")
    else:
        source = field(payload, "source")
        call.context_was_compacted = source in ("compact", "clear")
        call.can_show_message = event == "session-start" and source not in ("compact", "resume")

    paths = payload.get("paths")
    if isinstance(paths, list):
        texts = (path for path in paths[:MOST_PATHS] if isinstance(path, str) and path)
        call.paths = call.paths + [path for path in texts if path not in call.paths]

    return call


def reply(call: Call, text: str) -> str:
    """Return the text, or an object with it and with the message for the person."""
    if call.is_plain:
        if text:
            return f"{text}\n"

        return ""

    members = {"context": text, "message": call.message}
    return to_json({name: value for name, value in members.items() if value}) + "\n"


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents.agent import (
        PATH,
        ROOT,
        SESSION,
        TEXT,
        Agent,
        CommandFile,
        SettingsFile,
        flat,
    )

    return Agent(
        name="generic",
        title="Any other tool",
        evidence="what it takes and answers is our own, and published as a schema",
        settings={
            "local": SettingsFile(
                ".orbit/state/hook-generic.sh", CommandFile("generic_hook.sh", "shell")
            )
        },
        payload={
            "event": "tool",
            "session": SESSION,
            "cwd": ROOT,
            "tool": "edit",
            "input": {"file_path": PATH},
        },
        event="tool",
        replies=flat(SURFACES, "context", message=TEXT),
        texts=(("context",),),
        after=(
            "Let your tool run `sh .orbit/state/hook-generic.sh` with the call on its standard "
            "input."
        ),
    )
