"""What people are told of outside of a terminal; a package sends it, see `seams.Extra`."""

import shlex
from collections.abc import Iterable, Mapping

from orbit_registry.errors import ConfigError
from orbit_registry.model.record import Record
from orbit_registry.seams import load, targets
from orbit_registry.workspace.workspace import Workspace


def send_notices(workspace: Workspace, topic: str, texts: Mapping[str, str]) -> int:
    """Send the texts that were not sent before, by key; return how many."""
    for target in targets("notifier"):
        return int(load(target)(workspace, topic, texts))

    message = "no installed package sends notifications"
    raise ConfigError(message, hint="install one, such as `orbit_notify`")


def of_queue(records: Iterable[Record]) -> dict[str, str]:
    """Return the notice on each record that waits, by id: its text, and the commands that decide on
    it.
    """
    return {record.id: _notice(record) for record in records}


def _notice(record: Record) -> str:
    name = shlex.quote(record.id)
    title = " ".join(record.title.split())
    return (
        f"{record.kind.label} {record.id} waits for review: {title}\n"
        f"  orbit accept {name}\n"
        f"  orbit reject {name} --reason WHY"
    )
