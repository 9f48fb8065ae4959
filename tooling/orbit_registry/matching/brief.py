"""Brief: the records for a piece of work, chosen by `hook.select`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath

from orbit_registry.errors import UsageError, listed, plural
from orbit_registry.hook.context import Context, Match, Selection, working_project
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.project import session_of_process
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index, origin_of, scope_widths
from orbit_registry.matching.personal import is_personal
from orbit_registry.matching.task_class import (
    CLASSIFIER,
    COMMAND,
    TaskClass,
    class_of,
    resolve_task,
    why_unresolved,
)
from orbit_registry.model.drops import DROPS
from orbit_registry.model.fields import ID, KIND, PATH
from orbit_registry.model.reach import BRIEF, CODE
from orbit_registry.model.scope import Task
from orbit_registry.workspace.config import GENERAL, Categories, agent_name
from orbit_registry.workspace.files import write_error
from orbit_registry.workspace.trusted_commands import not_run_message
from orbit_registry.workspace.workspace import Workspace, project_path

LONGEST_NAME = 100
_SEEN = ("already shown", "already named")
_MOST_NAMED = 10
HEADING = "## System Context"
"""Heading of a brief; tools that shorten prompts keep the section of this name."""


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """Facts about the work ahead, each may be empty; a task is an id or a `Task`."""

    paths: Sequence[str] = ()
    tags: Sequence[str] = ()
    agent: str = ""
    task: str | Task = ""
    task_class: str = ""
    text: str = ""
    session: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class BriefInputs:
    """Resolved request: the context for the selection."""

    paths: tuple[str, ...]
    tags: tuple[str, ...]
    agent: str
    categories: Categories | None
    task: Task
    task_class: TaskClass | None  # none without any text or class
    warnings: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        """Return the inputs for JSON and the event."""
        agent = None
        if self.categories is not None:
            agent = {
                "name": self.agent,
                "known": self.categories.is_mapped,
                "categories": list(self.categories.names),
            }

        task = None
        if self.task.id or self.task.title:
            task = {"id": self.task.id, "title": self.task.title}

        opinion = self.task_class.as_data() if self.task_class is not None else None
        return {"agent": agent, "task": task, "task_class": opinion}


@dataclass(frozen=True, slots=True)
class Brief:
    """Selected records, the inputs, and whether records already shown in the session were
    left out.
    """

    selection: Selection
    deduplicated: bool
    inputs: BriefInputs

    def as_data(self) -> dict[str, object]:
        """Return the brief for JSON; the schema is docs/schemas/brief.schema.json."""
        selection = self.selection
        matches = []
        for match in selection.matches:
            triggers = [origin_of(*trigger) for trigger in match.triggers]
            matches.append({**_match_data(match, match.text), "matched_by": triggers})

        dropped = [
            {"id": row.values[ID], "reason": reason, "said": DROPS[reason]}
            for row, reason in selection.drops
        ]
        titles = [_match_data(match, match.title) for match in selection.named]
        return {
            "matches": matches,
            "named": titles,
            "omitted": selection.omitted,
            "dropped": dropped,
            "skip_reason": selection.skip_reason or None,
            "deduplicated": self.deduplicated,
            **self.inputs.as_data(),
            "warnings": list(self.inputs.warnings),
        }

    def text(self) -> str:
        """Return the brief as part of a prompt; empty without records."""
        block = render(self.selection)
        if block:
            return f"{HEADING}\n\n{block}"

        return ""

    def why_empty(self, waiting: int = 0) -> str:
        """Return why no record is in the brief, in one line; `waiting` are the project's records
        that no person has decided about.
        """
        drops = self.selection.drops
        if not drops:
            verb = "waits" if waiting == 1 else "wait"
            review = f"; {plural(waiting, 'record')} {verb} for review" if waiting else ""
            return f"no live record has these paths, tags or words{review}"

        seen = [row.values[ID] for row, reason in drops if reason in _SEEN]
        if seen:
            applies = plural(len(seen), "record applies", "records apply")
            them = "it" if len(seen) == 1 else "them"
            return f"{applies}; this session has {them}: {listed(seen, _MOST_NAMED)}"

        row, reason = drops[0]
        more = f" and {len(drops) - 1:,} more" if len(drops) > 1 else ""
        return (
            f"no record is shown; left out: {row.values[ID]} ({DROPS[reason]}){more}; "
            f"`--format json` lists all"
        )


def brief(workspace: Workspace, request: BriefRequest) -> Brief:
    """Select records for work, add them to the session, and log the event;
    the index is brought up to date.
    """
    started = time.monotonic()
    inputs = _resolve_inputs(workspace, request)
    index = current_index(workspace)
    root = str(workspace.root)
    session = (request.session, "") if request.session else session_of_process(root)
    ledger = SessionLog(root, *session) if session is not None else None

    event = Event("brief:prompt", time.time())
    event.query = [*inputs.paths, *(f"#{tag}" for tag in inputs.tags)]
    event.session = ledger.name if ledger is not None else ""
    event.agent = inputs.agent[:LONGEST_NAME]
    event.details = details(inputs)

    try:
        selection = select(index, _context(workspace, inputs, event.at, index), ledger)
    except OSError as error:
        raise write_error(workspace.state / "log", error) from None

    event.set_selection(selection, tokens(render(selection)))
    event.ms = (time.monotonic() - started) * 1000
    append(root, event)

    return Brief(selection, ledger is not None, inputs)


def _context(workspace: Workspace, inputs: BriefInputs, now: float, index: Index) -> Context:
    context = Context(BRIEF, now)
    context.paths, context.tags = inputs.paths, inputs.tags
    context.agent = inputs.agent
    context.task, context.text = inputs.task.id, inputs.task.words
    context.project = inputs.task.project
    context.min_relevance = workspace.config.setting("rules", "min_relevance")
    if inputs.task_class is not None and inputs.task_class.writes_code:
        context.task_class = CODE
    if inputs.paths:
        context.widths = scope_widths(workspace, index)

    briefs = {kind.name: kind.brief for kind in workspace.kinds}
    context.budgets = {name: brief["budget"] for name, brief in briefs.items() if "budget" in brief}
    if inputs.categories is not None:
        limits = workspace.config.learnings
        context.categories = inputs.categories.names or (_NONE,)
        context.budgets = {}
        context.per_category = limits.per_category
        context.per_call = 0
        context.tokens = limits.tokens

    return context


_NONE = ""  # category that no learning has, for an agent without categories


def details(inputs: BriefInputs) -> dict[str, object]:
    """Return the details for the event: no text of the task, and no reasons of a program."""
    opinion = inputs.task_class
    data: dict[str, object] = {
        **inputs.as_data(),
        "task": inputs.task.id or None,
        "notes": list(inputs.warnings),
    }
    del data["agent"]  # every event has it already

    if inputs.categories is not None:
        data["categories"] = list(inputs.categories.names)
    if opinion is not None and opinion.by == "command":
        data["task_class"] = {**opinion.as_data(), "reasons": []}

    return data


def _resolve_inputs(workspace: Workspace, request: BriefRequest) -> BriefInputs:
    task = _task_of(workspace, request)
    agent = agent_name(request.agent)
    listed_paths = (*request.paths, *task.context_files)
    paths = dict.fromkeys(_inside(workspace, path) for path in listed_paths)
    if not (paths or request.tags or agent or task.words):
        raise _nothing_named(workspace, task)

    opinion = None
    if task.words or request.task_class:
        opinion = class_of(workspace, task, request.task_class)

    warnings = _untrusted_commands(workspace, request, task)
    categories = workspace.config.learnings.categories_for(agent)
    if categories is not None and not categories.is_mapped:
        name = agent[:LONGEST_NAME]
        warnings.append(f"no mapping names the agent {name}: it gets `{GENERAL}` alone")

    if opinion is not None and opinion.fault:
        warnings.append(f"tasks.classifier failed, so the task counts as `other`: {opinion.fault}")

    tags = dict.fromkeys(chain.from_iterable(map(workspace.config.names_of, request.tags)))
    return BriefInputs(tuple(paths), tuple(tags), agent, categories, task, opinion, tuple(warnings))


def _task_of(workspace: Workspace, request: BriefRequest) -> Task:
    task = request.task or Task()
    if isinstance(task, str):
        task = resolve_task(workspace, task)
    if request.text.strip():
        task = replace(task, text="\n\n".join(filter(None, (task.text, request.text))))

    return replace(task, project=working_project(request.project or task.project))


def _nothing_named(workspace: Workspace, task: Task) -> UsageError:
    """Return the error about a request that says nothing of the work."""
    reason = ""
    if task.id:
        reason = f"; of task {task.id} only the id is known: {why_unresolved(workspace)}"

    hint = (
        'say it in words, `orbit brief "retry uploads"`, or name a `--path`, a `--tag`, '
        "the `--agent` or a task"
    )
    return UsageError(f"a brief needs to know the work{reason}", hint=hint)


def _untrusted_commands(workspace: Workspace, request: BriefRequest, task: Task) -> list[str]:
    """Return what to say of the commands that would have run, were they trusted."""
    settings = workspace.config.tasks
    keys = []
    if settings.command and isinstance(request.task, str) and request.task:
        keys.append(COMMAND)
    if settings.classifier and task.words and not request.task_class:
        keys.append(CLASSIFIER)

    return [message for key in keys if (message := not_run_message(workspace, key))]


def _inside(workspace: Workspace, path: str) -> str:
    if path.startswith("/") and PurePosixPath(path).is_relative_to(workspace.root):
        slash = "/" if path.endswith("/") else ""
        path = f"{PurePosixPath(path).relative_to(workspace.root).as_posix()}{slash}"

    return project_path(path)


def _match_data(match: Match, text: str) -> dict[str, object]:
    values = match.row.values
    head = {"id": values[ID], "kind": values[KIND], "record": values[PATH]}
    return {**head, "personal": is_personal(match.row), "text": text}
