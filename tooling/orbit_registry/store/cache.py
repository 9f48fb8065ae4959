"""Which stamps of files no later write can share."""

from __future__ import annotations

from orbit_registry.store.manifest import Stamp
from orbit_registry.store.sealed import SECOND_NS

NEVER: Stamp = (0, 0, -1, 0)
"""Stands for a stamp that may still be shared by a later write: no file has it."""
TICK_NS = 50_000_000
"""Two writes within one tick of a file system's clock leave one stamp; kernels tick every 1 to 16 ms."""
COARSE_NS = 2_000_000_000
"""The tick of file systems that stamp whole seconds."""


def is_few(changed: int, total: int) -> bool:
    """Say whether so few changed that looking at them again costs less than writing down all there is."""
    return changed * 200 < total


def settled(stamp: Stamp, began_ns: int) -> Stamp | None:
    """Return a stamp that no later write can share; None where one within the clock's tick still could."""
    newest = max(stamp[0], stamp[1])
    tick = COARSE_NS if stamp[0] % SECOND_NS == 0 and stamp[1] % SECOND_NS == 0 else TICK_NS
    return stamp if newest + tick < began_ns else None
