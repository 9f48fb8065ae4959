"""The map: each supersession and each link is a line below its record, whatever refers to what."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.map import linked_lines, map_html, superseded_lines
from orbit_registry.site.mentions import Citers
from orbit_registry.site.relations import Relations

ADR = load_kinds()["adr"]
NUMBERS = st.integers(1, 9)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20, unique=True)


def decision(number: int, **fields: Any) -> Record:
    data = {"id": name(number), "title": f"Use <{number}>", "status": "accepted", **fields}
    return Record(ADR, data, f".orbit/adrs/{data['id']}/adr.yaml")


def name(number: int) -> str:
    return f"ADR-{number:04d}"


def numbers(records: list[Record]) -> list[tuple[int, int]]:
    """Return the depth and the number of each line about what was superseded."""
    return [
        (line.depth, int(line.record.id[4:]))
        for line in superseded_lines(records, Relations(records))
    ]


@given(PAIRS)
def test_each_supersession_is_a_line(pairs: list[tuple[int, int]]) -> None:
    records = [
        decision(number, supersedes=[name(old) for new, old in pairs if new == number])
        for number in range(1, 10)
    ]
    edges, path = [], [0] * 20
    for depth, number in numbers(records):
        path[depth] = number
        if depth:
            edges.append((path[depth - 1], number))
    assert sorted(edges) == sorted(pair for pair in pairs if pair[0] != pair[1])


@given(PAIRS)
def test_each_link_is_a_line(pairs: list[tuple[int, int]]) -> None:
    records = [
        decision(
            number,
            links=[{"rel": "related_to", "to": name(to)} for start, to in pairs if start == number],
        )
        for number in range(1, 10)
    ]
    lines, above = [], ""
    for line in linked_lines(records, Relations(records)):
        above = above if line.depth else line.record.id
        lines += [frozenset({above, line.record.id})] if line.depth else []
    assert len(lines) == len(set(lines))
    assert set(lines) == {frozenset({name(start), name(to)}) for start, to in pairs if start != to}


def test_a_chain_leads_from_the_last_to_the_first() -> None:
    records = [decision(number, supersedes=[name(number - 1)]) for number in range(1, 1500)]
    assert numbers(records) == [(1499 - number, number) for number in range(1499, 0, -1)]


def test_an_override_that_supersedes_is_one_line() -> None:
    overrides = {"supersedes": [name(1)], "links": [{"rel": "overrides", "to": name(1)}]}
    records = [decision(1, status="superseded", superseded_by=[name(2)]), decision(2, **overrides)]
    assert numbers(records) == [(0, 2), (1, 1)]
    assert list(linked_lines(records, Relations(records))) == []


def test_a_link_to_what_is_not_published_is_left_out() -> None:
    records = [decision(1, links=[{"rel": "amends", "to": "ADR-0009"}])]
    assert list(linked_lines(records, Relations(records))) == []


def test_a_page_names_both_ends_and_escapes_them() -> None:
    records = [
        decision(1),
        decision(2, supersedes=[name(1)], links=[{"rel": "amends", "to": name(3)}]),
        decision(3),
        decision(4),
    ]
    html = map_html(records, Relations(records))
    assert "1 supersession and 1 link between 3 records. 1 record is alone." in html
    assert re.findall(r"<small>([a-z ]*)</small>", html) == ["supersedes", "amends"]
    assert '<h2 id="cluster-1">Use &lt;2&gt; <small>3</small></h2>' in html
    assert 'href="../adrs/ADR-0003/"' in html


def test_pairs_are_lists_and_a_citation_is_a_line() -> None:
    records = [decision(number) for number in range(1, 6)]
    records[0] = decision(1, links=[{"rel": "amends", "to": name(2)}])
    citers = Citers({"adrs/ADR-0004/": [records[2]], "adrs/ADR-0005/": [records[3]]}, {}, {}, {})
    html = map_html(records, Relations(records, citers=citers))
    assert html.index('<h2 id="cluster-1">') < html.index('<h2 id="pairs">')
    assert html.count("<svg") == 1
    assert re.findall(r"<small>([a-z ]*)</small>", html) == ["cites", "cites", "amends"]
