"""Puts together what an agent should know before it begins; what that is, `push.select` chooses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from orbit_registry.briefs.task_class import TaskClass
from orbit_registry.briefs.tasks import CLASSIFIER, COMMAND, class_of, resolve_task, why_unresolved
from orbit_registry.errors import UsageError
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.context import BRIEF, CODE, DROPS, WAYS, Context, Selection, working_project
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.hosts import session_of_process
from orbit_registry.hook.index import ID, KIND, PATH
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import Ledger
from orbit_registry.matching.match import current_index
from orbit_registry.matching.personal import is_personal
from orbit_registry.model.scope import Task
from orbit_registry.workspace.config import GENERAL, Categories, agent_name
from orbit_registry.workspace.files import write_error
from orbit_registry.workspace.trusted_commands import not_run
from orbit_registry.workspace.workspace import Workspace, project_path

LONGEST_NAME = 100
HEADING = "## System Context"
"""What stands above a brief in a longer prompt: tools that shorten prompts keep the section of this name."""


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """What is known of the work ahead: paths from the project's root; empty where nothing is known.

    `task` is a task, or the id of one that the project's own program finds. `task_class` is what the caller takes the
    work for, one of `task_class.CLASSES`; empty, it is told by the words.
    """

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
    """What is known once the task was found and the agent looked up: what there is to choose by."""

    paths: tuple[str, ...]
    tags: tuple[str, ...]
    agent: str
    categories: Categories | None
    task: Task
    task_class: TaskClass | None
    """None where there are no words to tell it by, and nobody said."""
    warnings: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        """Return what was known as JSON shows it, and the event."""
        agent = None
        if self.categories is not None:
            agent = {"name": self.agent, "known": self.categories.known, "categories": list(self.categories.names)}
        task = {"id": self.task.id, "title": self.task.title} if self.task.id or self.task.title else None
        opinion = self.task_class.as_data() if self.task_class is not None else None
        return {"agent": agent, "task": task, "task_class": opinion}


@dataclass(frozen=True, slots=True)
class Brief:
    """What was chosen, by what, and whether a session's ledger was asked."""

    selection: Selection
    deduplicated: bool
    known: BriefInputs

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the caller may have meant otherwise: an agent that nobody knows, a program that failed."""
        return self.known.warnings

    def as_data(self) -> dict[str, object]:
        """Return the brief as JSON shows it; the schema is docs/schemas/brief.schema.json."""
        found = self.selection
        return {
            "matches": [
                {
                    "id": one.row.values[ID],
                    "kind": one.row.values[KIND],
                    "record": one.row.values[PATH],
                    "personal": is_personal(one.row),
                    "text": one.text,
                    "matched_by": [_way(asked, glob) for asked, glob in one.ways],
                }
                for one in found.matches
            ],
            "omitted": found.omitted,
            "dropped": [{"id": row.values[ID], "reason": reason, "said": DROPS[reason]} for row, reason in found.drops],
            "skip_reason": found.skip_reason or None,
            "deduplicated": self.deduplicated,
            **self.known.as_data(),
            "warnings": list(self.warnings),
        }

    def text(self) -> str:
        """Return the brief as it stands in a prompt; empty where there is nothing to say."""
        block = render(self.selection)
        return f"{HEADING}\n\n{block}" if block else ""


def brief(workspace: Workspace, wanted: BriefRequest, search: Callable[[str], Iterable[tuple[str, float]]]) -> Brief:
    """Choose what to say before work begins, note it as shown, and write the event; the index is brought up to date.

    `search` returns the paths of the records that answer a text, with scores from 0 to 1, the best first.

    Raises:
        UsageError: nothing is known of the work, a path leads out of the project, or what should be a task is none.
        ProgramError: the program that finds tasks failed.
        SnapshotError: the index can't be made.
        WriteError: the session's ledger can't be kept.
    """
    begun = time.monotonic()
    known = _known(workspace, wanted)
    index = current_index(workspace)
    root = str(workspace.root)
    session = (wanted.session, "") if wanted.session else session_of_process(root)
    ledger = Ledger(root, *session) if session is not None else None
    event = Event("brief:prompt", time.time())
    event.query = [*known.paths, *(f"#{tag}" for tag in known.tags)]
    event.session = ledger.name if ledger is not None else ""
    event.agent = known.agent[:LONGEST_NAME]
    event.details = details(known)
    try:
        found = select(index, context_of(workspace, known, event.at, search), ledger)
    except OSError as error:
        raise write_error(workspace.state / "log", error) from None
    event.answered(found, tokens(render(found)))
    event.ms = (time.monotonic() - begun) * 1000
    append(root, event)
    return Brief(found, ledger is not None, known)


def context_of(
    workspace: Workspace,
    known: BriefInputs,
    now: float,
    search: Callable[[str], Iterable[tuple[str, float]]] | None = None,
) -> Context:
    """Return what the chooser gets: for a named agent its categories and the budgets that the configuration gives."""
    writes_code = known.task_class is not None and known.task_class.writes_code
    context = Context(
        BRIEF,
        now,
        paths=known.paths,
        tags=known.tags,
        agent=known.agent,
        task=known.task.id,
        project=known.task.project,
        task_class=CODE if writes_code else "",
        text=known.task.words,
        search=search,
        min_relevance=workspace.config.setting("rules", "min_relevance"),
        budgets={kind.name: kind.brief["budget"] for kind in workspace.kinds if "budget" in kind.brief},
    )
    if known.categories is not None:
        limits = workspace.config.learnings
        context.categories, context.budgets = known.categories.names or (_NONE,), {}
        context.per_category, context.per_call, context.tokens = limits.per_category, 0, limits.tokens
    return context


_NONE = ""
"""The category of no learning: an agent that is mapped to nothing gets none."""


def details(known: BriefInputs) -> str:
    """Return what an event keeps of it: no word of the task, and of a program's opinion not its reasons."""
    opinion = known.task_class
    data: dict[str, object] = {**known.as_data(), "task": known.task.id or None, "notes": list(known.warnings)}
    del data["agent"]  # its name is a member of every event
    if known.categories is not None:
        data["categories"] = list(known.categories.names)
    if opinion is not None and opinion.by == "command":
        data["task_class"] = {**opinion.as_data(), "reasons": []}
    return f", {json.dumps(data)[1:-1]}"


