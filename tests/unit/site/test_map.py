"""The map of connections: read from then to now, never a tangle, and nothing of it only in the drawing."""

import random
import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.drawing import columns, components, layered
from orbit_registry.site.map import MOST, edges_of, map_html
from orbit_registry.site.views import Relations

ADR = load_kinds()["adr"]
NODES = [f"n{number}" for number in range(12)]
PAIRS = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)).filter(lambda pair: pair[0] != pair[1])
GRAPHS = st.lists(PAIRS, max_size=25, unique=True)


def decision(number: int, **fields: Any) -> Record:
    """Return a decision; its number is its age."""
    data = {"id": f"ADR-{number:04d}", "title": f"Use <{number}>", "status": "accepted", **fields}
    return Record(ADR, data, f".orbit/adrs/{data['id']}/adr.yaml")


def tangle(number: int) -> list[Record]:
    chance = random.Random(number)
    rels = ("amends", "extends", "contradicts", "references")
    edges = []
    for at in range(1, number + 1):
        fields: dict[str, Any] = {"feature": chance.choice(("core", "web", "store")), "date": f"{2000 + at % 20}-05"}
        if chance.random() < 0.2:
            fields["supersedes"] = [f"ADR-{chance.randint(1, number):04d}"]
        if chance.random() < 0.6:
            some = chance.sample(rels, 2)
            fields["links"] = [{"rel": rel, "to": f"ADR-{chance.randint(1, number):04d}"} for rel in some]
        edges.append(decision(at, **fields))
    return edges


@given(GRAPHS)
def test_lines_lead_to_the_right_and_boxes_keep_apart(edges: list[tuple[str, str]]) -> None:
    forward = [edge for edge in edges if NODES.index(edge[0]) < NODES.index(edge[1])]
    column = columns(NODES, forward)
    assert all(column[start] < column[end] for start, end in forward)

    layout = layered(NODES, edges)

    assert layout == layered(NODES, edges)
    for number in range(len(NODES)):
        rows = sorted(row for at, row in layout.cells.values() if at == number)
        assert all(below - above >= 0.999 for above, below in pairwise(rows))
        passing = [row for places in layout.passes.values() for at, row in places if at == number]
        assert all(abs(line - box) > 0.6 for line in passing for box in rows)


@given(GRAPHS)
def test_what_hangs_together_is_together(edges: list[tuple[str, str]]) -> None:
    parts = components(NODES, edges)
    assert sorted(node for part in parts for node in part) == sorted(NODES)
    where = {node: number for number, part in enumerate(parts) for node in part}
    assert all(where[start] == where[end] for start, end in edges)


def test_a_line_reads_from_the_older_to_the_newer() -> None:
    old, new = decision(1, date="2020-01"), decision(2, date="2024-01", supersedes=["ADR-0001"])
    amends = decision(
        3, date="2025-01", links=[{"rel": "amends", "to": "ADR-0002"}, {"rel": "extends", "to": "ADR-0099"}]
    )
    edges = edges_of([old, new, amends], Relations([old, new, amends]))
    assert [(edge.start, edge.word, edge.end) for edge in edges] == [
        ("ADR-0001", "replaced by", "ADR-0002"),
        ("ADR-0002", "amended by", "ADR-0003"),
    ]


def test_the_map_lists_everything_and_bounds_its_drawings() -> None:
    records = tangle(400)
    relations = Relations(records)
    edges = edges_of(records, relations)
    html = map_html(records, relations)
    rows = re.findall(r'orbit-id">([^<]+)</span>.*?orbit-word">([^<]+)<.*?orbit-id">([^<]+)<', html)
    assert sorted(rows) == sorted((edge.start, edge.word, edge.end) for edge in edges)
    drawings = [
        ElementTree.fromstring(words) for words in re.findall(r'<svg class="orbit-drawing orbit-map".*?</svg>', html)
    ]
    assert len(drawings) > 20
    for drawing in drawings:
        boxes, links = list(drawing.iter("rect")), list(drawing.iter("a"))
        assert 2 <= len(boxes) == len(links) <= MOST
        assert all(link.get("href", "").startswith("../adrs/") for link in links)
    arcs = sum(
        html_of.count('class="orbit-arc"')
        for html_of in re.findall(r'<svg class="orbit-drawing orbit-map".*?</svg>', html)
    )
    assert arcs == sum(edge.replaces for edge in edges)
    x = 400 - len({end for edge in edges for end in edge.ends})
    assert f"{x} records without any are left out" in html
    assert html == map_html(records, Relations(records))


def test_a_long_chain_across_areas_is_drawn_whole() -> None:
    areas = ("core", "web", "store")
    records = [
        decision(at, feature=areas[at % 3], **({"supersedes": [f"ADR-{at - 1:04d}"]} if at else {})) for at in range(60)
    ]
    drawings = re.findall(r'<svg class="orbit-drawing orbit-map".*?</svg>', map_html(records, Relations(records)))
    assert sum(drawing.count('class="orbit-arc"') for drawing in drawings) == 59
    assert len(drawings) == 3
    assert all(drawing.count('class="orbit-box"') <= MOST for drawing in drawings)
