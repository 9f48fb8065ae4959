"""`brief`: what an agent should know before a task."""

import codecs
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from orbit_registry.checks.review import review
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import EARLIER, TOOL, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import STANDARD_INPUT, named_file
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.matching.task_class import LARGEST, read_task
from orbit_registry.model.scope import Task
from orbit_registry.seams import NO_LOOP, way

LONGEST_TEXT = 100_000
"""Characters of a task's text that are read; what comes after them is left out."""
CLASSES = ("code-gen", "exploration", "qa", "other")
SESSION = "ORBIT_SESSION_ID"


@operation(
    "brief",
    job="Find",
    line="Print what an agent should know before a task.",
    tool="brief",
    lists=True,
)
def brief(
    call: Call,
    subjects: tuple[str, ...] = (),
    purpose: Annotated[str, Form(enum=("prompt", "plan"))] = "prompt",
    task: str = "",
    task_file: str | None = None,
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    agent: str = "",
    project: str = "",
    file: str | None = None,
    text: Annotated[str, EARLIER] | None = None,
    task_class: Annotated[str, Form(enum=CLASSES)] | None = None,
    session: str = "",
    out: str | None = None,
    path: Annotated[str, TOOL] = "",
) -> Answer:
    """Print what an agent should know before a task.

    The output is a section for a prompt: at most five records (five of each category with --agent)
    and 1,000 tokens, further ones by title. If it is empty, standard error says why. `--format
    json` says what was left out, and why.

    orbit brief "Move the cache to Redis"
    orbit brief src/app.py
    orbit brief --agent engineer --task-file task.json --session "$SESSION"
    orbit brief --path src/app.py --tag sql
    echo "Move the cache to Redis" | orbit brief --file -

    `--for plan` is for planning the next run: recent retros, active loops, failed targets, pitches,
    health, capacity, learnings and the queue. What Orbit can't find out is `unknown`, with a
    warning.

    orbit brief --for plan --out .orbit/state/plan.json

    Args:
        subjects [PATH|WORDS]...: Files, or words of the task.
        purpose --for: What the brief is for.
        task --task: The task's id; `tasks.command` finds its text.
        task_file FILE: A file with the task, JSON or YAML; - is the input.
        paths --path: A file that the work is about; it need not exist.
        tags --tag: A tag that the work is about.
        agent --agent: The agent's name; it selects categories of learnings.
        project --project: The project, if the repository has several.
        file FILE: A file with the task's words; - is the input.
        text FILE: The same as --file.
        task_class: What kind of work it is; else the text decides.
        session --session: Do not repeat what this session was shown.
        out FILE: Write a plan's brief there too, if it changed.
        path: A file that the work is about.
    """
    request: dict[str, Any] = {
        "agent": agent,
        "task": task,
        "tags": tags,
        "task_class": task_class or "",
        "project": project,
    }
    if call.caller is not None:
        request["text"] = text or ""
        request["paths"] = [call.path(each) for each in (*paths, *filter(None, [path]))]
        return _brief_of_agent(call, purpose, request)

    files, words = _subjects(subjects)
    words = [_words(name) for name in (file, text) if name is not None] + words
    request["text"] = "\n".join(filter(None, words))[:LONGEST_TEXT]
    request["paths"] = [call.path(each) for each in (*paths, *files)]
    request["session"] = session or os.environ.get(SESSION, "")
    if task_file is not None:
        request["task"] = _task(task_file, task)
    if purpose == "plan":
        return _plan(call, request, out)

    if out is not None:
        raise UsageError(
            "--out keeps a plan's brief", hint="give --for plan, or redirect the output"
        )

    return _brief_of_person(call, request)


def _subjects(subjects: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what is a file, and what are words."""
    files = [subject for subject in subjects if os.path.lexists(subject)]
    return files, [subject for subject in subjects if subject not in files]


def _brief_of_person(call: Call, request: dict[str, Any]) -> Answer:
    """Return the brief for a terminal or a prompt."""
    result = call.registry.brief(**request)
    warnings = [f"warning: {warning}" for warning in result.inputs.warnings]
    records = call.registry.collection.records
    empty = [] if result.text() else [result.why_empty(review.waiting(records))]
    return Answer(result.as_data(), result.text(), notes=warnings, remarks=empty)


def _brief_of_agent(call: Call, purpose: str, request: dict[str, Any]) -> Answer:
    """Return the brief for an agent's session."""
    if purpose == "plan":
        plan = _plan(call, {}, None)
        return replace(plan, next=(), notes=(), remarks=[inert_line(note) for note in plan.notes])

    about = (request["paths"], request["tags"], request["text"].strip(), request["task"])
    if not (any(about) or request["agent"]):
        raise UsageError(
            "a brief needs to know the work", hint="name `paths`, `tags` or the task's `text`"
        )

    # A subagent of the host is found by `brief` itself; a name alone would be another session.
    assert call.caller is not None
    session = call.caller.session_at(str(call.workspace.root))
    name = "" if session is None or session[1] else session[0]
    result = call.registry.brief(**request, session=name)
    records = call.registry.collection.records
    text = result.text() or result.why_empty(review.waiting(records))
    warnings = [f"warning: {inert_line(without_secrets(each))}" for each in result.inputs.warnings]
    return Answer(result.as_data(), text, remarks=warnings, is_block=True)


def _plan(call: Call, request: dict[str, Any], out: str | None) -> Answer:
    plan = way("brief --for plan")
    if plan is None:
        raise UsageError("there is no brief for planning", hint=NO_LOOP)

    answer: Answer = plan(call.registry, request, out)
    return answer


def _words(name: str) -> str:
    """Return the words of a file, or those that were given in place of its name."""
    if len(name.split()) > 1 and not os.path.lexists(name):
        return name

    hint = 'words need no option: orbit brief "Move the cache to Redis"'
    return _content(name, 4 * LONGEST_TEXT, hint)


def _task(name: str, task_id: str) -> Task:
    content = _content(name, LARGEST + 1, "name a file with the task, JSON or YAML")
    if len(content.encode()) > LARGEST - 4:  # a character may have been cut off
        hint = "name long texts in `context_files`"
        raise UsageError(f"{_title(name)}: a task has at most {LARGEST:,} bytes", hint=hint)

    task = read_task(content, _title(name))
    return replace(task, id=task_id or task.id)


def _content(name: str, limit: int, hint: str) -> str:
    """Return the start of a file or of the input: a stream may be endless."""
    try:
        if name == STANDARD_INPUT:
            content = sys.stdin.buffer.read(limit)
        else:
            with named_file(name).open("rb") as stream:
                content = stream.read(limit)
    except OSError as error:
        raise UsageError(f"{name!r}: {error.strerror}", hint=hint) from None

    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content, final=len(content) < limit)
    except UnicodeDecodeError:
        raise UsageError(f"{_title(name)} is not valid UTF-8", hint="give it in UTF-8") from None


def _title(name: str) -> str:
    if name == STANDARD_INPUT:
        return "<stdin>"

    return name
