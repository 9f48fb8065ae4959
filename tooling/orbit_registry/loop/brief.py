"""Puts together what an agent should know before it begins; what that is, `push.select` chooses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.push.events import Event, append
from orbit_registry.push.hosts import session_of_process
from orbit_registry.push.ledger import Ledger
from orbit_registry.push.reader import ID, KIND, PATH
from orbit_registry.push.render import render
from orbit_registry.push.select import BRIEF, DROPS, Context, Selection, select
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.files import write_error
from orbit_registry.store.workspace import Workspace, project_path

HEADING = "## System Context"
"""What stands above a brief in a longer prompt: tools that shorten prompts keep the section of this name."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is known of the work ahead: paths from the project's root; empty where nothing is known."""

    paths: Sequence[str] = ()
    tags: Sequence[str] = ()
    agent: str = ""
    task: str = ""
    task_class: str = ""
    text: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """What was chosen, and whether a session's ledger was asked."""

    selection: Selection
    deduplicated: bool

    def as_data(self) -> dict[str, object]:
        """Return the brief as JSON shows it."""
        found = self.selection
        return {
            "matches": [
                {
                    "id": one.row.values[ID],
                    "kind": one.row.values[KIND],
                    "record": one.row.values[PATH],
                    "text": one.row.teaser,
                    "matched_by": [_way(asked, glob) for asked, glob in one.ways],
                }
                for one in found.matches
            ],
            "omitted": found.omitted,
            "dropped": [{"id": row.values[ID], "reason": reason, "said": DROPS[reason]} for row, reason in found.drops],
            "skip_reason": found.skip_reason or None,
            "deduplicated": self.deduplicated,
        }

    def text(self) -> str:
        """Return the brief as it stands in a prompt; empty where there is nothing to say."""
        block = render(self.selection)
        return f"{HEADING}\n\n{block}" if block else ""


def brief(workspace: Workspace, wanted: Wanted, search: Callable[[str], Iterable[str]]) -> Brief:
    """Choose what to say before work begins, note it as shown, and write the event; the index is brought up to date.

    `search` returns the paths of the records that answer a text best.

    Raises:
        UsageError: a path leads out of the project.
        SnapshotError: the index can't be made.
        WriteError: the session's ledger can't be kept.
    """
    begun = time.monotonic()
    index = current_index(workspace)
    root = str(workspace.root)
    session = (wanted.session, "") if wanted.session else session_of_process(root)
    ledger = Ledger(root, *session) if session is not None else None
    event = Event("brief:prompt", time.time())
    paths = [project_path(path) for path in wanted.paths]
    event.query = [*paths, *(f"#{tag}" for tag in wanted.tags)]
    event.session = ledger.name if ledger is not None else ""
    context = Context(
        BRIEF,
        event.at,
        paths=paths,
        tags=wanted.tags,
        agent=wanted.agent,
        task=wanted.task,
        task_class=wanted.task_class,
        text=wanted.text,
        search=search,
    )
    try:
        found = select(index, context, ledger)
    except OSError as error:
        raise write_error(workspace.state / "log", error) from None
    event.hits = [one.row.values[ID] for one in found.matches]
    event.omitted, event.skip_reason = found.omitted, found.skip_reason
    event.ms = (time.monotonic() - begun) * 1000
    append(root, event)
    return Brief(found, ledger is not None)


def _way(asked: str, glob: str) -> dict[str, str]:
    if asked.startswith("/"):
        return {"path": asked[1:], "glob": glob}
    name = {"#": "tag", "@": "category"}.get(asked[:1])
    return {name: asked[1:]} if name is not None else {"way": asked}
