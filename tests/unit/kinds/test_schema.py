"""Schemas of kinds: what makes a record invalid is said in plain words, with the way to the place and a way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.kinds.schema import compile_schema, read_schema
from orbit_registry.kinds.table import load_kinds

CASES = Path(__file__).parents[2] / "cases" / "records" / "problems.json"
LEARNING = {
    "schema_version": 1,
    "id": "L-7k3fq",
    "uid": "0123456789abcdef0123456789abcdef",
    "status": "active",
    "summary": "Look before you leap",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize("case", json.loads(CASES.read_text("utf-8")), ids=lambda case: str(case["name"]))
def test_what_is_wrong_is_said_in_plain_words(case: dict[str, Any]) -> None:
    """One problem a cause, at the pointer of the part that is wrong, with a hint where there is something to do."""
    schema = load_kinds()["learning"].schema
    data = {**LEARNING, **case["with"]}
    for name in case.get("without", ()):
        del data[name]

    found = [[list(one.pointer), one.message, one.hint] for one in schema.problems(data)]

    assert found == case["problems"]


def test_a_valid_record_has_no_problems() -> None:
    """Also with every own key and an empty list."""
    schema = load_kinds()["learning"].schema

    assert schema.problems({**LEARNING, "x-own": {"any": [1, None]}, "labels": []}) == []


def test_fields_stand_in_reading_order() -> None:
    """Identity first, then what the kind is about, then what every record has, times and author last."""
    names = load_kinds()["adr"].schema.properties

    assert names[:5] == ("schema_version", "id", "uid", "title", "status")
    assert names[-3:] == ("created_at", "updated_at", "created_by")
    assert names.index("date") < names.index("labels")


def test_a_kind_narrows_the_envelope() -> None:
    """The id of a kind has its form, and its statuses are those of its table."""
    document = load_kinds()["adr"].schema.document

    assert document["properties"]["id"]["pattern"] == "^ADR-[0-9]{4,}$"
    assert document["properties"]["status"]["enum"] == list(load_kinds()["adr"].statuses)
    assert document["additionalProperties"] is False


@pytest.mark.parametrize("content", ["", "[1]", '"x"', '{"type": "nothing"}', '{"properties": 3}', "\ufeff{"])
def test_a_file_that_holds_no_schema_is_named(tmp_path: Path, content: str) -> None:
    """A schema that can't be compiled is the configuration's fault, said with its file."""
    file = tmp_path / "schema.json"
    file.write_text(content, "utf-8")

    with pytest.raises(ConfigError) as caught:
        _ = read_schema(file).fast

    assert str(file) in caught.value.message


def test_a_schema_may_lack_what_it_does_not_change(tmp_path: Path) -> None:
    """A kind without own fields is the envelope alone."""
    file = tmp_path / "schema.json"
    file.write_text("{}", "utf-8")

    schema = compile_schema(file, "plain", ("open",))

    assert schema.is_valid({**{name: LEARNING[name] for name in LEARNING if name != "summary"}, "status": "open"})
    assert not schema.is_valid(LEARNING)


def test_a_value_that_is_no_record_is_invalid() -> None:
    """Lists, texts and nothing are told from mappings."""
    schema = load_kinds()["adr"].schema

    assert [bool(schema.problems(value)) for value in ([], "x", None, 1, {})] == [True] * 5
