"""The drawing of the map: one arc a pair, one dot a record that an arc joins."""

from __future__ import annotations

import re

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.arcs import MOST, MOST_IN_SKETCH, Edge, drawing, edges_of, sketch

ADR = load_kinds()["adr"]


def _decisions(number: int, **links: list[dict[str, str]]) -> list[Record]:
    names = [f"ADR-{at:04}" for at in range(1, number + 1)]
    records = []
    for at, name in enumerate(names, start=1):
        data = {"id": name, "title": f"Use <{name}>", "status": "accepted"}
        values = data | {"links": links.get(f"_{at}", [])}
        records.append(Record(ADR, values, f".orbit/adrs/{name}/adr.yaml"))

    return records


def test_a_supersession_says_more_than_a_relation_and_that_more_than_a_citation() -> None:
    related = [{"rel": "related_to", "to": f"ADR-000{number}"} for number in (1, 2, 9)]
    records = _decisions(3, _3=related)
    replaced_by = {"ADR-0001": ["ADR-0003"]}
    cited_by = {name: ["ADR-0001", "ADR-0002", "ADR-0003"] for name in replaced_by}
    assert sorted(edges_of(records, replaced_by, cited_by)) == [
        Edge("ADR-0002", "ADR-0001", "cites"),
        Edge("ADR-0003", "ADR-0001", "supersedes"),
        Edge("ADR-0003", "ADR-0002", "relates", "related_to"),
    ]


def test_records_without_an_arc_are_left_out_and_names_are_escaped() -> None:
    records = _decisions(5)
    edges = [Edge("ADR-0001", "ADR-0002", "cites"), Edge("ADR-0002", "ADR-0004", "relates")]
    html = drawing(records, edges, "map/")
    assert re.findall(r"<text[^>]*>([^<]*)<", html) == ["ADR-0001", "ADR-0002", "ADR-0004"]
    assert html.count("<path") == 2
    assert "<ADR" not in html


def test_two_records_have_lists_alone() -> None:
    assert drawing(_decisions(2), [Edge("ADR-0001", "ADR-0002", "cites")], "map/") == ""
    assert drawing(_decisions(5), [], "map/") == ""


def test_of_many_records_the_newest_are_drawn() -> None:
    records = _decisions(MOST + 2)
    edges = [Edge(records[-1].id, record.id, "cites") for record in records[:-1]]
    drawn = re.findall(r"<text[^>]*>([^<]*)<", drawing(records, edges, "map/"))
    assert drawn == [record.id for record in records[-MOST:]]


def test_a_sketch_has_a_dot_a_record_and_an_arc_a_relation() -> None:
    related = [("orbit-closed", "supersedes"), ("orbit-live", ""), ("orbit-live", "relates")]
    html = sketch(related)
    assert re.findall(r'<path class="([^"]*)"', html) == [
        "orbit-arc-supersedes",
        "orbit-arc-relates",
    ]
    assert re.findall(r'<circle class="([^"]*)"', html) == [css for css, _ in related]
    assert not re.search(r"<text|<a |style=|url\(", html)


def test_two_records_and_very_many_have_no_sketch() -> None:
    related = [("orbit-live", "relates")] * MOST_IN_SKETCH + [("orbit-live", "")]
    assert sketch(related[-2:]) == sketch(related) == ""
