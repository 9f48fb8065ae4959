"""One call of a tool: its arguments checked, its reply without secrets."""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import refuse_values
from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.operations import spoken_as_calls
from orbit_registry.doors.mcp.tool import (
    LONGEST,
    Arguments,
    Tool,
    sidecar_for,
)
from orbit_registry.doors.mcp.tools import available_tools
from orbit_registry.doors.render.blocks import rendered
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_text
from orbit_registry.hook.sidecar import Sidecar
from orbit_registry.matching.match import sync_written
from orbit_registry.model.diagnostic import envelope
from orbit_registry.registry import Registry

# most characters of a result as JSON, so that a model's context keeps room for its work
LONGEST_ANSWER = 100_000


@dataclass(frozen=True, slots=True)
class Reply:
    """Text, envelope, error flag and the records for the result."""

    text: str
    structured: Mapping[str, object]
    is_error: bool = False
    sidecar: Sidecar | None = None


class UnknownToolError(UsageError):
    """No tool has that name."""


def reply(name: str, arguments: Arguments, caller: Caller, opened: Callable[[], Registry]) -> Reply:
    """Answer one call; any failure but an unknown tool becomes an error reply."""
    try:
        registry = opened()
        registry.recover()
        tool = available_tools(registry.workspace).get(name)
        if tool is None:
            raise UnknownToolError(f"there is no tool {name!r}", hint="`tools/list` names them")

        refuse_arguments(tool, arguments)
        answer = tool.run(registry, caller, {**arguments, **tool.fixed})
        sync_written()

        if not tool.carries:
            return checked_reply(answer, None)

        records = registry.collection.records
        return checked_reply(
            answer,
            sidecar_for(registry.workspace, records, answer.paths, answer.record_ids, caller),
        )
    except UnknownToolError:
        raise
    except OrbitError as error:
        return refusal(error.message, spoken_as_calls(error.hint))
    except Exception as error:  # noqa: BLE001 - the server's boundary, as `cli.main` is the command line's
        traceback.print_exc()
        failure = f"orbit failed: {type(error).__name__}: {error}"
        return refusal(
            failure, "this is a bug, please report it with the error output of the server"
        )


def refusal(message: str, hint: str) -> Reply:
    """Return an error reply with a message and a hint."""
    reason, hinted = harmless(message), harmless(hint)
    answer = envelope(None, ok=False, error=str(reason), hint=str(hinted))
    return Reply(f"error: {reason}\nhint: {hinted}", answer, is_error=True)


def checked_reply(answer: Answer, sidecar: Sidecar | None) -> Reply:
    """Return the reply of a tool without secrets; an answer that is too long is refused."""
    answer_data = envelope(
        harmless(answer.data), next_commands=[str(harmless(command)) for command in answer.next]
    )
    text = "\n".join([rendered(answer.text), *answer.remarks])
    if not answer.is_block:
        text = str(harmless(text))
    if (
        len(json.dumps(answer_data, ensure_ascii=False, default=str)) > LONGEST_ANSWER
        or len(text) > LONGEST_ANSWER
    ):
        return refusal(
            "the answer is too long to be of use", "ask for less: a smaller `limit`, fewer columns"
        )

    return Reply(text, answer_data, sidecar=sidecar)


def refuse_arguments(tool: Tool, arguments: Arguments) -> None:
    """Raise where arguments do not fit the tool's schema.

    Raises:
        UsageError: one is missing, unknown or of another form.
    """
    if len(json.dumps(arguments, ensure_ascii=False)) > LONGEST:
        raise UsageError(
            f"the arguments are longer than {LONGEST:,} characters", hint="shorten them"
        )

    refuse_values(tool.name, tool.schema(), dict(arguments))


def harmless(value: object) -> object:
    """Return a value without secrets, hidden characters and tags that could close a block."""
    if isinstance(value, str):
        return inert_text(without_secrets(value))
    if isinstance(value, Mapping):
        return {str(harmless(str(name))): harmless(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(part) for part in value]
    return value
