"""Cursor's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

A reply holds context alone: `permission`, which Cursor takes beside it, is for the person to give.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import SESSION, TOOL
from orbit_registry.hook.dialects import take_tool
from orbit_registry.hook.payload import parse_embedded, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

SURFACES = {
    "preToolUse": TOOL, "postToolUse": TOOL, "postToolUseFailure": TOOL, "sessionStart": SESSION,
    "subagentStart": SESSION,
}  # fmt: skip
"""The events that take context as their answer, and what is going on then. What a prompt is answered with was dropped
by earlier versions, so a prompt is not among them: a record would count as shown that was not."""
NOTED = {"stop": "stop", "subagentStop": "subagent stop", "sessionEnd": "session end", "preCompact": "compaction"}
"""The events that are written down, and not answered."""


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "hook_event_name", "hookEventName")
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    call = Call(event, surface)
    call.session = field(payload, "conversation_id", "conversationId", "session_id", "sessionId")
    call.folder = field(payload, "cwd")
    if not call.folder:
        roots = payload.get("workspace_roots", payload.get("workspaceRoots"))
        call.folder = next((one for one in roots if isinstance(one, str)), "") if isinstance(roots, list) else ""
    if surface == TOOL:
        asked = parse_embedded(payload.get("tool_input", payload.get("toolInput")))
        take_tool(call, field(payload, "tool_name", "toolName"), asked)
        if event == "postToolUseFailure":
            call.error = field(payload, "error_message", "errorMessage", "error")
    elif event == "subagentStart":
        call.agent = field(payload, "subagent_type", "subagentType", "agent_type")
        call.agent_id = field(payload, "subagent_id", "subagentId", "agent_id")
        if not call.agent_id:
            call.session = ""  # it has seen nothing of what its parent was shown
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.context_was_compacted = event == "preCompact"
    return call


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text."""
    return to_json({"additional_context": text}) + "\n" if text else ""
