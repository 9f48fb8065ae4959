"""A collection of records: order, look-up by any id, and ids that several share."""

from typing import Any

import pytest

from orbit_registry.errors import AmbiguousIdError, RecordNotFoundError
from orbit_registry.model.ids import Link
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record, Source
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import Scope


def decision(
    number: int, *legacy: str, uid: int | None = None, path: str = "", **more: Any
) -> Record:
    record_id = f"ADR-{number:04d}"
    data = {
        "id": record_id,
        "uid": f"{number if uid is None else uid:032x}",
        "status": "accepted",
        "title": f"Decision {number}",
        "legacy_ids": list(legacy),
        **more,
    }
    return Record(load_kinds()["adr"], data, path or f".orbit/adrs/{record_id}/adr.yaml")


def test_records_stand_in_the_order_of_their_ids() -> None:
    records = RecordSet([decision(10000), decision(2), decision(9999)])

    assert [record.id for record in records] == ["ADR-0002", "ADR-9999", "ADR-10000"]
    assert len(records) == 3


def test_a_record_is_found_by_each_of_its_names() -> None:
    records = RecordSet(
        [
            decision(1, "search/ADR-006", "site/ADR-006"),
            decision(2, "site/ADR-007", "old-7", "ADR-0001"),
        ]
    )

    names = {
        name: records.get(name).id
        for name in ("ADR-0001", "search/ADR-006", "ADR-006", "old-7", "ADR-007")
    }

    assert names == {
        "ADR-0001": "ADR-0001",
        "search/ADR-006": "ADR-0001",
        "ADR-006": "ADR-0001",
        "old-7": "ADR-0002",
        "ADR-007": "ADR-0002",
    }
    assert "ADR-006" in records
    assert "ADR-008" not in records


def test_a_legacy_id_of_several_records_lists_them() -> None:
    records = RecordSet([decision(1, "ADR-006"), decision(2, "ADR-006")])

    with pytest.raises(AmbiguousIdError) as caught:
        records.get("ADR-006")

    assert caught.value.candidates == ("ADR-0001", "ADR-0002")
    for words in ("means 2 records", "Decision 1", ".orbit/adrs/ADR-0002/adr.yaml"):
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("query", "nearest"),
    [
        ("ADR-0021", []),
        ("ADRR-0020", ["ADR-0020 (Keep what is measured)"]),
        ("uploads-retried", ["ADR-0007 (Uploads are retried)"]),
        ("L-zzzzz", []),
    ],
)
def test_an_id_nobody_has_leads_to_the_nearest(query: str, nearest: list[str]) -> None:
    records = RecordSet(
        [decision(7, title="Uploads are retried"), decision(20, title="Keep what is measured")]
    )

    with pytest.raises(RecordNotFoundError) as caught:
        records.get(query)

    suggestion = f"did you mean {' or '.join(nearest)}? " if nearest else ""
    assert caught.value.hint == f"{suggestion}`orbit list --all` shows the ids there are"


def test_a_record_that_waits_takes_no_form_of_an_id() -> None:
    taker = decision(8, "adr-0007", "ADR-7", status="proposed")
    records = RecordSet([decision(7), taker, decision(9, "adr-10", status="proposed")])

    assert [records.get(name).id for name in ("adr-0007", "ADR-7")] == ["ADR-0007", "ADR-0007"]
    assert records.get("adr-10").id == "ADR-0009"


@pytest.mark.parametrize("query", ["7", "adr-7", "ADR 007", "adr_7", "adr#0007", "adr-0007"])
def test_a_number_as_people_write_it_means_its_decision(query: str) -> None:
    records = RecordSet(
        [decision(number, title=f"Decision {number}") for number in (7, 17, 70, 207)]
    )

    assert records.get(query).id == "ADR-0007"


PATHS = (
    "docs/adr/0007-use-x.md",
    "./docs/adr/0007-use-x.md",
    ".orbit/adrs/ADR-0007",
    ".orbit/adrs/ADR-0007/",
    ".orbit/adrs/ADR-0007/adr.yaml",
)


@pytest.mark.parametrize("query", PATHS)
def test_a_path_of_a_record_or_of_its_document_means_the_record(query: str) -> None:
    source = {"path": "docs/adr/0007-use-x.md", "format": "file", "authority": "document"}
    sessions, queues = decision(7, title="Sessions", source=source), decision(17, title="Queues")
    records = RecordSet([sessions, queues])
    assert records.get(query).id == "ADR-0007"


@pytest.mark.parametrize("query", ["adr/0007-use-x.md", "0007-use-x.md"])
def test_document_paths_suggest_their_record(query: str) -> None:
    alike = [decision(number, title=f"Decision {number}") for number in (17, 27, 70, 207, 277, 297)]
    source = {"path": "docs/adr/0007-use-x.md", "format": "file", "authority": "document"}
    records = RecordSet([*alike, decision(7, title="Sessions", source=source)])

    with pytest.raises(RecordNotFoundError) as caught:
        records.get(query)

    assert caught.value.hint.startswith("did you mean ADR-0007 (Sessions)? ")


def test_the_number_of_another_kind_leads_to_no_decision() -> None:
    records = RecordSet([decision(number, title="Queues") for number in (7, *range(300, 309))])
    with pytest.raises(RecordNotFoundError) as caught:
        records.get("FAIL-7")
    assert caught.value.hint.startswith("`orbit list --all`")


def test_two_records_with_one_id_collide() -> None:
    records = RecordSet(
        [decision(1, uid=1), decision(1, uid=2, path=".orbit/inbox/adrs/ADR-0001/adr.yaml")]
    )

    assert list(records.collisions) == ["ADR-0001"]
    assert len(records.with_id("ADR-0001")) == 2
    with pytest.raises(AmbiguousIdError):
        records.get("ADR-0001")


def test_a_record_says_what_its_file_says() -> None:
    record = decision(
        1,
        scope={"paths": ["src/**"], "tags": ["a"], "semantic_seed": "x"},
        links=[{"rel": "amends", "to": "ADR-0009"}],
        evidence=[{"kind": "task", "reference": "T-1"}],
        source={"path": "docs/adr/1.md", "authority": "document"},
        supersedes=["ADR-0009"],
    )

    assert record.scope == Scope(paths=("src/**",), tags=("a",))
    assert not record.scope.is_empty
    assert record.links == (Link("amends", "ADR-0009"),)
    assert record.evidence == (("task", "T-1"),)
    assert record.source == Source("docs/adr/1.md", authority="document")
    assert (record.supersedes, record.superseded_by) == (("ADR-0009",), ())
    assert (record.phase, record.status.word, record.folder) == (
        "live",
        "accepted",
        ".orbit/adrs/ADR-0001",
    )


def test_a_code_of_digits_is_no_number() -> None:
    lesson = Record(load_kinds()["learning"], {"id": "L-00012"}, ".orbit/learnings/L-00012")
    records = RecordSet([decision(12), lesson])

    assert records.get("12").id == "ADR-0012"
    assert records.get("l-00012").id == "L-00012"
    assert "L-0012" not in records
