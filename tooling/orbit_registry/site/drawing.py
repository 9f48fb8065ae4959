"""Inline SVG drawings: columns of a graph, a record among its neighbours, a sparkline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from html import escape
from typing import Any

Edge = tuple[str, str]
_Point = tuple[str, str, int]
"""A node, or where an edge passes a column: start, end, column."""
Cell = tuple[int, float]
"""Of a node: its column from 0, and its row in units of one box; rows of a column differ by one at least."""


def components(nodes: Iterable[str], edges: Iterable[Edge]) -> list[list[str]]:
    """Return the connected components, in the order of `nodes`."""
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for start, end in edges:
        near[start].append(end)
        near[end].append(start)
    order = {node: position for position, node in enumerate(near)}
    visited: set[str] = set()
    groups = []
    for node in near:
        if node not in visited:
            group = {node: None}
            members = [node]
            for member in members:  # grows while it is read
                members += [other for other in dict.fromkeys(near[member]) if other not in group]
                group |= dict.fromkeys(near[member])
            visited.update(group)
            groups.append(sorted(group, key=order.__getitem__))
    return groups


def columns(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each node: one after the last of those that lead to it.

    A cycle is cut before the first of its nodes, in the order of `nodes`.
    """
    order = {node: position for position, node in enumerate(nodes)}
    after: dict[str, list[str]] = defaultdict(list)
    waits = dict.fromkeys(nodes, 0)
    for start, end in edges:
        after[start].append(end)
        waits[end] += 1
    column = dict.fromkeys(nodes, 0)
    ready = [order[node] for node in nodes if not waits[node]]
    heapify(ready)
    remaining_nodes = iter(nodes)
    placed: set[str] = set()
    while len(placed) < len(nodes):
        if ready:
            node = nodes[heappop(ready)]
        else:
            node = next(candidate for candidate in remaining_nodes if candidate not in placed)
        if node in placed:
            continue
        placed.add(node)
        for other in after[node]:
            if other in placed:
                continue
            column[other] = max(column[other], column[node] + 1)
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, order[other])
    return column


@dataclass(frozen=True, slots=True)
class Layout:
    """The cell of each node, and the cells that each edge passes between its ends."""

    cells: Mapping[str, Cell]
    passes: Mapping[Edge, Sequence[Cell]]


def layered(nodes: Sequence[str], edges: Sequence[Edge]) -> Layout:
    """Return a cell for each node: in the row of the nodes that lead to it, so that a chain is a straight line.

    An edge over several columns takes a narrow place in each, so that it crosses no node.
    """
    column = columns(nodes, edges)
    before: dict[_Point, list[_Point]] = defaultdict(list)
    by_column: dict[int, list[_Point]] = defaultdict(list)
    for node in nodes:
        by_column[column[node]].append((node, "", 0))
    for start, end in edges:
        last: _Point = (start, "", 0)
        for number in range(column[start] + 1, column[end]):
            by_column[number].append((start, end, number))
            before[start, end, number].append(last)
            last = (start, end, number)
        if column[start] < column[end]:
            before[end, "", 0].append(last)
    row: dict[_Point, float] = {}
    for number in sorted(by_column):
        _stack(by_column[number], before, row)
    return Layout(
        {node: (column[node], row[node, "", 0]) for node in nodes},
        {
            (start, end): [(at, row[start, end, at]) for at in range(column[start] + 1, column[end])]
            for start, end in edges
        },
    )


def _stack(points: Sequence[_Point], before: Mapping[_Point, Sequence[_Point]], row: dict[_Point, float]) -> None:
    """Assign rows to the points of a column: the mean row of their sources, else below the others."""
    preferred = {
        point: sum(rows) / len(rows) for point in points if (rows := [row[source] for source in before.get(point, ())])
    }
    ordered = sorted((point for point in points if point in preferred), key=lambda point: preferred[point])
    ordered += [point for point in points if point not in preferred]
    above: _Point | None = None
    for point in ordered:
        room = 0.0 if above is None else row[above] + (1 + bool(point[1] == "") + bool(above[1] == "")) / 3
        row[point] = max(preferred.get(point, room), room)
        above = point


def drawing(css: str, label: str, inner: str, size: tuple[float, float], origin: int = 0) -> str:
    """Return a drawing with links in a box that scrolls sideways; `size` is width and height."""
    width, height = size
    return (
        f'<div class="orbit-scroll"><svg class="orbit-drawing {css}" role="group" aria-label="{escape(label)}" '
        f'viewBox="{origin} {origin} {width:g} {height:g}" width="{width:g}" height="{height:g}">{inner}</svg></div>'
    )


