"""Small drawings in a page: a bar, columns over time, votes. They are made of numbers; the style sheet colours them."""

from collections.abc import Sequence
from html import escape

BAR, BAR_GAP, TALL = 3, 1, 16  # of a sparkline, in CSS pixels; a baseline of one more is drawn below the bars


def bar(part: int, total: int, most: int) -> str:
    """Return a bar as long as `total` is of `most`, filled as far as `part`; the text next to it has the numbers."""
    widths = ((css, 100 * number / most) for css, number in (("orbit-rest", total), ("orbit-part", part)) if number)
    rects = "".join(f'<rect class="{css}" width="{width:.4g}%" height="100%"/>' for css, width in widths)
    return f'<svg class="orbit-bar" aria-hidden="true" width="100%" height="12">{rects}</svg>'


def column(parts: Sequence[tuple[str, int]], most: int) -> str:
    """Return a column of parts, each with its CSS classes and number, that is `most` high where it fills its box."""
    rects, top = "", most
    for css, number in parts:
        top -= number
        rects += f'<rect class="{escape(css)}" y="{top}" width="1" height="{number}"/>'
    return f'<svg aria-hidden="true" viewBox="0 0 1 {most}" preserveAspectRatio="none">{rects}</svg>'


def sparkline(numbers: Sequence[int], label: str) -> str:
    """Return numbers from 0 up as bars over a faint baseline, the highest one as high as the line; `label` says it.

    Nothing in it is a script, a style or an address, and every colour is the text's own.
    """
    most = max((*numbers, 1))
    width = len(numbers) * (BAR + BAR_GAP)
    bars = "".join(
        f"M{index * (BAR + BAR_GAP)} {TALL}v-{max(1, round(number / most * TALL))}h{BAR}V{TALL}z"
        for index, number in enumerate(numbers)
        if number > 0
    )
    return (
        f'<svg class="orbit-sparkline" role="img" aria-label="{escape(label)}" width="{width}" height="{TALL + 1}" '
        f'viewBox="0 0 {width} {TALL + 1}"><path fill="currentColor" d="{bars}"/>'
        f'<path fill="currentColor" fill-opacity=".35" d="M0 {TALL}h{width}v1H0z"/></svg>'
    )
