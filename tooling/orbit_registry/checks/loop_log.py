"""What the checks of the loop look at: events with their places, and what several of these checks ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from orbit_registry.push.events import NOTED
from orbit_registry.records.diagnostic import Location
from orbit_registry.text.secrets import without_secrets

TURN_END = "stop"


@dataclass(frozen=True, slots=True)
class Logged:
    """One event: `at` in seconds since 1970, the members of its line, and where the line stands."""

    at: float
    row: Mapping[str, Any]
    place: Location

    @property
    def name(self) -> str:
        """What kind of event it is."""
        return str(self.row.get("event"))

    def word(self, key: str) -> str:
        """Return a member that is a text, without secrets; empty for anything else."""
        value = self.row.get(key)
        return without_secrets(value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class LoopLog:
    """The events that are looked at, in their order; `place` is the log itself, `skipped` its lines that are none."""

    place: Location
    events: tuple[Logged, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def since(self, moment: datetime) -> Iterator[Logged]:
        """Yield the events from a moment on."""
        return (one for one in self.events if one.at >= moment.timestamp())

    def of(self, *names: str) -> Iterator[Logged]:
        """Yield the events of some names."""
        return (one for one in self.events if one.name in names)


def turn_id(source: str, agent: str, channel: str, session: str, turn: str) -> str:
    """Return the id of a turn: the same parts give the same id, and no part can hold what parts the others."""
    parts = (source, agent, channel, session, turn)
    return ":".join("".join("-" if one in ": \t\n\r" else one for one in part) or "-" for part in parts)


def turn_of(ended: Logged) -> str:
    """Return the id of the turn that an event ended: told by its time, so that a cut log changes no id."""
    return turn_id("hook", ended.word("agent"), ended.word("surface").rpartition(":")[2], ended.word("session"),
                   str(int(ended.at)))  # fmt: skip


def turns(log: LoopLog) -> Iterator[tuple[Logged, Logged | None]]:
    """Yield each turn's end, and its note: one that names its id, or the last of its session since the turn before.

    What an agent notes while it works comes before the end of its turn, and what a person adds names the id.
    """
    named = {one.word("turn"): one for one in log.of(NOTED) if one.word("turn")}
    noted: dict[str, Logged] = {}
    for one in log.of(NOTED, TURN_END):
        session = one.word("session")
        if one.name == NOTED:
            if session:
                noted[session] = one
        else:
            yield one, named.get(turn_of(one)) or noted.pop(session, None)
            noted.pop(session, None)
