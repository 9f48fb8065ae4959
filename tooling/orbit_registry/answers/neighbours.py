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
            **({"rejected": one.rejection} if one.rejection else {}),
        }
        for one in near
    ]


def near_text(one: Neighbour) -> str:
    """Return one of them in a line."""
    return f"{one.record.id} ({'; '.join(filter(None, (one.words, one.rejection)))}): {one.record.title}"


def known_already(one: Neighbour) -> str:
    """Return why what one of them says is not written again."""
    if one.rejection:
        return f"this was {one.rejection} ({one.record.id}, {one.words}: {one.record.title})"
    return f"this is known already: {near_text(one)}"


def settles(one: Neighbour, option: str) -> str:
    """Return how what one of them says can be written all the same; `option` says that the two differ."""
    if one.rejection and one.is_exact:
        return "what was turned down is not proposed again in the same words: say what is different now"
    return f"where the two differ, {option}"


def shows(near: Sequence[Neighbour]) -> list[str]:
    """Return the commands that show the nearest ones."""
    return [f"orbit show {one.record.id}" for one in near[:MOST_NAMED]]
