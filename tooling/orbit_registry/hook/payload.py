"""JSON of payloads and replies, and the call that most agents' payloads state.

The `json` package costs more to import than a call takes, so `_json` is used where it is as
expected.
"""

from orbit_registry.hook.call import Call, field, named_paths, path_words
from orbit_registry.model.reach import CODE, PROMPT, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orbit_registry.hook.call import Payload

    JsonValue = str | bool | int | float | None | Mapping[str, "JsonValue"] | Sequence["JsonValue"]

    def quoted(text: str) -> str:
        """Return a text as JSON, in ASCII."""

    def make_scanner(context: object) -> Callable[[str, int], tuple[object, int]]:
        """Return what reads JSON in a text from a place on, and says where it ends."""
else:
    try:
        from _json import encode_basestring_ascii as quoted
        from _json import make_scanner
    except ImportError:  # an interpreter without these insides
        from json.encoder import encode_basestring_ascii as quoted

        make_scanner = None


class _ScannerSettings:
    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float = parse_constant = float
    parse_int = int


def parse_json(text: str) -> object:
    """Return the value that a JSON text begins with."""
    text = text.lstrip("\ufeff \t\r\n")

    try:
        scan = make_scanner(_ScannerSettings)
    except (AttributeError, TypeError):
        # It asks for what we do not know of: the standard library does.
        from json import JSONDecoder

        scan = JSONDecoder(strict=False).raw_decode

    try:
        return scan(text, 0)[0]
    except SystemError:
        # The scanner raises it in place of a `ValueError` that `json.decoder`, which it does not
        # load, would make.
        raise ValueError("this is no JSON") from None


def parse_embedded(value: object) -> object:
    """Return a value, or the JSON value in a text: some agents pass a tool's input like that."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(value)
        except (ValueError, StopIteration, RecursionError):
            return value
    return value


def to_json(value: "JsonValue") -> str:
    """Return a value as JSON, in ASCII."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        if value:
            return "true"

        return "false"
    if isinstance(value, (int, float)):
        return str(value)

    if isinstance(value, dict):
        members = [f"{quoted(key)}: {to_json(member)}" for key, member in value.items()]
        return f"{{{', '.join(members)}}}"

    return f"[{', '.join(map(to_json, value))}]"


def context_reply(call: Call, text: str) -> "dict[str, JsonValue]":
    """Return the members of a reply, as several agents take it.

    They have a text for the agent, and the message for the person.
    """
    members: dict[str, JsonValue] = {}
    if text:
        members["hookSpecificOutput"] = {"hookEventName": call.event, "additionalContext": text}
    if call.message:
        members["systemMessage"] = call.message

    return members


WRITING = frozenset(("edit", "write", "multiedit", "notebookedit"))
_READING = "read notebookread read_file readfile view open view_file"
READING = frozenset(_READING.split())
"""Tools, in lower case, that name the file they write or read in a field."""


def call_from_payload(
    payload: "Payload", surfaces: "Mapping[str, str]", logged: "Mapping[str, str]"
) -> Call | None:
    """Return the call that a payload states with the names that most agents use.

    It is None for an event of neither table.
    """
    event = field(payload, "hook_event_name", "hookEventName")
    if event not in surfaces and event not in logged:
        return None

    call = Call(event, surfaces.get(event, ""))
    call.log_only_event = logged.get(event, "")
    call.session = field(payload, "session_id", "sessionId")
    call.agent_id = field(payload, "agent_id", "agentId")
    call.agent = field(payload, "agent_type", "agentType")
    call.folder = field(payload, "cwd")

    if call.surface == TOOL:
        arguments = parse_embedded(payload.get("tool_input", payload.get("toolInput")))
        take_tool(call, field(payload, "tool_name", "toolName"), arguments)
    elif call.surface == PROMPT:
        take_prompt(call, field(payload, "prompt"))
    elif event == "SessionStart":
        source = field(payload, "source")
        call.context_was_compacted = source in ("compact", "clear")
        call.can_show_message = source != "compact"
    elif event == "PostCompact":
        call.context_was_compacted = call.compaction_may_repeat = True
    elif event == "SessionEnd":
        call.transcript = field(payload, "transcript_path")

    return call


def take_tool(call: Call, tool: str, arguments: object) -> None:
    """Add a tool's input to a call: its paths, whether it writes code, what it reads.

    `call.folder` has to be set.
    """
    name = tool.casefold()
    if name in WRITING:
        call.task_class = CODE
    elif name not in READING:
        # Most calls name a file and need none of it.
        from orbit_registry.hook.tools import take_other

        take_other(call, name, arguments)
        return

    if isinstance(arguments, dict):
        call.paths = named_paths(arguments)
        if name in WRITING:
            call.arguments = arguments

    if name in READING:
        call.reads = call.paths


def take_prompt(call: Call, text: str) -> None:
    """Add a prompt and its paths to a call."""
    call.text = text
    call.paths = path_words(text)
    call.paths_are_heuristic = True
