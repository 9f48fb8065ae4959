"""The map: each supersession and each link is a line below its record, whatever refers to what."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.map import map_html
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


def lines(records: list[Record]) -> list[tuple[str, str, str]]:
    """Return each line of the page's lists: the record above, the word, the record."""
    listed = []
    for html in re.findall(
        r'<ul class="orbit-layers">(.*?)</ul>', map_html(records, Relations(records))
    ):
        above, *below = re.findall(r'(?:<small>(.*?)</small> )?<a href="../adrs/(.*?)/"', html)
        listed += [(above[1], word, name) for word, name in below]

    return listed


@given(PAIRS, PAIRS)
def test_each_pair_that_records_name_is_one_line(
    superseded: list[tuple[int, int]], linked: list[tuple[int, int]]
) -> None:
    records = []
    for number in range(1, 10):
        older = [name(old) for new, old in superseded if new == number]
        links = [{"rel": "amends", "to": name(to)} for start, to in linked if start == number]
        records.append(decision(number, supersedes=older, links=links))

    pairs = [frozenset({above, below}) for above, _, below in lines(records)]
    expected = {frozenset(map(name, pair)) for pair in [*superseded, *linked] if len({*pair}) > 1}
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected
    words = {frozenset({above, below}): word for above, word, below in lines(records)}
    assert {pair for pair, word in words.items() if word == "supersedes"} == {
        frozenset(map(name, pair)) for pair in superseded if len({*pair}) > 1
    }


def test_a_link_to_what_is_not_published_is_left_out() -> None:
    assert lines([decision(1, links=[{"rel": "amends", "to": "ADR-0009"}])]) == []


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


def test_pairs_alone_have_no_drawing_and_no_key() -> None:
    pair = [decision(1), decision(2, supersedes=[name(1)])]
    assert "An arc" not in map_html(pair, Relations(pair))

    # What joins a pair is in no drawing beside it.
    three = [decision(3), decision(4, links=[{"rel": "amends", "to": name(3)}])]
    three.append(decision(5, links=[{"rel": "amends", "to": name(3)}]))
    html = map_html([*pair, *three], Relations([*pair, *three]))
    assert re.findall(r'<span class="orbit-arc-(\w+)">', html) == ["relates"]


def test_an_old_decision_without_a_date_is_drawn_before_the_later_ones() -> None:
    first = decision(1, links=[{"rel": "amends", "to": name(2)}])
    others = [decision(2, date="2020-01-01"), decision(3, date="2021-01-01", supersedes=[name(2)])]
    html = map_html([first, *others], Relations([first, *others]))
    assert re.findall(r"<text [^>]*>(.*?)</text>", html) == [name(1), name(2), name(3)]
