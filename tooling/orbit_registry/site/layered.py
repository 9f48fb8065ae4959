"""Lays out a directed graph in columns, each edge from left to right as far as there is no cycle; it draws nothing.

The layout is the same for the same graph, and its cost grows with nodes and edges, not with their square.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

Edge = tuple[str, str]
_Point = tuple[str, str, int]
"""A node, or where an edge passes a column: start, end, column."""
Place = tuple[int, float]
"""Of a node: its column from 0, and its row in units of one box; rows of a column differ by one at least."""


def components(nodes: Iterable[str], edges: Iterable[Edge]) -> list[list[str]]:
    """Return which nodes hang together, in the order of `nodes`; a node without an edge is alone."""
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for start, end in edges:
        near[start].append(end)
        near[end].append(start)
    order = {node: place for place, node in enumerate(near)}
    seen: set[str] = set()
    found = []
    for node in near:
        if node in seen:
            continue
        seen.add(node)
        group = [node]
        for one in group:  # grows while it is read
            fresh = [other for other in near[one] if other not in seen]
            seen.update(fresh)
            group += dict.fromkeys(fresh)
        found.append(sorted(group, key=order.__getitem__))
    return found


def columns(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each node: one after the last of those that lead to it.

    A cycle is cut before the first of its nodes, in the order of `nodes`.
    """
    order = {node: place for place, node in enumerate(nodes)}
    after: dict[str, list[str]] = defaultdict(list)
    waits = dict.fromkeys(nodes, 0)
    for start, end in edges:
        after[start].append(end)
        waits[end] += 1
    column = dict.fromkeys(nodes, 0)
    ready = [order[node] for node in nodes if not waits[node]]
    heapify(ready)
    rest = iter(nodes)
    placed: set[str] = set()
    while len(placed) < len(nodes):
        if ready:
            node = nodes[heappop(ready)]
        else:
            node = next(one for one in rest if one not in placed)
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
    """Where each node stands, and for each edge the places that it passes on its way through further columns."""

    places: Mapping[str, Place]
    passes: Mapping[Edge, Sequence[Place]]


def layered(nodes: Sequence[str], edges: Sequence[Edge]) -> Layout:
    """Return a place for each node: beside those that lead to it, so that a chain is a straight line.

    An edge over several columns takes a narrow place in each, so that it crosses no node.
    """
    column = columns(nodes, edges)
    before: dict[_Point, list[_Point]] = defaultdict(list)
    held: dict[int, list[_Point]] = defaultdict(list)
    for node in nodes:
        held[column[node]].append((node, "", 0))
    for start, end in edges:
        last: _Point = (start, "", 0)
        for number in range(column[start] + 1, column[end]):
            held[number].append((start, end, number))
            before[start, end, number].append(last)
            last = (start, end, number)
        if column[start] < column[end]:
            before[end, "", 0].append(last)
    row: dict[_Point, float] = {}
    for number in sorted(held):
        _stack(held[number], before, row)
    return Layout(
        {node: (column[node], row[node, "", 0]) for node in nodes},
        {
            (start, end): [(at, row[start, end, at]) for at in range(column[start] + 1, column[end])]
            for start, end in edges
        },
    )


def _stack(points: Sequence[_Point], before: Mapping[_Point, Sequence[_Point]], row: dict[_Point, float]) -> None:
    """Give the points of a column their rows: in the middle of what leads to them, else below the others."""
    wanted = {point: sum(rows) / len(rows) for point in points if (rows := [row[one] for one in before.get(point, ())])}
    ordered = sorted((point for point in points if point in wanted), key=lambda point: wanted[point])
    ordered += [point for point in points if point not in wanted]
    above: _Point | None = None
    for point in ordered:
        room = 0.0 if above is None else row[above] + (1 + bool(point[1] == "") + bool(above[1] == "")) / 3
        row[point] = max(wanted.get(point, room), room)
        above = point
