"""What comes along with a tool's answer: records that apply to the files it speaks of; `push.select` chooses them."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from orbit_registry.errors import OrbitError
from orbit_registry.push.events import Event, append
from orbit_registry.push.ledger import Ledger
from orbit_registry.push.reader import ID, KIND, PATH
from orbit_registry.push.render import render
from orbit_registry.push.select import TOOL, Context, Selection, select
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.workspace import Workspace

SURFACE = "mcp"


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Records beside an answer: as text for the model, and as data for its host."""

    text: str
    learnings: Sequence[dict[str, object]]


def beside(workspace: Workspace, paths: Sequence[str], shown: Collection[str], session: str) -> Sidecar | None:
    """Return the records that apply to paths, noted as shown to the session; none that the answer holds already.

    Where they can't be had the answer goes without them: it is what was asked for.
    """
    if not paths:
        return None
    begun, root = time.monotonic(), str(workspace.root)
    ledger = Ledger(root, session) if session else None
    event = Event(SURFACE, time.time())
    event.query, event.session = list(paths), ledger.name if ledger is not None else ""
    try:
        found = select(current_index(workspace), Context(TOOL, event.at, paths=list(paths)), ledger)
    except (OrbitError, OSError):
        return None
    kept = [one for one in found.matches if one.row.values[ID] not in shown]
    event.hits = [one.row.values[ID] for one in kept]
    event.omitted = found.omitted
    event.skip_reason = found.skip_reason or ("" if kept else "already shown")
    event.ms = (time.monotonic() - begun) * 1000
    append(root, event)
    if not kept:
        return None
    learnings: list[dict[str, object]] = [
        {
            "id": one.row.values[ID],
            "kind": one.row.values[KIND],
            "record": one.row.values[PATH],
            "text": one.text,
        }
        for one in kept
    ]
    return Sidecar(render(Selection(kept, found.omitted, [])), learnings)
