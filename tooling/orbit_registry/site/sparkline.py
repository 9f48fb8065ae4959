"""Draws a few numbers as a line of bars, as one inline SVG in the colour of its text; it knows nothing of records."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BAR, GAP, HEIGHT = 3, 1, 16
"""In CSS pixels; a baseline of one more is drawn below the bars."""


def sparkline(numbers: Sequence[int], label: str) -> str:
    """Return numbers from 0 up as bars over a faint baseline, the highest one as high as the line; `label` says it.

    Nothing in it is a script, a style or an address, and every colour is the text's own.
    """
    most = max((*numbers, 1))
    width = len(numbers) * (BAR + GAP)
    bars = "".join(
        f"M{place * (BAR + GAP)} {HEIGHT}v-{max(1, round(number / most * HEIGHT))}h{BAR}V{HEIGHT}z"
        for place, number in enumerate(numbers)
        if number > 0
    )
    return (
        f'<svg class="orbit-sparkline" role="img" aria-label="{escape(label)}" width="{width}" height="{HEIGHT + 1}" '
        f'viewBox="0 0 {width} {HEIGHT + 1}"><path fill="currentColor" d="{bars}"/>'
        f'<path fill="currentColor" fill-opacity=".35" d="M0 {HEIGHT}h{width}v1H0z"/></svg>'
    )
