"""Claude Code's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

A reply adds context. It never holds a decision about a permission, nor another input for the tool.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import PROMPT, SESSION, TOOL
from orbit_registry.hook.dialects import call_from_payload
from orbit_registry.hook.payload import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

SURFACES = {
    "PreToolUse": TOOL, "PostToolUse": TOOL, "PostToolUseFailure": TOOL, "UserPromptSubmit": PROMPT,
    "SessionStart": SESSION, "SubagentStart": SESSION,
}  # fmt: skip
"""The events that take context as their answer, and what is going on then."""
NOTED = {
    "Stop": "stop", "SubagentStop": "subagent stop", "SessionEnd": "session end", "PreCompact": "compaction",
    "PostCompact": "compacted", "InstructionsLoaded": "loaded",
}  # fmt: skip
"""The events that are written down, and not answered."""
FORGETTING = ("compact", "clear")
"""How a session may start so that what it was shown is no longer before the agent."""


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "hook_event_name", "hookEventName")
    surface = SURFACES.get(event, "")
    if (not surface and event not in NOTED) or _is_anothers(payload):
        return None
    call = call_from_payload(payload, event, surface)
    if event == "PostToolUseFailure":
        call.error = field(payload, "error")
    elif event == "SessionStart":
        source = field(payload, "source")
        call.context_was_compacted = source in FORGETTING
        call.can_show_message = source != "compact"
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.is_stop = event == "Stop" and payload.get("stop_hook_active") is False
        call.transcript = field(payload, "transcript_path") if event == "SessionEnd" else ""
        call.context_was_compacted = event in ("PreCompact", "PostCompact")
        call.compaction_may_repeat = event == "PostCompact"
        call.instruction_file = field(payload, "file_path", "filePath") if event == "InstructionsLoaded" else ""
    return call


def _is_anothers(payload: "Payload") -> bool:
    """Say whether another agent sent a payload, one that reads these settings too and may not show the answer: it has
    a hook of its own, and a record that this one answered with would count as shown."""
    return ("timestamp" in payload and "permission_mode" not in payload) or "conversation_id" in payload


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text, and the person the call's message."""
    context = f'"hookSpecificOutput": {{"hookEventName": {quoted(call.event)}, "additionalContext": {quoted(text)}}}, '
    said = f'"systemMessage": {quoted(call.message)}, ' if call.message else ""
    return f'{{{context if text else ""}{said}"suppressOutput": true}}\n'
