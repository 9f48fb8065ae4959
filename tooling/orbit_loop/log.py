"""The loop's event log as read from its lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from orbit_registry.checks.context import CheckContext
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.model.diagnostic import Location


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """One event: `at` in seconds since 1970, the members of its line,
    and the location of the line.
    """

    at: float
    row: Mapping[str, Any]
    location: Location

    @property
    def name(self) -> str:
        """What kind of event it is."""
        return str(self.row.get("event"))

    def word(self, key: str) -> str:
        """Return a member that is a text, without secrets; empty for anything else."""
        value = self.row.get(key)
        if isinstance(value, str):
            return without_secrets(value)

        return ""


@dataclass(frozen=True, slots=True)
class LoopLog:
    """The events to check, in their order; `location` is the log,
    `skipped` counts its lines that hold no event.
    """

    location: Location
    events: tuple[LoopEvent, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def since(self, moment: datetime) -> Iterator[LoopEvent]:
        """Yield the events from a moment on."""
        return (event for event in self.events if event.at >= moment.timestamp())

    def of(self, *names: str) -> Iterator[LoopEvent]:
        """Yield the events of some names."""
        return (event for event in self.events if event.name in names)


@dataclass(frozen=True, eq=False)
class LoopContext(CheckContext):
    """What the checks of the loop read: its events, and no record."""

    log: LoopLog | None = None
