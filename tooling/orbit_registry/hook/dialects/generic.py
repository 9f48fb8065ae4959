"""A hook for any tool that can run a command: an object in, an object or plain text out; it reads no file.

What both hold is published as `docs/schemas/hook-call.schema.json` and `hook-reply.schema.json`.
"""

from orbit_registry.hook.call import MOST_PATHS, Call, field
from orbit_registry.hook.context import PROMPT, SESSION, TOOL
from orbit_registry.hook.dialects import take_tool
from orbit_registry.hook.payload import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

SURFACES = {
    "tool": TOOL, "tool-done": TOOL, "tool-failed": TOOL, "prompt": PROMPT, "session-start": SESSION,
    "subagent-start": SESSION,
}  # fmt: skip
"""The events that are answered, and what is going on then."""
NOTED = {
    "stop": "stop", "subagent-stop": "subagent stop", "session-end": "session end", "compaction": "compaction",
    "compacted": "compacted",
}  # fmt: skip
"""The events that are written down, and not answered."""
FORGETTING = ("compact", "clear")


class GenericCall(Call):
    """A call whose caller says whether it wants plain text."""

    __slots__ = ("plain",)

    def __init__(self, event: str, surface: str) -> None:
        super().__init__(event, surface)
        self.plain = False


def read(payload: "Payload") -> Call | None:
    """Return what a payload asks; None where it is no event of ours. Unknown and missing fields are normal."""
    event = field(payload, "event")
    surface = SURFACES.get(event, "")
    if not surface and event not in NOTED:
        return None
    call = GenericCall(event, surface)
    call.session, call.agent_id = field(payload, "session"), field(payload, "agent_id")
    call.agent, call.folder = field(payload, "agent"), field(payload, "cwd")
    call.plain = payload.get("reply") == "text"
    if surface == TOOL:
        take_tool(call, field(payload, "tool"), payload.get("input", {}))
        call.error = field(payload, "error") if event == "tool-failed" else ""
        call.task_class = "code" if payload.get("writes") is True else call.task_class
    elif surface == PROMPT:
        from orbit_registry.hook.dialects import take_prompt

        take_prompt(call, field(payload, "text"))
    elif event in NOTED:
        call.log_only_event = NOTED[event]
        call.context_was_compacted = event in ("compaction", "compacted")
        call.compaction_may_repeat = event == "compacted"
    else:
        source = field(payload, "source")
        call.context_was_compacted = source in FORGETTING
        call.can_show_message = event == "session-start" and source not in ("compact", "resume")
    named = payload.get("paths")
    if isinstance(named, list):
        more = [one for one in named[:MOST_PATHS] if isinstance(one, str) and one and one not in call.paths]
        call.paths = call.paths + more
    return call


def reply(call: Call, text: str) -> str:
    """Return what is printed: the text as it is, or an object with it and with what the person may be told."""
    if isinstance(call, GenericCall) and call.plain:
        return f"{text}\n" if text else ""
    said = [f'"{key}": {quoted(one)}' for key, one in (("context", text), ("message", call.message)) if one]
    return f"{{{', '.join(said)}}}\n"
