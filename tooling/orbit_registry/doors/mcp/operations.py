"""The tools of the table of operations: a call's arguments in, its answer out."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from orbit_registry.doors.answers.answer import Answer, answer_of
from orbit_registry.doors.answers.arguments import PUBLISHED, Argument
from orbit_registry.doors.answers.call import Call, Caller
from orbit_registry.doors.answers.table import Operation, Row, commands, rows
from orbit_registry.doors.mcp.tool import Arguments, Tool
from orbit_registry.registry import Registry

_OF_SEARCH = frozenset({"kind", "all", "tags"})
"""Arguments of the tool `list` that `search` takes, too."""


@cache
def operations_with_tools() -> Mapping[str, Row]:
    """Return the rows of the table that a tool runs, by the tool's name."""
    return {row.tool: row for row in rows() if row.tool}


def tool_of(operation: Operation) -> Tool:
    """Return the tool of an operation for which `tools.yaml` has no words."""
    arguments = [each for each in operation.arguments() if "dry_run" not in each.name]
    words = operation.words
    return Tool(
        operation.tool,
        operation.tool.replace("_", " ").capitalize(),
        words.agents or words.help.partition("\n\n")[0],
        {each.public: _property(each) for each in arguments},
        run_of(operation),
        [each.public for each in arguments if each.required],
        reads_only=not operation.writes,
    )


def _property(argument: Argument) -> Mapping[str, object]:
    schema = {name: part for name, part in argument.schema.items() if name in PUBLISHED}
    return {**schema, "description": argument.help}


def run_of(operation: Operation) -> Callable[[Registry, Caller, Arguments], Answer]:
    """Return what runs an operation for the arguments of its tool."""

    def run(registry: Registry, caller: Caller, arguments: Arguments) -> Answer:
        values: dict[str, Any] = {}
        others = {name: value for name, value in arguments.items() if name != "kind"}
        declared = operation.arguments()
        for argument in declared:
            for name in (argument.public, argument.name):
                if name in arguments:
                    values[argument.name] = _value(argument, arguments[name])
                    others.pop(name, None)

        if others and any(each.name == "fields" for each in declared):
            values.setdefault("fields", others)  # of a tool that serves one kind

        kind = None
        if "kind" in arguments and "kind" not in values:
            kind = registry.workspace.kinds[str(arguments["kind"])]

        call = Call(lambda: registry, kind, caller=caller)
        answer = answer_of(operation.run(call, **values))
        if answer.refused:
            raise answer.refused[0]

        return replace(answer, next=_calls(answer.next))

    return run


def _value(argument: Argument, value: object) -> object:
    """Return a value as the function takes it; a list may come as words between commas."""
    if not argument.is_list:
        return value
    if isinstance(value, str) and not argument.flags:
        return (value,)
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        return tuple(value)

    return value


def _calls(commands: Sequence[str]) -> list[str]:
    """Return the commands that are calls of tools, as an agent makes them.

    What is no command of Orbit's is such a call.
    """
    calls = [_call(each) if each.startswith("orbit ") else each for each in commands]
    return [call for call in calls if call]


def spoken_as_calls(hint: str) -> str:
    """Return a hint that names the tools which do what its commands do; what a person is to run
    stays a command.
    """

    def spoken(quoted: re.Match[str]) -> str:
        return f"`{_call(quoted[1]) or quoted[1]}`"

    return re.sub(r"(?<!a person runs )`(orbit [^`]+)`", spoken, hint)


def _call(command: str) -> str:
    """Return the call of a tool that does what a command does; empty if no tool does."""
    tools = operations_with_tools()
    words = shlex.split(command)[1:]
    kind = ""
    if len(words) > 1 and words[0] not in commands():
        of_kind = tools.get(words[1])
        if of_kind is not None and of_kind.is_of_kinds:
            kind, words = words[0], words[1:]

    row = tools.get(words[0]) if words else None
    if row is None:
        return ""

    arguments = row.load().arguments()
    flags: dict[str, Argument] = {}
    for argument in arguments:
        flags |= dict.fromkeys(argument.flags, argument)

    placed = [argument for argument in arguments if not argument.flags]
    parameters: dict[str, object] = {}
    if kind and any(argument.public == "kind" for argument in arguments):
        parameters["kind"] = kind
        placed = [argument for argument in placed if argument.public != "kind"]

    rest = iter(words[1:])
    for word in rest:
        is_flag = word in flags
        if not (is_flag or placed):
            return ""

        argument = flags[word] if is_flag else placed.pop(0)
        if is_flag and argument.schema["type"] == "boolean":
            parameters[argument.public] = True
            continue

        value = next(rest, "") if is_flag else word
        parameters[argument.public] = [value] if is_flag and argument.is_list else value

    tool = row.tool
    if parameters.get("phases") == ["live"]:
        del parameters["phases"]  # the default of both
    if tool == "list" and parameters.keys() <= _OF_SEARCH:
        tool = "search"  # clients list it, and not `list`; without words it lists records, too

    return f"{tool} {json.dumps(parameters, ensure_ascii=False)}"
