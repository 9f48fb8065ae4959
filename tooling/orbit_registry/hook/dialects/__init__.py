"""What each agent sends its hooks and what it understands as a reply: one file an agent, built-in modules only."""

from orbit_registry.hook.call import Call, field, named_paths, path_words
from orbit_registry.hook.context import PROMPT, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.call import Payload

WRITING = frozenset(("edit", "write", "multiedit", "notebookedit"))
READING = frozenset(("read", "notebookread", "read_file", "readfile", "view", "open", "read_many_files", "view_file"))
"""Names of tools, in lower case, which say by a field of their own what they write or read."""


def call_from_payload(payload: "Payload", event: str, surface: str) -> Call:
    """Return a payload's call as most agents say it: whose it is, and what a tool or a prompt names."""
    call = Call(event, surface)
    call.session = field(payload, "session_id", "sessionId")
    call.agent_id = field(payload, "agent_id", "agentId")
    call.agent = field(payload, "agent_type", "agentType")
    call.folder = field(payload, "cwd")
    if surface == TOOL:
        take_tool(call, field(payload, "tool_name", "toolName"), payload.get("tool_input", payload.get("toolInput")))
    elif surface == PROMPT:
        take_prompt(call, field(payload, "prompt"))
    return call


def take_tool(call: Call, tool: str, asked: object) -> None:
    """Take what a tool is asked to do into a call: its paths, whether it writes code, what it reads.

    `asked` is the tool's input: an object, or a text where the tool takes nothing else. `call.folder` has to be known.
    """
    name = tool.casefold()
    if name in WRITING:
        call.task_class = "code"
    elif name not in READING:
        from orbit_registry.hook.tools import take_other  # most calls name a file and need none of it

        take_other(call, name, asked)
        return
    if isinstance(asked, dict):
        call.paths = named_paths(asked)
    if name in READING:
        call.reads = call.paths


def take_prompt(call: Call, text: str) -> None:
    """Take the paths that a prompt names into a call."""
    call.paths_are_heuristic, call.text = True, text
    call.paths = path_words(text)
