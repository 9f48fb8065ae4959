"""The two schema validators are one: what the fast one refuses the reference one can explain,
and nothing else.
"""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds

BASE: dict[str, Any] = {
    "schema_version": 1,
    "uid": "0123456789abcdef0123456789abcdef",
    "labels": ["one", "two"],
    "scope": {"paths": ["src/**"], "tags": ["a"], "x-own": 1},
    "links": [{"rel": "amends", "to": "ADR-0001"}],
    "evidence": [{"kind": "task", "reference": "T-1"}],
    "supersedes": ["ADR-0001"],
    "legacy_ids": ["project/ADR-006"],
    "distinct_from": ["L-00000"],
    "priority": 7,
    "freshness": {
        "fingerprint": [{"input": "src/x.py", "hash": f"sha256:{'ab' * 32}"}],
        "volatility": "stable",
    },
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00.5+02:00",
    "created_by": {"name": "Ada", "role": "human"},
    "x-own": {"any": ["thing"]},
}
RECORDS: dict[str, dict[str, Any]] = {
    "adr": {
        **BASE,
        "id": "ADR-0042",
        "title": "Use it",
        "status": "accepted",
        "date": "2026-05",
        "tasks": ["T-1"],
        "feature": "registry",
        "deciders": ["Ada"],
        "source": {"path": "docs/adr/0042.md", "authority": "record"},
        "summary": "Do so",
    },
    "learning": {
        **BASE,
        "id": "L-7k3fq",
        "status": "active",
        "summary": "Look before you leap",
        "body": "Because.",
        "category": "general",
        "confidence": "high",
        "procedural": True,
        "contexts": ["a"],
    },
}
ODD = [
    "",
    " ",
    "\n",
    "x\n",
    "\nx",
    "a\rb",
    "\u2028",
    "a\u2028b",
    "٣",
    "a b",
    "a\u00a0b",
    "\x00",
    "\x85",
    "\ufeff",
]
LONG = ["x" * 281, "x" * 301, "é" * 280, "😀" * 200]
NEARLY = ["ADR-0042\n", "L-7k3fq\n", "ADR-٠٠٤٢", "2026-01-01T00:00:00Z\n", "٢٠٢٦-01-01T00:00:00Z"]
NEARLY += [f"{'a' * 32}\n", "registry\n"]
ODD_TEXTS = [*ODD, *LONG, *NEARLY]
ODD_NUMBERS = [0, 1, -1, 1.0, 1.5, 255, 256, 2**63, 2**64 - 1, -(2**63), 1e300, True, False]
TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(ODD_TEXTS))
NUMBERS = st.sampled_from(ODD_NUMBERS)
LEAVES = st.one_of(TEXTS, NUMBERS, st.none())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)


def places(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    pointers = [at] if at else []
    if isinstance(value, dict):
        return pointers + [
            pointer for key, inner in value.items() for pointer in places(inner, (*at, key))
        ]
    if isinstance(value, list):
        return pointers + [
            pointer for index, inner in enumerate(value) for pointer in places(inner, (*at, index))
        ]
    return pointers


@st.composite
def mutations(draw: st.DrawFn, record: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(record)
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(places(result)))
        parent: Any = result
        for step in way[:-1]:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "remove", "add", "double"]))
        if change == "replace":
            parent[way[-1]] = draw(VALUES)
        elif change == "remove":
            del parent[way[-1]]
        elif isinstance(parent, list):
            parent.append(
                draw(VALUES) if change == "add" else copy.deepcopy(parent[0]) if parent else 0
            )
        else:
            parent[
                draw(st.one_of(TEXTS, st.sampled_from(["x-new", "X-new", "title", "body", "x-"])))
            ] = draw(VALUES)
        if not result:
            break
    return result


@pytest.mark.parametrize("kind", RECORDS)
def test_the_records_that_are_changed_are_valid(kind: str) -> None:
    assert load_kinds()[kind].schema.problems(RECORDS[kind]) == []


@pytest.mark.parametrize("kind", RECORDS)
@given(draw=st.data())
def test_both_validators_say_the_same(kind: str, draw: st.DataObject) -> None:
    record = draw.draw(mutations(RECORDS[kind]))
    schema = load_kinds()[kind].schema

    fast = schema.is_valid(record)

    assert fast == schema.reference_validator.is_valid(record)
    assert bool(schema.problems(record)) == (not fast)


@pytest.mark.parametrize("kind", RECORDS)
def test_both_validators_read_patterns_and_numbers_alike(kind: str) -> None:
    schema = load_kinds()[kind].schema
    apart = []
    for way in places(RECORDS[kind]):
        for odd in [*ODD_TEXTS, *ODD_NUMBERS]:
            record = copy.deepcopy(RECORDS[kind])
            parent: Any = record
            for step in way[:-1]:
                parent = parent[step]
            parent[way[-1]] = odd
            if schema.is_valid(record) != schema.reference_validator.is_valid(record):
                apart.append((way, odd))
    assert apart == []
