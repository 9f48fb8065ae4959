"""Records that are like another, as JSON shows them and as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.checks.neighbours import Neighbour

MOST_NAMED = 5
"""So many are named in text."""


def neighbours_data(near: Sequence[Neighbour]) -> list[dict[str, object]]:
    """Return records that are like another as JSON shows them."""
    return [
        {
            "id": one.record.id,
            "score": round(one.score, 4),
            "title": one.record.title,
            "difference": str(one.contrast) if one.contrast is not None else None,
        }
        for one in near
    ]


def near_text(one: Neighbour) -> str:
    """Return one of them in a line."""
    return f"{one.record.id} ({one.words}): {one.record.title}"


def shows(near: Sequence[Neighbour]) -> list[str]:
    """Return the commands that show the nearest ones."""
    return [f"orbit show {one.record.id}" for one in near[:MOST_NAMED]]
