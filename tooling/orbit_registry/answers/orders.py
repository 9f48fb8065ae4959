"""The orders in which records are listed; it reads no file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from orbit_registry.records.rank import rank_order
from orbit_registry.records.record import Record
from orbit_registry.records.vote import moment
from orbit_registry.store.votes import half_life_days

ORDERS = ("votes", "updated", "id")


def in_order(records: Sequence[Record], sort: str) -> list[Record]:
    """Return records in one of `ORDERS`; by votes is the order in which they are pushed."""
    if sort == "updated":
        return sorted(records, key=_updated, reverse=True)
    if sort == "votes":
        half_life = half_life_days()
        return sorted(records, key=lambda record: rank_order(record, half_life))
    return list(records)


def _updated(record: Record) -> datetime:
    return moment(str(record.data["updated_at"]))
