"""ORB303: records that replace each other in a circle, or themselves."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each circle once, at its record with the lowest id."""
    edges = {record.id: _successors(context, record) for record in context.records if record.data.get("superseded_by")}
    for record in (one for one in context.records if one.data.get("supersedes")):
        backwards = [other.id for name in record.supersedes for other in context.resolve(name)]
        for old in backwards:
            edges.setdefault(old, set()).add(record.id)
    for circle in _circles(edges):
        first = circle[0]
        record = next(iter(context.records.with_id(first)))
        if len(circle) == 1:
            message = f"{first} says that it replaces itself"
        else:
            message = f"records replace each other in a circle: {' → '.join((*circle, first))}"
        name = "superseded_by" if record.superseded_by else "supersedes"
        related = [context.at(other, "id") for one in circle[1:] for other in context.records.with_id(one)]
        yield CHECK.at(context.at(record, name), message, record=record, related=related)


def _successors(context: CheckContext, record: Record) -> set[str]:
    return {other.id for name in record.superseded_by for other in context.resolve(name)}


def _circles(edges: dict[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the circles of a graph, each from its lowest node on: nodes that reach themselves, grouped (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()
    for start in sorted(edges):
        if start in order:
            continue
        work: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(edges.get(start, ()))))]
        order[start] = low[start] = len(order)
        stack.append(start)
        held.add(start)
        while work:
            node, following = work[-1]
            step = next(following, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    group = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    held.difference_update(group)
                    if len(group) > 1 or node in edges.get(node, ()):
                        yield tuple(sorted(group))
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                held.add(step)
                work.append((step, iter(sorted(edges.get(step, ())))))
            elif step in held:
                low[node] = min(low[node], order[step])


CHECK = Check(
    "ORB303",
    "supersession-circle",
    Severity.ERROR,
    "Records replace each other in a circle, so none of them holds.",
    "decide which one holds, and remove the other `supersedes` and `superseded_by` lines",
    run,
)
