"""Class of a task: that of its caller, of the project's program, or by its words."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import ProgramError, UsageError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.hook import task_class as by_words
from orbit_registry.hook.task_class import CLASSES, CODE_GEN, LONGEST, MOST_REASONS, SURE
from orbit_registry.model.reach import CODE
from orbit_registry.model.schema import read_schema
from orbit_registry.model.scope import TASK_SCHEMA, Task
from orbit_registry.workspace.trusted_commands import not_run_message, run_program
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TaskClass:
    """Class with its confidence, reasons, and origin:
    `rules`, `caller` or the project's `command`.
    """

    name: str
    confidence: float
    reasons: tuple[str, ...] = ()
    by: str = "rules"
    fault: str = ""  # why the project's command was ignored; empty otherwise

    @property
    def sure(self) -> bool:
        """Whether the class may be relied on."""
        return self.confidence >= SURE

    @property
    def writes_code(self) -> bool:
        """Whether records about writing code are useful."""
        return by_words.is_work_on_code(self.name, self.confidence)

    def as_data(self) -> dict[str, object]:
        """Return the class for JSON."""
        return {
            "class": self.name,
            "confidence": round(self.confidence, 2),
            "sure": self.sure,
            "reasons": list(self.reasons),
            "by": self.by,
            "fault": self.fault or None,
        }


def classify(text: str) -> TaskClass:
    """Return the class of a task by its text."""
    opinion = by_words.classify(text)
    return TaskClass(opinion.name, opinion.confidence, opinion.reasons)


LARGEST = 1_000_000  # bytes of a task file
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
        raise UsageError(error.problem.at(where), hint=error.problem.hint or _FORM) from None

    if not isinstance(data, dict):
        raise UsageError(f"{where}: this is not a task", hint=_FORM)
    if isinstance(data.get("id"), int):  # most trackers use numbers
        data["id"] = str(data["id"])

    data = {name: value for name, value in data.items() if value is not None}
    if not _NEEDED & data.keys():
        raise UsageError(
            f"{where}:1:1: a task needs a `title`, a `text` or `context_files`", hint=_FORM
        )

    problems = read_schema(TASK_SCHEMA).problems(data)
    if problems:
        position = position_of(text, problems[0].pointer)
        message = "; ".join(dict.fromkeys(problem.message for problem in problems))
        raise UsageError(
            f"{where}:{position.line}:{position.column}: {message}", hint=problems[0].hint or _FORM
        )

    files = tuple(dict.fromkeys(data.get("context_files", ())))
    return Task(
        data.get("id", ""),
        data.get("title", ""),
        data.get("text", ""),
        files,
        data.get("project", ""),
    )


def resolve_task(workspace: Workspace, task_id: str) -> Task:
    """Return the task that the project's own program prints for an id;
    without one, a task with the id only.
    """
    words, seconds = workspace.config.tasks.command, workspace.config.tasks.timeout_seconds
    if not words or not_run_message(workspace, COMMAND):
        return Task(task_id)

    if not _ID.fullmatch(task_id) or len(task_id) > LONGEST_ID:
        hint = f"at most {LONGEST_ID} characters on one line, not beginning with `-` or a space"
        raise UsageError(
            f"{task_id[:80]!r} can't be given to `{words[0]}` as a task's id", hint=hint
        )

    if not any(PLACE in word for word in words):
        hint = f"write {PLACE} where the task's id belongs: [gh, issue, view, '{PLACE}', …]"
        raise UsageError(f"tasks.command in .orbit/config.yaml has no {PLACE}", hint=hint)

    printed = run_program(workspace, COMMAND, seconds, filled={PLACE: task_id})
    task = read_task(printed, f"`{words[0]}` printed for {task_id}")
    return Task(task.id or task_id, task.title, task.text, task.context_files, task.project)


def why_unresolved(workspace: Workspace) -> str:
    """Return why only the id of a task is known."""
    return (
        not_run_message(workspace, COMMAND) or "no `tasks.command` is configured that would find it"
    )


CLASSIFIER = "tasks.classifier"
LONGEST_REASON = 200


def class_of(workspace: Workspace, task: Task, caller_class: str = "") -> TaskClass:
    """Return the class of a task: the caller's, that of the program `tasks.classifier`,
    or by the words.
    """
    for name in CLASSES:
        if name == (CODE_GEN if caller_class == CODE else caller_class):
            return TaskClass(name, 1.0, ("the caller says so",), "caller")

    if not workspace.config.tasks.classifier or not_run_message(workspace, CLASSIFIER):
        return classify(task.words)

    request = {
        "id": task.id,
        "title": task.title,
        "text": task.text[:LONGEST],
        "context_files": task.context_files,
    }
    try:
        printed = run_program(
            workspace, CLASSIFIER, workspace.config.tasks.timeout_seconds, json.dumps(request)
        )
        return _opinion(json.loads(printed))
    except ProgramError as error:
        return _other(error.fault)
    except (ValueError, RecursionError):
        return _other("what it printed is not JSON")


def _opinion(answer: object) -> TaskClass:
    data = answer if isinstance(answer, Mapping) else {}
    name = next((name for name in CLASSES if name == data.get("class")), None)
    confidence, reasons = data.get("confidence", 1.0), data.get("reasons", [])
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)

    if name is None or not is_number or not 0 <= confidence <= 1:
        return _other(f"it has a `class` ({', '.join(CLASSES)}) and a `confidence` from 0 to 1")
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return _other("its `reasons` is not a list of texts")

    short = tuple(" ".join(reason.split())[:LONGEST_REASON] for reason in reasons[:MOST_REASONS])
    return TaskClass(name, float(confidence), short, "command")


def _other(fault: str) -> TaskClass:
    return TaskClass("other", 0.0, (), "command", fault)
