"""A made-up operation, in one file: `orbit weigh`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import RefusedError


@dataclass(frozen=True, slots=True)
class Weight:
    """What a record weighs."""

    id: str
    grams: int
    note: str | None

    def text(self) -> str:
        """Return the weight in words."""
        return f"{self.id} weighs {self.grams} g"


@operation("weigh", job="Find", tool="weigh")
def weigh(call: Call, any_id: str, times: Annotated[int, Form(minimum=1, maximum=9)] = 1) -> Weight:
    """Weigh a record.

    orbit weigh ADR-0001 --times 2

    Args:
        any_id ID: The record.
        times: How many of it are on the scales.

    Agents:
        Weigh a record before you carry it.
    """
    record = call.registry.get(any_id)
    if record.phase == "closed":
        raise RefusedError(f"{record.id} is closed", hint="weigh one in force")

    return Weight(record.id, len(record.title) * times, None)
