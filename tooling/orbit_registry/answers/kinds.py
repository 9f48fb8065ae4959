"""Which kinds have an operation of the form `orbit KIND NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit_registry.model.kind import Kind


def any_kind(_: Kind) -> bool:
    """Return that each kind has it."""
    return True


def is_voted(kind: Kind) -> bool:
    """Return whether records of a kind have votes."""
    return kind.voted


def is_learning(kind: Kind) -> bool:
    """Return whether a kind is that of learnings."""
    return kind.name == "learning"


def is_numbered(kind: Kind) -> bool:
    """Return whether ids of a kind are numbers in sequence."""
    return kind.numbering == "sequence"


def is_superseded(kind: Kind) -> bool:
    """Return whether one record of a kind can replace another."""
    return "superseded" in kind.statuses
