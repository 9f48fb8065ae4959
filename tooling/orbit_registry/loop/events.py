"""Writes to the event log what a command did with records; it loads nothing that a quick command can do without."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from orbit_registry.push.events import OPENED, Event, append
from orbit_registry.push.hosts import session_of_process
from orbit_registry.push.ledger import Ledger
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.secrets import without_secrets


def note_opened(root: Path, record_id: str) -> None:
    """Write the event of a record that was shown whole to whoever asked for it, if that is an agent's session."""
    found = session_of_process(str(root))
    if found is None:
        return
    event = Event("show", time.time())
    event.name, event.opened, event.session = OPENED, [record_id], Ledger(str(root), *found).name
    append(str(root), event)


def write_event(
    workspace: Workspace,
    name: str,
    ids: Sequence[str],
    details: Mapping[str, object],
    seconds: float = 0,
    surface: str = "cli",
) -> None:
    """Write an event of what was done with some records, in the session of an agent where one is running this.

    `seconds` is how long it took, where somebody counted; `surface` is what several doors share, where they do. No
    secret in a text of `details` is written.
    """
    root = str(workspace.root)
    session = session_of_process(root)
    event = Event(surface, time.time())
    event.name, event.opened, event.ms = name, list(ids), seconds * 1000
    event.session = Ledger(root, *session).name if session is not None else ""
    event.details = f", {json.dumps(_plain(details))[1:-1]}" if details else ""
    append(root, event)


def _plain(value: object) -> object:
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
