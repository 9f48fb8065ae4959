"""`orbit brief` and `orbit pitch`: what an agent needs before it starts,
and what could be done next.
"""

import codecs
import io
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    from_root,
    open_registry,
    print_notes,
    warn_of_unread,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError
from orbit_registry.model.scope import Task
from orbit_registry.registry import Registry
from orbit_registry.review import review
from orbit_registry.seams import NO_LOOP, way

LONGEST_TEXT = (
    100_000  # characters of a task's text that are read; what comes after them is left out
)
CLASSES = ("code-gen", "exploration", "qa", "other")


class _WordsFile(click.File):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the open file, or words that were given in place of its name."""
        if len(str(value).split()) > 1 and not os.path.lexists(value):
            return io.BytesIO(str(value).encode("utf-8", "surrogateescape"))

        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise UsageError(
                error.message, hint='words need no option: orbit brief "Move the cache to Redis"'
            ) from None


@click.command()
@click.argument("subjects", metavar="[PATH|WORDS]...", nargs=-1)
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["prompt", "plan"]),
    default="prompt",
    show_default=True,
    help="What the brief is for.",
)
@click.option("--task", default="", help="The task's id; `tasks.command` finds its text.")
@click.option(
    "--task-file", type=click.File("rb"), help="A file with the task, JSON or YAML; - is the input."
)
@click.option(
    "--path", "paths", multiple=True, help="A file that the work is about; it need not exist."
)
@click.option("--tag", "tags", multiple=True, help="A tag that the work is about.")
@click.option("--agent", default="", help="The agent's name; it selects categories of learnings.")
@click.option("--project", default="", help="The project, if the repository has several.")
@click.option(
    "--file",
    "text",
    type=_WordsFile("rb"),
    metavar="FILE",
    help="A file with the task's words; - is the input.",
)
@click.option("--text", "earlier", type=_WordsFile("rb"), hidden=True)
@click.option(
    "--task-class",
    type=click.Choice(CLASSES),
    help="What kind of work it is; else the text decides.",
)
@click.option(
    "--session",
    envvar="ORBIT_SESSION_ID",
    default="",
    help="Do not repeat what this session was shown.",
)
@click.option("--out", metavar="FILE", help="Write a plan's brief there too, if it changed.")
@format_option
def brief(
    subjects: tuple[str, ...],
    purpose: str,
    task: str,
    task_file: BinaryIO | None,
    paths: tuple[str, ...],
    tags: tuple[str, ...],
    agent: str,
    project: str,
    text: BinaryIO | None,
    earlier: BinaryIO | None,
    task_class: str | None,
    session: str,
    out: str | None,
    output: str,
) -> None:
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
    """
    named_paths = [subject for subject in subjects if os.path.lexists(subject)]
    words_given = [subject for subject in subjects if subject not in named_paths]
    contents = [_content(file, 4 * LONGEST_TEXT) for file in (text, earlier)]
    words = "\n".join([*filter(None, contents), *words_given])[:LONGEST_TEXT]
    registry = open_registry()
    request: dict[str, Any] = {
        "agent": agent,
        "task": task if task_file is None else _task(task_file, task),
        "text": words,
        "paths": [from_root(registry, path) for path in (*paths, *named_paths)],
        "tags": tags,
        "task_class": task_class or "",
        "session": session,
        "project": project,
    }

    if purpose == "plan":
        _print_plan(registry, request, out, output)
        return

    if out is not None:
        raise UsageError(
            "--out keeps a plan's brief", hint="give --for plan, or redirect the output"
        )

    result = registry.brief(**request)
    for warning in result.inputs.warnings:
        say(f"warning: {warning}", err=True)

    emit(output, result.as_data(), result.text())

    if output == "text" and not result.text():
        waiting = review.waiting(registry.collection.records)
        say(result.why_empty(waiting), err=True)

    warn_of_unread(registry)


def _task(file: BinaryIO, task_id: str) -> Task:
    from orbit_registry.briefs.task_class import LARGEST, read_task

    content = _content(file, LARGEST + 1)
    if len(content.encode()) > LARGEST - 4:  # a character may have been cut off
        hint = "name long texts in `context_files`"
        raise UsageError(f"{_name(file)}: a task has at most {LARGEST:,} bytes", hint=hint)
    task = read_task(content, _name(file))
    return replace(task, id=task_id or task.id)


def _print_plan(
    registry: Registry, request: Mapping[str, Any], out: str | None, output: str
) -> None:
    plan = way("brief --for plan")
    if plan is None:
        raise UsageError("there is no brief for planning", hint=NO_LOOP)

    answer = plan(registry, request, out)
    print_notes(answer.notes)
    emit(output, answer.data, answer.text, next_commands=answer.next)


def _content(file: BinaryIO | None, limit: int) -> str:
    if file is None:
        return ""
    content = file.read(limit)
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content, final=len(content) < limit)
    except UnicodeDecodeError:
        raise UsageError(f"{_name(file)} is not valid UTF-8", hint="give it in UTF-8") from None


def _name(file: BinaryIO) -> str:
    return str(getattr(file, "name", "the input"))
