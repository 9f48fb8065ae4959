"""Draws a record among those it names and that name it, one step away, as one inline SVG; the page lists them too.

What leads here stands on the left, where it leads on the right. Every box is a link; nothing in it is a script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

MOST = 12
BOX, HEIGHT, GAP, BETWEEN = 172, 36, 8, 72
NOTE = 20
"""How high the line is that says how many are not drawn."""
_LEFT = frozenset(
    {"Amended by", "Extended by", "Source of", "Contradicted by", "Implemented by", "Resolved by", "Referred to by"}
)
"""Labels of links that begin at the other record, as `views.RELATIONS` words them."""


def neighbourhood(view: Mapping[str, Any]) -> str:
    """Return the drawing of a record's page; "" where it names nobody and nobody names it."""
    left = [("replaced", ref) for ref in view["replaces"]]
    right = [("replaced by", ref) for ref in view["replaced_by"]]
    for label, refs in view["links"]:
        side = left if label in _LEFT else right
        side += [(label.lower(), ref) for ref in refs]
    if not left and not right:
        return ""
    some = MOST // 2
    shown_left, shown_right = _room(left, right, some)
    rows = max(len(shown_left), len(shown_right), 1)
    height = rows * (HEIGHT + GAP) - GAP + 2
    middle = (height - HEIGHT) / 2
    note = NOTE if len(left) > len(shown_left) or len(right) > len(shown_right) else 0
    x_this = BOX + BETWEEN if left else 0
    width = x_this + BOX + (BETWEEN + BOX if right else 0) + 2
    parts = [
        *_side(shown_left, len(left), 0, x_this, middle, height, leads_here=True),
        *_side(shown_right, len(right), x_this + BOX + BETWEEN, x_this + BOX, middle, height, leads_here=False),
        _box(str(view["id"]), "", x_this, middle, " orbit-this"),
    ]
    said = f"{view['id']} and what it has to do with: {len(left)} lead here, it leads to {len(right)}"
    whole = f"{height + note:.0f}"
    size = f'viewBox="0 0 {width} {whole}" width="{width}" height="{whole}"'
    return (
        f'<div class="orbit-scroll"><svg class="orbit-drawing orbit-neighbours" role="group" '
        f'aria-label="{escape(said)}" {size}>{"".join(parts)}</svg></div>'
    )


def _room(left: list[Any], right: list[Any], some: int) -> tuple[list[Any], list[Any]]:
    """Return what is drawn of both sides: half of the room each, and what one side leaves goes to the other."""
    return left[: max(some, MOST - len(right))], right[: max(some, MOST - len(left))]


def _side(
    shown: Sequence[tuple[str, Any]], total: int, x: float, x_this: float, middle: float, height: float,
    *, leads_here: bool,
) -> list[str]:  # fmt: skip
    parts = []
    block = len(shown) * (HEIGHT + GAP) - GAP
    for number, (label, ref) in enumerate(shown):
        y = (height - block) / 2 + number * (HEIGHT + GAP)
        start, end = (x + BOX, x_this) if leads_here else (x_this, x)
        from_y, to_y = (y, middle) if leads_here else (middle, y)
        bend = (start + end) / 2
        one, other = from_y + HEIGHT / 2, to_y + HEIGHT / 2
        parts.append(
            f'<path class="orbit-line" d="M{start} {one:g}C{bend:g} {one:g} {bend:g} {other:g} {end} {other:g}"/>'
        )
        parts.append(_linked(ref, label, x, y))
    if total > len(shown):
        place = x + BOX / 2
        parts.append(
            f'<text class="orbit-small" x="{place}" y="{height + NOTE - 6:.0f}" text-anchor="middle">'
            f"+{total - len(shown)} in the list below</text>"
        )
    return parts


def _linked(ref: Mapping[str, Any], label: str, x: float, y: float) -> str:
    inner = _box(str(ref["id"]), label, x, y, "")
    said = escape(f"{label} {ref['id']} {ref['title']}".strip())
    if not ref["url"]:
        return f"<g><title>{said}</title>{inner}</g>"
    return f'<a href="{escape(str(ref["url"]))}"><title>{said}</title>{inner}</a>'


def _box(name: str, label: str, x: float, y: float, css: str) -> str:
    short = name if len(name) <= 22 else f"{name[:21]}…"
    at = y + (14 if label else HEIGHT / 2 + 4)
    note = f'<text class="orbit-small" x="{x + 10:g}" y="{y + 27:g}">{escape(label)}</text>' if label else ""
    return (
        f'<rect class="orbit-box{css}" x="{x + 1:g}" y="{y + 1:g}" width="{BOX - 2}" height="{HEIGHT - 2}" rx="6"/>'
        f'<text x="{x + 10:g}" y="{at:g}">{escape(short)}</text>{note}'
    )
