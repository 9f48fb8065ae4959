"""What a session is shown beside an answer, and what it opened: `push.sidecar` decides the one, the log keeps both."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from orbit_registry.errors import OrbitError
from orbit_registry.mcp.tool import Caller
from orbit_registry.push.events import OPENED, Event, append
from orbit_registry.push.sidecar import Sidecar
from orbit_registry.push.sidecar import beside as chosen
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.workspace import Workspace

SHOW = "mcp:show"


def beside(workspace: Workspace, paths: Sequence[str], shown: Collection[str], caller: Caller) -> Sidecar | None:
    """Return the records that apply to paths, noted as shown to the session; none that the answer holds already.

    Where they can't be had the answer goes without them: it is what was asked for.
    """
    if not paths:
        return None
    root = str(workspace.root)
    try:
        return chosen(root, current_index(workspace), paths, caller.ledger(root), shown=shown, agent=caller.name)
    except (OrbitError, OSError):
        return None


def note_opened(workspace: Workspace, record_id: str, caller: Caller) -> None:
    """Write the event of a record that was shown whole."""
    root = str(workspace.root)
    ledger = caller.ledger(root)
    event = Event(SHOW, time.time())
    event.name, event.opened, event.session = OPENED, [record_id], ledger.name if ledger is not None else ""
    append(root, event)