MOST = 12
BOX, HEIGHT, GAP, BETWEEN = 172, 36, 8, 72
NOTE = 20
"""Height of the line with the number of records that are not drawn."""
_LEFT = frozenset(
    {"Amended by", "Extended by", "Source of", "Contradicted by", "Implemented by", "Resolved by", "Referred to by"}
)
"""Labels of links that begin at the other record, as `views.RELATIONS` words them."""


def neighbourhood(view: Mapping[str, Any]) -> str:
    """Return the drawing of a record's page; "" if it has no relation."""
    sources = [("replaced", ref) for ref in view["replaces"]]
    targets = [("replaced by", ref) for ref in view["replaced_by"]]
    for label, refs in view["links"]:
        side = sources if label in _LEFT else targets
        side += [(label.lower(), ref) for ref in refs]
    if not sources and not targets:
        return ""
    # Half of the room for each side; what one leaves goes to the other.
    drawn_sources = sources[: max(MOST // 2, MOST - len(targets))]
    drawn_targets = targets[: max(MOST // 2, MOST - len(sources))]
    rows = max(len(drawn_sources), len(drawn_targets), 1)
    height = rows * (HEIGHT + GAP) - GAP + 2
    middle = (height - HEIGHT) / 2
    note = NOTE if len(sources) > len(drawn_sources) or len(targets) > len(drawn_targets) else 0
    x_this = BOX + BETWEEN if sources else 0
    width = x_this + BOX + (BETWEEN + BOX if targets else 0) + 2
    parts = [
        *_side(drawn_sources, len(sources), 0, x_this, middle, height, leads_here=True),
        *_side(drawn_targets, len(targets), x_this + BOX + BETWEEN, x_this + BOX, middle, height, leads_here=False),
        _box(str(view["id"]), "", x_this, middle, " orbit-this"),
    ]
    description = f"{view['id']} and what it has to do with: {len(sources)} lead here, it leads to {len(targets)}"
    return drawing("orbit-neighbours", description, "".join(parts), (width, height + note))


def _side(
    refs: Sequence[tuple[str, Any]], total: int, x: float, x_this: float, middle: float, height: float,
    *, leads_here: bool,
) -> list[str]:  # fmt: skip
    parts = []
    block = len(refs) * (HEIGHT + GAP) - GAP
    for number, (label, ref) in enumerate(refs):
        y = (height - block) / 2 + number * (HEIGHT + GAP)
        start, end = (x + BOX, x_this) if leads_here else (x_this, x)
        from_y, to_y = (y, middle) if leads_here else (middle, y)
        bend = (start + end) / 2
        y1, y2 = from_y + HEIGHT / 2, to_y + HEIGHT / 2
        parts.append(f'<path class="orbit-line" d="M{start} {y1:g}C{bend:g} {y1:g} {bend:g} {y2:g} {end} {y2:g}"/>')
        parts.append(_linked(ref, label, x, y))
    if total > len(refs):
        center = x + BOX / 2
        parts.append(
            f'<text class="orbit-small" x="{center}" y="{height + NOTE - 6:.0f}" text-anchor="middle">'
            f"+{total - len(refs)} in the list below</text>"
        )
    return parts


def _linked(ref: Mapping[str, Any], label: str, x: float, y: float) -> str:
    title = escape(f"{label} {ref['id']} {ref['title']}".strip())
    inner = f"<title>{title}</title>{_box(str(ref['id']), label, x, y, '')}"
    return f'<a href="{escape(str(ref["url"]))}">{inner}</a>' if ref["url"] else f"<g>{inner}</g>"


def _box(name: str, label: str, x: float, y: float, css: str) -> str:
    short = name if len(name) <= 22 else f"{name[:21]}…"
    at = y + (14 if label else HEIGHT / 2 + 4)
    note = f'<text class="orbit-small" x="{x + 10:g}" y="{y + 27:g}">{escape(label)}</text>' if label else ""
    return (
        f'<rect class="orbit-box{css}" x="{x + 1:g}" y="{y + 1:g}" width="{BOX - 2}" height="{HEIGHT - 2}" rx="6"/>'
        f'<text x="{x + 10:g}" y="{at:g}">{escape(short)}</text>{note}'
    )


BAR, BAR_GAP, TALL = 3, 1, 16
"""In CSS pixels; a baseline of one more is drawn below the bars."""


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
