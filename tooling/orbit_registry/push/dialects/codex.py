"""Codex CLI's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

A reply adds context and holds no further key: Codex throws a whole reply away for one that it does not know.
"""

from orbit_registry.push.call import Call, field, taken
from orbit_registry.push.json_text import written
from orbit_registry.push.select import PROMPT, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.push.call import Payload
    from orbit_registry.push.json_text import Written

SURFACES = {
    "PreToolUse": TOOL, "PostToolUse": TOOL, "UserPromptSubmit": PROMPT, "SessionStart": SESSION,
    "SubagentStart": SESSION,
}  # fmt: skip
"""The events that take context as their answer, and what is going on then."""
NOTED = {"Stop": "stop", "SubagentStop": "subagent stop", "SessionEnd": "session end", "PostCompact": "compacted"}
"""The events that are written down, and not answered."""
FORGETTING = ("compact", "clear")


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "hook_event_name", "hookEventName")
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    call = taken(payload, event, surface)
    if event == "SessionStart":
        source = field(payload, "source")
        call.forgets = source in FORGETTING
        call.greets = source != "compact"
    elif event in NOTED:
        call.notes = NOTED[event]
        call.transcript = field(payload, "transcript_path") if event == "SessionEnd" else ""
        call.forgets = call.forgets_again = event == "PostCompact"
    return call


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text, and the person the call's message."""
    said: dict[str, Written] = {}
    if text:
        said["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": text}
    if call.message:
        said["systemMessage"] = call.message
    return written(said) + "\n"
