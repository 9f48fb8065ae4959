"""Task of a brief, from a file or the project's own program, and its class."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from orbit_registry.briefs.task_class import CLASSES, CODE_GEN, LONGEST, MOST_REASONS, TaskClass, classify
from orbit_registry.errors import ProgramError, UsageError
from orbit_registry.formats.position import MALFORMED, Position, Problem, YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.hook.context import CODE
from orbit_registry.model.schema import read_schema
from orbit_registry.model.scope import TASK_SCHEMA, Task
from orbit_registry.workspace.trusted_commands import not_run_message, run_program
from orbit_registry.workspace.workspace import Workspace

LARGEST = 1_000_000
"""Bytes of a task file."""
LONGEST_ID = 200
PLACE = "{id}"
COMMAND = "tasks.command"
_FORM = "a task is {id, title, text, context_files}, in JSON or YAML"
_NEEDED = frozenset(("title", "text", "context_files"))
_ID = re.compile(r"[^\s\x00-\x1f\x7f-][^\x00-\x1f\x7f]*")


def read_task(text: str, where: str) -> Task:
    """Parse a task from JSON or YAML; unknown keys are ignored."""
    try:
        data = load(text)
    except YamlProblemError as error:
        problem = (_json_problem(text) if text.lstrip().startswith("{") else None) or error.problem
        position = problem.position
        location = f"{where}:{position.line}:{position.column}" if position is not None else where
        raise UsageError(f"{location}: {problem.message}", hint=problem.hint or _FORM) from None
    if not isinstance(data, dict):
        raise UsageError(f"{where}: this is not a task", hint=_FORM)
    if isinstance(data.get("id"), int):  # most trackers use numbers
        data["id"] = str(data["id"])
    data = {name: value for name, value in data.items() if value is not None}
    if not _NEEDED & data.keys():
        raise UsageError(f"{where}:1:1: a task needs a `title`, a `text` or `context_files`", hint=_FORM)
    problems = read_schema(TASK_SCHEMA).problems(data)
    if problems:
        position = position_of(text, problems[0].pointer)
        message = "; ".join(dict.fromkeys(problem.message for problem in problems))
        raise UsageError(f"{where}:{position.line}:{position.column}: {message}", hint=problems[0].hint or _FORM)
    files = tuple(dict.fromkeys(data.get("context_files", ())))
    return Task(data.get("id", ""), data.get("title", ""), data.get("text", ""), files, data.get("project", ""))


def _json_problem(text: str) -> Problem | None:
    """Return the JSON error of a text; None if it is valid JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg.removesuffix(' starting at')}"
        return Problem(MALFORMED, message, Position(error.lineno, error.colno))
    except (ValueError, RecursionError):  # endless digits or nesting
        pass
    return None


def resolve_task(workspace: Workspace, task_id: str) -> Task:
    """Return the task that the project's own program prints for an id; without one, a task with the id only."""
    words, seconds = workspace.config.tasks.command, workspace.config.tasks.timeout_seconds
    if not words or not_run_message(workspace, COMMAND):
        return Task(task_id)
    if not _ID.fullmatch(task_id) or len(task_id) > LONGEST_ID:
        hint = f"at most {LONGEST_ID} characters on one line, not beginning with `-` or a space"
        raise UsageError(f"{task_id[:80]!r} can't be given to `{words[0]}` as a task's id", hint=hint)
    if not any(PLACE in word for word in words):
        hint = f"write {PLACE} where the task's id belongs: [gh, issue, view, '{PLACE}', …]"
        raise UsageError(f"tasks.command in .orbit/config.yaml has no {PLACE}", hint=hint)
    printed = run_program(workspace, COMMAND, seconds, filled={PLACE: task_id})
    task = read_task(printed, f"`{words[0]}` printed for {task_id}")
    return Task(task.id or task_id, task.title, task.text, task.context_files, task.project)


def why_unresolved(workspace: Workspace) -> str:
    """Return why only the id of a task is known."""
    return not_run_message(workspace, COMMAND) or "no `tasks.command` is configured that would find it"


CLASSIFIER = "tasks.classifier"
LONGEST_REASON = 200


def class_of(workspace: Workspace, task: Task, caller_class: str = "") -> TaskClass:
    """Return the class of a task: the caller's, that of the program `tasks.classifier`, or by the words.

    The program gets {id, title, text, context_files} as JSON and prints {class, confidence, reasons}; if it fails, the
    class is `other` with the fault.
    """
    for name in CLASSES:
        if name == (CODE_GEN if caller_class == CODE else caller_class):
            return TaskClass(name, 1.0, ("the caller says so",), "caller")
    if not workspace.config.tasks.classifier or not_run_message(workspace, CLASSIFIER):
        return classify(task.words)
    request = {"id": task.id, "title": task.title, "text": task.text[:LONGEST], "context_files": task.context_files}
    try:
        printed = run_program(workspace, CLASSIFIER, workspace.config.tasks.timeout_seconds, json.dumps(request))
        return _opinion(json.loads(printed))
    except ProgramError as error:
        return _other(error.fault)
    except ValueError:
        return _other("what it printed is not JSON")
    except RecursionError:
        return _other("what it printed is nested too deeply")


def _opinion(answer: object) -> TaskClass:
    if not isinstance(answer, Mapping):
        return _other("what it printed is not an object")
    name = next((name for name in CLASSES if name == answer.get("class")), None)
    if name is None:
        return _other(f"its `class` is none of {', '.join(CLASSES)}")
    confidence = answer.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return _other("its `confidence` is not a number from 0 to 1")
    reasons = answer.get("reasons", [])
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return _other("its `reasons` is not a list of texts")
    short = tuple(" ".join(reason.split())[:LONGEST_REASON] for reason in reasons[:MOST_REASONS])
    return TaskClass(name, float(confidence), short, "command")


def _other(fault: str) -> TaskClass:
    return TaskClass("other", 0.0, (), "command", fault)
