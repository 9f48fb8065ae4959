"""Gemini CLI's hooks: what a payload means, and what a reply looks like; it chooses nothing and reads no file.

Before a tool runs it takes no context, so a call is answered after it. What it shows its model has `<` and `>` written
out, so here the block begins and ends with words in brackets.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import PROMPT, SESSION, TOOL
from orbit_registry.hook.dialects import call_from_payload
from orbit_registry.hook.payload import to_json
from orbit_registry.hook.render import END, START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload
    from orbit_registry.hook.payload import JsonValue

SURFACES = {"AfterTool": TOOL, "BeforeAgent": PROMPT, "SessionStart": SESSION}
"""The events that take context as their answer, and what is going on then."""
NOTED = {"AfterAgent": "stop", "SessionEnd": "session end", "PreCompress": "compaction"}
"""The events that are written down, and not answered."""
BEGIN, FINISH = "[project notes]", "[end of project notes]"


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "hook_event_name", "hookEventName")
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    call = call_from_payload(payload, event, surface)
    if surface == TOOL:
        answered = payload.get("tool_response", payload.get("toolResponse"))
        if isinstance(answered, dict) and answered.get("error"):
            wrong = answered["error"]
            call.error = field(wrong, "message") if isinstance(wrong, dict) else str(wrong)
    elif surface == SESSION:
        call.context_was_compacted = field(payload, "source") == "clear"
        call.can_show_message = True
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.transcript = field(payload, "transcript_path") if event == "SessionEnd" else ""
        # Before each request it says "auto", whether it then compresses or not; only "manual" always does.
        call.context_was_compacted = event == "PreCompress" and field(payload, "trigger") == "manual"
    return call


def reply(call: Call, text: str) -> str:
    """Return what is printed so that the agent sees a text, and the person the call's message."""
    said: dict[str, JsonValue] = {"suppressOutput": True}
    if text:
        for mark in (BEGIN, FINISH):  # what a record says can't end the block
            text = text.replace(mark, f"({mark[1:-1]})")
        text = text.replace(START, BEGIN).replace(END, FINISH)
        said["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": text}
    if call.message:
        said["systemMessage"] = call.message
    return to_json(said) + "\n"
