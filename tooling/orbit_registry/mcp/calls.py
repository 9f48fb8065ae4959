"""Answers one call of a tool: checks the arguments, runs it, makes all that leaves harmless; knows no protocol."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_text
from orbit_registry.hook.sidecar import Sidecar
from orbit_registry.matching.match import sync_written
from orbit_registry.mcp.running import may_run
from orbit_registry.mcp.schemas import LONGEST
from orbit_registry.mcp.sidecar import beside
from orbit_registry.mcp.table import tools
from orbit_registry.mcp.tool import Answer, Arguments, Asked, Caller, Tool
from orbit_registry.model.diagnostic import envelope
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.schema import RecordSchema
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import Workspace

LONGEST_ANSWER = 100_000
"""Characters of an answer, as JSON; what a model's context has room for beside its work."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: text, the envelope, whether it is a refusal, and the records beside it."""

    text: str
    whole: Mapping[str, object]
    is_error: bool = False
    sidecar: Sidecar | None = None


class UnknownToolError(UsageError):
    """There is no tool of that name."""


def known_tools(*, aliases: bool = True, workspace: Workspace | None = None) -> dict[str, Tool]:
    """Return the tools of a project's kinds; of the shipped kinds where there is no project."""
    if workspace is None:
        return tools(load_kinds(), aliases=aliases)
    planning = workspace.config.setting("loop", "enabled")
    return tools(workspace.kinds, aliases=aliases, running=may_run(workspace), planning=planning)


def reply(name: str, arguments: Arguments, caller: Caller, opened: Callable[[], Registry]) -> Reply:
    """Answer one call; whatever the user's data, the caller or a bug of ours did wrong is an answer too.

    Raises:
        UnknownToolError: there is no such tool.
    """
    try:
        registry = opened()
        registry.recover()
        tool = known_tools(workspace=registry.workspace).get(name)
        if tool is None:
            raise UnknownToolError(f"there is no tool {name!r}", hint="`tools/list` names them")
        _refuse_arguments(tool, arguments)
        answer = tool.run(Asked(registry, caller, {**arguments, **tool.fixed}))
        sync_written()
        if not tool.carries:
            return _said(answer, None)
        records = registry.collection.records
        return _said(answer, beside(registry.workspace, records, answer.paths, answer.shown, caller))
    except UnknownToolError:
        raise
    except OrbitError as error:
        return refusal(error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - the server's boundary, as `cli.main` is the command line's
        traceback.print_exc()
        failure = f"orbit failed: {type(error).__name__}: {error}"
        return refusal(failure, "this is a bug, please report it with the error output of the server")


def refusal(message: str, hint: str) -> Reply:
    """Return what says that nothing was done, why, and what to do."""
    said, hinted = harmless(message), harmless(hint)
    whole = envelope(None, ok=False, error=str(said), hint=str(hinted))
    return Reply(f"error: {said}\nhint: {hinted}", whole, is_error=True)


def _said(answer: Answer, sidecar: Sidecar | None) -> Reply:
    whole = envelope(harmless(answer.data), next_commands=[str(harmless(one)) for one in answer.next])
    text = answer.text if answer.rendered else str(harmless(answer.text))
    if len(json.dumps(whole, ensure_ascii=False, default=str)) > LONGEST_ANSWER or len(text) > LONGEST_ANSWER:
        return refusal("the answer is too long to be of use", "ask for less: a smaller `limit`, fewer columns")
    return Reply(text, whole, sidecar=sidecar)


def _refuse_arguments(tool: Tool, arguments: Arguments) -> None:
    """Raise where the arguments do not fit the tool's schema."""
    if len(json.dumps(arguments, ensure_ascii=False)) > LONGEST:
        raise UsageError(f"the arguments are longer than {LONGEST:,} characters", hint="shorten them")
    problems = RecordSchema(tool.schema(), Path(tool.name)).problems(dict(arguments))
    if problems:
        said = "; ".join(one.message for one in problems[:5]).replace("`the record`", "the call")
        hint = next((one.hint for one in problems if one.hint), f"arguments: {', '.join(tool.properties)}")
        raise UsageError(f"{tool.name}: {said}", hint=hint)


def harmless(value: object) -> object:
    """Return a value whose texts, keys too, hold no secret, nothing unseen and no tag that could close a block."""
    if isinstance(value, str):
        return inert_text(without_secrets(value))
    if isinstance(value, Mapping):
        return {str(harmless(str(name))): harmless(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(part) for part in value]
    return value
