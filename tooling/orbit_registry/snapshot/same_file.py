"""Chooses among records that were taken from one file, for several versions, the one that a link to the file means."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from orbit_registry.model.record import Record
from orbit_registry.model.scope import UNSTATED, UNVERSIONED, version_factor

_NUMBER = re.compile(r"[0-9]+|[^0-9._+-]+")


def by_version(records: Sequence[Record], asking: Collection[str]) -> list[Record]:
    """Return records in the order in which a link means them, from a text that is for the versions `asking`, if any.

    What is in force comes first; then what shares most with those versions, as searches weigh it; where nothing does,
    or none is asked for, what is unversioned, else what is for the newest version, of two the one for more of them.
    """
    requested = frozenset(asking) - {UNVERSIONED}

    def rank(record: Record) -> tuple[bool, float, bool, list[tuple[bool, int, str]], int]:
        versions = record.words("versions")
        factor = version_factor(versions, requested) if requested else 0.0
        is_for_all = not versions or UNVERSIONED in versions
        newest = max(map(_order, versions), default=[])
        return record.phase == "live", factor if factor > UNSTATED else 0.0, is_for_all, newest, len(versions)

    by_id = sorted(records, key=lambda record: record.sort_key)
    return sorted(by_id, key=rank, reverse=True)


def _order(version: str) -> list[tuple[bool, int, str]]:
    """Return what versions are sorted by, the newest last: numbers as such, and before `2.0` its `2.0-rc1`."""
    parts = [(True, int(part), "") if part.isdecimal() else (False, 0, part) for part in _NUMBER.findall(version)]
    return [*parts, (False, 1, "")]
