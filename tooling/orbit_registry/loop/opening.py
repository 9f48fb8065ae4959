"""Notes that a session opened a record, where a command is run inside of one; elsewhere it writes nothing."""

from __future__ import annotations

import time
from pathlib import Path

from orbit_registry.push.events import OPENED, Event, append
from orbit_registry.push.hosts import session_of_process
from orbit_registry.push.ledger import Ledger


def note_opened(root: Path, record_id: str) -> None:
    """Write the event of a record that was shown whole to whoever asked for it, if that is an agent's session."""
    found = session_of_process(str(root))
    if found is None:
        return
    event = Event("show", time.time())
    event.name, event.opened, event.session = OPENED, [record_id], Ledger(str(root), *found).name
    append(str(root), event)
