"""Schemas of kinds: what makes a record invalid is said in plain words,
with the way to the place and a way out.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.schema import compile_schema

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


@pytest.mark.parametrize(
    "case", json.loads(CASES.read_text("utf-8")), ids=lambda case: str(case["name"])
)
def test_schema_problems_are_explained(case: dict[str, Any]) -> None:
    schema = load_kinds()["learning"].schema
    data = {**LEARNING, **case["with"]}
    for name in case.get("without", ()):
        del data[name]

    problems = [
        [list(problem.pointer), problem.message, problem.hint] for problem in schema.problems(data)
    ]

    assert problems == case["problems"]


def test_a_kind_narrows_the_envelope() -> None:
    document = load_kinds()["adr"].schema.document

    assert document["properties"]["id"]["pattern"] == "^ADR-[0-9]{4,}$"
    assert document["properties"]["status"]["enum"] == list(load_kinds()["adr"].statuses)
    assert document["additionalProperties"] is False


def test_a_schema_may_lack_what_it_does_not_change(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text("{}", "utf-8")

    schema = compile_schema(file, "plain", ("open",))

    assert schema.is_valid(
        {**{name: LEARNING[name] for name in LEARNING if name != "summary"}, "status": "open"}
    )
    assert not schema.is_valid(LEARNING)


def test_the_published_schema_is_the_package_s() -> None:
    published = Path(__file__).parents[3] / "docs" / "schemas" / "envelope.schema.json"

    assert published.read_bytes() == ENVELOPE_SCHEMA.read_bytes()
