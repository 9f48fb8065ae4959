"""What a session is shown beside an answer, and what it opened: `push.sidecar` decides the one, the log keeps both."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from orbit_registry.errors import OrbitError
from orbit_registry.hook.events import OPENED, Event, append
from orbit_registry.hook.select import LINKED
from orbit_registry.hook.sidecar import Sidecar
from orbit_registry.hook.sidecar import beside as chosen
from orbit_registry.matching.match import current_index
from orbit_registry.mcp.tool import Caller
from orbit_registry.model.record_set import RecordSet
from orbit_registry.workspace.workspace import Workspace

SHOW = "mcp:show"


def beside(
    workspace: Workspace, records: RecordSet, paths: Sequence[str], shown: Collection[str], caller: Caller
) -> Sidecar | None:
    """Return the records that apply to paths, and the rules that shown records are linked with; all noted as shown.

    None of them the answer holds already. Where they can't be had the answer goes without them: it is what was asked
    for.
    """
    returned = _linked(records, shown)
    if not (paths or returned):
        return None
    root = str(workspace.root)
    try:
        index = current_index(workspace)
        return chosen(root, index, paths, caller.ledger(root), shown=shown, returned=returned, agent=caller.name)
    except (OrbitError, OSError):
        return None


def _linked(records: RecordSet, shown: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return those of the shown records that a link joins with a rule, whichever of the two states it."""
    found: dict[str, list[str]] = {}
    for record in records:
        if record.kind.gate == LINKED and record.phase == "live":
            for link in record.links:
                if link.to in shown:
                    found.setdefault(link.to, []).append(record.id)
    for one in shown:
        for record in records.with_id(one):
            targets = (target for link in record.links for target in records.with_id(link.to))
            rules = [target.id for target in targets if target.kind.gate == LINKED and target.phase == "live"]
            if rules:
                found.setdefault(one, []).extend(rules)
    return found


def note_opened(workspace: Workspace, record_id: str, caller: Caller) -> None:
    """Write the event of a record that was shown whole."""
    root = str(workspace.root)
    ledger = caller.ledger(root)
    event = Event(SHOW, time.time())
    event.name, event.opened, event.session = OPENED, [record_id], ledger.name if ledger is not None else ""
    append(root, event)
