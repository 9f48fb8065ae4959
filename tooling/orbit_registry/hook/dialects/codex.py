"""Codex CLI's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

A reply adds context and holds no further key: Codex throws a whole reply away for one that it does not know.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import PROMPT, SESSION, TOOL
from orbit_registry.hook.dialects import call_from_payload
from orbit_registry.hook.payload import parse_json, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.payload import JsonValue

SURFACES = {
    "PreToolUse": TOOL, "PostToolUse": TOOL, "UserPromptSubmit": PROMPT, "SessionStart": SESSION,
    "SubagentStart": SESSION,
}  # fmt: skip
"""The events that take context as their answer, and what is going on then."""
NOTED = {"Stop": "stop", "SubagentStop": "subagent stop", "SessionEnd": "session end", "PostCompact": "compacted"}
"""The events that are written down, and not answered."""
FORGETTING = ("compact", "clear")
_CODES = ("Exit code: ", "Process exited with code ")
"""How the text of a shell begins, the exit code behind it."""


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "hook_event_name", "hookEventName")
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    failed = _failure(payload.get("tool_response")) if event == "PostToolUse" else ""
    if event == "PostToolUse" and not failed:
        return None  # what ran well was answered before it ran
    call = call_from_payload(payload, event, surface)
    call.error = failed
    if event == "SessionStart":
        source = field(payload, "source")
        call.context_was_compacted = source in FORGETTING
        call.can_show_message = source != "compact"
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.transcript = field(payload, "transcript_path") if event == "SessionEnd" else ""
        call.context_was_compacted = call.compaction_may_repeat = event == "PostCompact"
    return call


def _failure(said: object) -> str:
    """Return what a tool printed that failed; empty where it did not, or where nothing says so.

    A shell's answer is an object with an exit code, the same as JSON, or a text that begins with it; one of an MCP
    server says `isError`.
    """
    if isinstance(said, str):
        if said[:1] != "{":
            head = next((said[len(one) :] for one in _CODES if said.startswith(one)), "0")
            return said if head.partition("\n")[0].strip() != "0" else ""
        try:
            said = parse_json(said)
        except (ValueError, StopIteration, RecursionError):
            return ""
    if not isinstance(said, dict):
        return ""
    within = said.get("metadata")
    code = (within if isinstance(within, dict) else said).get("exit_code", 0)
    if code in (0, None) and said.get("success", True) is not False and said.get("isError") is not True:
        return ""
    found = field(said, "output", "aggregated_output", "stderr", "error", "message", "content")
    parts = said.get("content")
    for one in parts if isinstance(parts, list) else ():
        found += field(one, "text") if isinstance(one, dict) else ""
    return found


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text, and the person the call's message."""
    said: dict[str, JsonValue] = {}
    if text:
        said["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": text}
    if call.message:
        said["systemMessage"] = call.message
    return to_json(said) + "\n"