def _known(workspace: Workspace, wanted: BriefRequest) -> BriefInputs:
    task = resolve_task(workspace, wanted.task) if isinstance(wanted.task, str) and wanted.task else wanted.task
    task = task if isinstance(task, Task) else Task()
    if wanted.text.strip():
        task = replace(task, text="\n\n".join(filter(None, (task.text, wanted.text))))
    task = replace(task, project=working_project(wanted.project or task.project))
    agent = agent_name(wanted.agent)
    paths = dict.fromkeys(_inside(workspace, path) for path in (*wanted.paths, *task.context_files))
    if not (paths or wanted.tags or agent or task.words):
        why = f"; of task {task.id} no more is known: {why_unresolved(workspace)}" if task.id else ""
        hint = "name a `--path`, a `--tag`, the `--agent`, the `--text` or a `--task-file`"
        raise UsageError(f"nothing is known of the work{why}", hint=hint)
    opinion = class_of(workspace, task, wanted.task_class) if task.words or wanted.task_class else None
    settings = workspace.config.tasks
    asked = {COMMAND: settings.command and isinstance(wanted.task, str) and wanted.task,
             CLASSIFIER: settings.classifier and task.words and not wanted.task_class}  # fmt: skip
    warnings = [said for key, would in asked.items() if would and (said := not_run(workspace, key))]
    categories = workspace.config.learnings.categories_for(agent)
    if categories is not None and not categories.known:
        warnings.append(f"no mapping names the agent {agent[:LONGEST_NAME]}: it gets `{GENERAL}` alone")
    if opinion is not None and opinion.fault:
        warnings.append(f"tasks.classifier failed, so the task counts as `other`: {opinion.fault}")
    tags = dict.fromkeys(name for tag in wanted.tags for name in workspace.config.names_of(tag))
    return BriefInputs(tuple(paths), tuple(tags), agent, categories, task, opinion, tuple(warnings))


def _inside(workspace: Workspace, path: str) -> str:
    """Return a path from the root; an absolute one inside the project is one too."""
    if path.startswith("/") and PurePosixPath(path).is_relative_to(workspace.root):
        path = PurePosixPath(path).relative_to(workspace.root).as_posix() + ("/" if path.endswith("/") else "")
    return project_path(path)


def _way(asked: str, glob: str) -> dict[str, str]:
    if asked.startswith("/"):
        return {"path": asked[1:], "glob": glob}
    name = WAYS.get(asked[:1])
    return {name: asked[1:]} if name is not None else {"way": asked}
