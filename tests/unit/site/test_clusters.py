"""Clusters of the map: who belongs together, and what a cluster is called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.arcs import Edge
from orbit_registry.site.areas import Area
from orbit_registry.site.clusters import clusters_of

ADR = load_kinds()["adr"]
NUMBERS = st.integers(1, 60)


def _decision(number: int) -> Record:
    name = f"ADR-{number:04}"
    data = {"id": name, "title": f"Title `{number}`", "status": "accepted"}
    return Record(ADR, data, f".orbit/adrs/{name}/adr.yaml")


RECORDS = [_decision(number) for number in range(1, 61)]


def _edges(*pairs: tuple[int, int]) -> list[Edge]:
    return [Edge(f"ADR-{one:04}", f"ADR-{other:04}", "relates") for one, other in pairs]


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=120, unique=True))
def test_each_record_with_an_edge_is_in_one_cluster(pairs: list[tuple[int, int]]) -> None:
    edges = _edges(*(pair for pair in pairs if pair[0] != pair[1]))
    members = [
        record.id for cluster in clusters_of(RECORDS, edges, {}) for record in cluster.records
    ]
    assert len(members) == len(set(members))
    assert set(members) == {name for edge in edges for name in edge[:2]}


def test_a_cluster_is_called_after_the_area_of_most_else_after_its_hub() -> None:
    edges = _edges((1, 2), (1, 3), (11, 12), (12, 13))
    areas = {RECORDS[number].path: Area("billing") for number in (0, 1)}
    clusters = clusters_of(RECORDS, edges, areas)
    assert [cluster.name for cluster in clusters] == ["billing", "Title 12"]


def test_a_large_group_is_divided_around_its_hubs() -> None:
    stars = [(1, number) for number in range(2, 21)] + [(21, number) for number in range(22, 41)]
    clusters = clusters_of(RECORDS, _edges(*stars, (20, 40), (40, 41)), {})
    assert [cluster.name for cluster in clusters] == ["Title 21", "Title 1"]
