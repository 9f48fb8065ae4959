"""Notes on a path that a person asks about: what else it is called, what leads to no record, and
why an agent was shown none.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.doors.answers.call import note
from orbit_registry.hook.events import RETRIEVAL
from orbit_registry.hook.files import readable_content
from orbit_registry.hook.other_paths import paths_of
from orbit_registry.hook.session import FOLDER, LARGEST, missed_in
from orbit_registry.model.reach import SKIPS, TRIAL
from orbit_registry.workspace.event_log import events_about
from orbit_registry.workspace.files import is_there

if TYPE_CHECKING:
    from orbit_registry.registry import Registry
    from orbit_registry.workspace.event_log import LoggedEvent


def path_notes(registry: Registry, name: str, path: str) -> list[str]:
    """Return notes on a path: `name` is how it was written, `path` counts from the root."""
    root = registry.workspace.root
    if not is_there(Path(name)) and not is_there(root / path):
        return [_no_file(registry, name, path)]

    notes: list[str] = []
    written = Path(os.path.normpath(Path.cwd() / name))
    if not written.is_relative_to(root):
        notes.append(note(f"{name} is {path} of this project: its records are shown there too"))
    elif "\\" not in name and written != root / path.rstrip("/"):
        words = f"{name} is {path} by a link of a folder"
        notes.append(note(f"{words}: an edit shows the records of either path"))

    for other in paths_of(str(root), str(root), path):
        if other.rstrip("/") != path.rstrip("/"):
            words = f"{path} is a link to {other}, whose records an edit shows too"
            notes.append(note(f"{words}: `orbit explain {other}`"))

    git = registry.workspace.git
    ignored = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", path)
    if git.top is not None and git.run_names(*ignored, check=False):
        words = f"git ignores {path}: no import and no citation in it leads to a record, globs do"
        notes.append(note(words))

    return notes


REASONS = {
    "no match": "no record applied then; the next call shows what applies now",
    "narrowed": "what applies was left out: `orbit explain ID` says when a record is shown",
    "withheld": f"{SKIPS['withheld']}: `experiment.holdout: 0` in .orbit/config.yaml ends that",
    "capped": f"{SKIPS['capped']}: `orbit match PATH` lists the records",
    "deadline": f"{SKIPS['deadline']}: if that happens often, `orbit doctor` says what helps",
}
"""What to know of an agent's silence about a file, by its reason; another one needs no note."""
WAITS = "there was no index yet; the session's next call that finds one shows what was missed"
WITHOUT_SESSION = (
    "there was no index yet, and the call named no session that could be shown later what it "
    "missed: `orbit match PATH` lists the records"
)


def call_notes(registry: Registry, path: str) -> list[str]:
    """Return why the last call of an agent about a file showed nothing, where a person should
    know: not if its session has the records, from an earlier call or a later one.
    """
    events = events_about(registry.workspace.state, path)
    last = next(filter(_is_of_agent, events), None)
    if last is None or last.shown:
        return []

    reason = REASONS.get(last.skip_reason, "")
    if last.skip_reason == "no index" and not last.session:
        reason = WITHOUT_SESSION
    elif last.skip_reason == "no index" and _waits(registry, last.session, path):
        reason = WAITS

    if not reason:
        return []

    reason = reason.replace("PATH", path)
    moment = datetime.fromtimestamp(last.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [note(f"an agent's last call about {path}, {moment}, showed nothing: {reason}")]


def _waits(registry: Registry, session: str, path: str) -> bool:
    """Say whether a session has yet to be shown what a call about a path missed."""
    if "/" in session:
        return False  # no name of a session's log

    log = registry.workspace.state / "log" / FOLDER / session
    lines = readable_content(str(log), LARGEST).decode("utf-8", "replace").split()
    return path in missed_in(lines)


def _is_of_agent(event: LoggedEvent) -> bool:
    is_call = event.kind == RETRIEVAL and event.surface.startswith("hook:")
    return is_call and not event.session.startswith(TRIAL)


def _no_file(registry: Registry, name: str, path: str) -> str:
    """Return that no file is at a path; another one may have been meant."""
    root = registry.workspace.root
    words = f"there is no file {path}"
    from_root = root / name
    other = _in_other_case(root, path)
    if from_root.is_file():
        words += f"; {name} of the project's root is `{os.path.relpath(from_root)}` from here"
    elif other:
        words += f", but {other}: globs tell capitals from small letters"

    return note(words)


def _in_other_case(root: Path, path: str) -> str:
    """Return a file's path that differs in capitals and small letters alone; empty without one."""
    folder = root
    for part in path.strip("/").split("/"):
        if not folder.is_dir():
            return ""

        names = sorted(entry.name for entry in folder.iterdir())
        name = next((each for each in names if each.casefold() == part.casefold()), "")
        if not name:
            return ""
        folder /= part if part in names else name

    actual = folder.relative_to(root).as_posix()
    if actual == path.rstrip("/"):
        return ""

    return actual
