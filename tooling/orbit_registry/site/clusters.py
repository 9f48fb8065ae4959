"""Clusters of related records: which belong together on the map, and what each group is called."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orbit_registry.model.record import Record
from orbit_registry.site.arcs import FEWEST, Edge
from orbit_registry.site.areas import Area
from orbit_registry.site.words import title_of

LARGEST = 24
"""A larger group of related records is divided around those that most others name."""


class Cluster(NamedTuple):
    """Related records in the order that they came in, and a name for readers."""

    name: str
    records: Sequence[Record]


def clusters_of(
    records: Sequence[Record], edges: Sequence[Edge], areas: Mapping[str, Area]
) -> list[Cluster]:
    """Return the groups of records that edges join, the largest first; `areas` are by path."""
    by_id = {record.id: record for record in records}
    near: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        near[edge.source].add(edge.target)
        near[edge.target].add(edge.source)

    groups: list[set[str]] = []
    for group in _components([name for name in by_id if name in near], near):
        groups += [group] if len(group) <= LARGEST else _around_hubs(group, near)

    clusters = []
    for group in groups:
        members = [record for record in records if record.id in group]
        clusters.append(Cluster(_name(members, near, areas), members))

    return sorted(clusters, key=lambda cluster: -len(cluster.records))


def _components(names: Sequence[str], near: Mapping[str, set[str]]) -> list[set[str]]:
    groups: list[set[str]] = []
    visited: set[str] = set()
    for name in names:
        group: set[str] = set()
        stack = [] if name in visited else [name]
        while stack:
            current = stack.pop()
            if current not in group:
                group.add(current)
                stack += near[current] - group

        visited |= group
        groups += [group] if group else []

    return groups


def _around_hubs(group: set[str], near: Mapping[str, set[str]]) -> list[set[str]]:
    """Divide a group: a record with most neighbours takes these, then the next one does."""
    stars: list[set[str]] = []
    remaining = set(group)
    while remaining:
        hub = max(remaining, key=lambda name: (len(near[name] & remaining), name))
        star = {hub, *(near[hub] & remaining)}
        if len(star) < FEWEST:
            break

        stars.append(star)
        remaining -= star

    for name in sorted(remaining):  # joins the star that it has most neighbours in
        max(stars, key=lambda star: len(near[name] & star)).add(name)

    return stars


def _name(
    members: Sequence[Record], near: Mapping[str, set[str]], areas: Mapping[str, Area]
) -> str:
    """Return the area of most members, else the title of the one that most others name."""
    counts = Counter(areas[record.path].name for record in members if record.path in areas)
    for area, count in counts.most_common(1):
        if 2 * count > len(members):
            return area

    hub = max(members, key=lambda record: len(near[record.id]))
    return title_of(hub)
