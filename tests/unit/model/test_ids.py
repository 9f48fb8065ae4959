"""Ids of records and links between them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.ids import (
    CROCKFORD,
    INVERSES,
    as_written_here,
    code_id,
    is_safe_id,
    is_shown_id,
    natural_key,
    relation,
    sequence_id,
    sequence_number,
)
from orbit_registry.model.schema import ENVELOPE

UIDS = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")


@given(st.integers(1, 10**12))
def test_a_number_and_its_id_lead_to_each_other(number: int) -> None:
    record_id = sequence_id("ADR-", number)

    assert sequence_number(record_id, "ADR-") == number
    assert len(record_id) == 4 + max(4, len(str(number)))
    assert is_safe_id(record_id)


@pytest.mark.parametrize(
    "other",
    [
        "ADR-1",
        "ADR-001",
        "adr-0001",
        "ADR-0001x",
        "xADR-0001",
        "ADR-0001\n",
        "ADR-",
        "L-0001",
        "ADR_0001",
        "ADR-٠٠٠١",
        "",
        "ADR--0001",
        " ADR-0001",
    ],
)
def test_similar_ids_are_no_sequence_ids(other: str) -> None:
    assert sequence_number(other, "ADR-") is None


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("ADR-7", "ADR-0007"),
        ("ADR-007", "ADR-0007"),
        ("ADR-00007", "ADR-0007"),
        ("ADR-12345", "ADR-12345"),
        ("SEP2-7", "SEP2-0007"),
        ("L-7k3fq", "L-7k3fq"),
        ("ADR-7.md", "ADR-7.md"),
        ("7", "7"),
        ("ADR-" + "9" * 5000, "ADR-" + "9" * 5000),
    ],
)
def test_a_number_of_any_width_is_the_same_id(name: str, written: str) -> None:
    assert as_written_here(name) == written


@given(UIDS, st.integers(5, 26))
def test_a_longer_code_begins_with_the_shorter_one(uid: str, length: int) -> None:
    code = code_id("L-", uid, length)

    assert code_id("L-", uid, length + 1).startswith(code)
    assert set(code.removeprefix("L-")) <= set(CROCKFORD)
    assert len(code) == length + 2
    assert is_safe_id(code)


def test_ids_are_ordered_as_people_count() -> None:
    ids = ["L-zzzzz", "ADR-10000", "ADR-9999", "L-0000a", "L-0042", "ADR-0002", "R-abcde"]

    assert sorted(ids, key=natural_key) == [
        "ADR-0002",
        "ADR-9999",
        "ADR-10000",
        "L-0000a",
        "L-zzzzz",
        "L-0042",
        "R-abcde",
    ]


@given(
    st.lists(
        st.one_of(
            st.integers(1, 10**6).map(lambda n: sequence_id("ADR-", n)),
            UIDS.map(lambda uid: code_id("L-", uid)),
        )
    )
)
def test_the_order_of_ids_is_total(ids: list[str]) -> None:
    ordered = sorted(ids, key=natural_key)

    ids.reverse()
    assert ordered == sorted(ids, key=natural_key)
    assert len({natural_key(record_id) for record_id in ids}) == len(set(ids))


@pytest.mark.parametrize("name", ["ADR-0001", "L-7k3fq", "L-0042", "a", "a.b_c-d", "x" * 100])
def test_a_safe_id_can_be_a_folder(name: str) -> None:
    assert is_safe_id(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".x",
        "-x",
        "a/b",
        "a\\b",
        "../x",
        "a b",
        "a\n",
        "a\x00",
        "é",
        "x" * 101,
        "a:b",
        "a*",
        "~",
    ],
)
def test_an_unsafe_id_is_no_folder(name: str) -> None:
    assert not is_safe_id(name)


def test_each_word_names_one_relation_from_one_end() -> None:
    for rel, inverse in INVERSES.items():
        assert relation(rel) == (rel, False)
        assert relation(inverse.replace("_", "-").upper()) == (rel, inverse != rel)
    assert len({*INVERSES, *INVERSES.values()}) == 2 * len(INVERSES) - 1


def test_records_may_state_every_relation_but_supersession() -> None:
    schema = json.loads(ENVELOPE.read_text("utf-8"))["properties"]["links"]["items"]["properties"][
        "rel"
    ]["enum"]
    assert [*schema] == [rel for rel in INVERSES if rel != "supersedes"]


@pytest.mark.parametrize(
    ("text", "is_shown"), [("org:ADR-0001", True), (":ADR-0001", False), ("org:../x", False)]
)
def test_an_id_that_is_shown_may_name_its_source(text: str, is_shown: bool) -> None:
    assert is_shown_id(text) is is_shown
