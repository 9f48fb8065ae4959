"""GitHub Copilot's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

Events asked for in camel case come without their name, which is told by the fields that each has; those in Pascal case
come with it, in snake case. Before a tool runs no context is taken, a prompt's answer is dropped, and after a failed
tool a text is taken only from a hook that fails, which ours never does: none of them is answered, because a record
would count as shown that was not.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import SESSION, TOOL
from orbit_registry.hook.dialects import take_tool
from orbit_registry.hook.payload import parse_embedded, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

SURFACES = {"postToolUse": TOOL, "sessionStart": SESSION, "subagentStart": SESSION}
"""The events that take context as their answer, and what is going on then."""
NOTED = {
    "agentStop": "stop", "stop": "stop", "subagentStop": "subagent stop", "sessionEnd": "session end",
    "preCompact": "compaction",
}  # fmt: skip
"""The events that are written down, and not answered."""
ARGUMENTS = ("toolArgs", "tool_input", "toolInput")


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    named = field(payload, "hook_event_name", "hookEventName")
    event = named[:1].lower() + named[1:] if named else _event(payload)
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    call = Call(named or event, surface)
    call.session = field(payload, "sessionId", "session_id")
    call.folder = field(payload, "cwd")
    if surface == TOOL:
        asked = next((payload[name] for name in ARGUMENTS if name in payload), None)
        take_tool(call, field(payload, "toolName", "tool_name"), parse_embedded(asked))
    elif event == "subagentStart":
        call.agent = field(payload, "agentName", "agent_name", "agent_type")
        call.agent_id = field(payload, "agentId", "agent_id")
        if not call.agent_id:
            call.session = ""  # it has seen nothing of what its parent was shown
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.context_was_compacted = event == "preCompact"
    return call


def _event(payload: "Payload") -> str:
    """Return which event a payload without a name is, by the fields that this event alone has; empty for others."""
    if "toolName" in payload:
        return "postToolUse" if "toolResult" in payload else ""
    if "source" in payload:
        return "sessionStart"
    if "trigger" in payload:
        return "preCompact"
    if "agentName" in payload:
        return "subagentStop" if "stopReason" in payload else "subagentStart"
    if "stopReason" in payload:
        return "agentStop"
    return "sessionEnd" if "reason" in payload else ""


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text, in the form of the payload that asked for it."""
    if not text:
        return ""
    if call.event in SURFACES:
        return to_json({"additionalContext": text}) + "\n"
    return to_json({"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}}) + "\n"
