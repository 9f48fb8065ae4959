"""Asks who decides of which class a task is: the caller, the project's own program, or our rules; chooses no record."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orbit_registry.errors import ProgramError
from orbit_registry.loop.programs import not_run, run_program
from orbit_registry.loop.task_class import CLASSES, CODE_GEN, LONGEST, MOST_REASONS, TaskClass, classify
from orbit_registry.push.select import CODE
from orbit_registry.records.task import Task
from orbit_registry.store.workspace import Workspace

CLASSIFIER = "tasks.classifier"
LONGEST_REASON = 200


def class_of(workspace: Workspace, task: Task, given: str = "") -> TaskClass:
    """Return the class of a task; `given` is what the caller says it is, empty where it leaves that to us.

    The program `tasks.classifier` gets {id, title, text, context_files} as JSON and prints {class, confidence,
    reasons}; whatever goes wrong with it makes the task one of the class `other`, and the fault is kept.
    """
    for name in CLASSES:
        if name == (CODE_GEN if given == CODE else given):
            return TaskClass(name, 1.0, ("the caller says so",), "caller")
    if not workspace.config.tasks.classifier or not_run(workspace, CLASSIFIER):
        return classify(task.words)
    asked = {"id": task.id, "title": task.title, "text": task.text[:LONGEST], "context_files": task.context_files}
    try:
        printed = run_program(workspace, CLASSIFIER, workspace.config.tasks.timeout_seconds, json.dumps(asked))
    except ProgramError as error:
        return _other(error.fault)
    try:
        said = json.loads(printed.text)
    except ValueError:
        return _other("what it printed is no JSON")
    except RecursionError:
        return _other("what it printed is nested too deeply")
    return _opinion(said)


def _opinion(said: object) -> TaskClass:
    """Return the opinion in what a program printed."""
    if not isinstance(said, Mapping):
        return _other("what it printed is no object")
    name = next((name for name in CLASSES if name == said.get("class")), None)
    if name is None:
        return _other(f"its `class` is none of {', '.join(CLASSES)}")
    confidence = said.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return _other("its `confidence` is no number from 0 to 1")
    reasons = said.get("reasons", [])
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return _other("its `reasons` are no list of texts")
    short = tuple(" ".join(reason.split())[:LONGEST_REASON] for reason in reasons[:MOST_REASONS])
    return TaskClass(name, float(confidence), short, "command")


def _other(fault: str) -> TaskClass:
    return TaskClass("other", 0.0, (), "command", fault)
