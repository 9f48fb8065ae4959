"""Hashes of inputs: what an editor or git changes by itself never counts,
what somebody changed always does.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.yaml import dump
from orbit_registry.operations.freshness.fingerprints import Fingerprints

LINES = st.lists(
    st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=12),
    max_size=6,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"]))
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('abc."é', max_size=3), inner, max_size=3)
    ),
)
WORDS = st.text("abc xyz", max_size=6)
TABLES = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.one_of(st.integers(-(2**53), 2**53), WORDS, st.lists(WORDS)),
    min_size=1,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inputs")


def hashed(root: Path, name: str, text: str, field: str = "") -> str:
    """Return the hash of a text as a file of that name, or of one field of it."""
    (root / name).write_bytes(text.encode("utf-8"))
    fingerprint = Fingerprints(root, [name]).find(f"{name}{field}")
    assert fingerprint.hash is not None, fingerprint.problem
    return fingerprint.hash


def spelled(draw: st.DataObject, value: Any) -> str:
    """Return a JSON text of a value, with keys in some order and space in some places."""
    space = draw.draw(st.sampled_from(["", " ", "\n", "\r\n\t"]))
    if isinstance(value, dict):
        keys = draw.draw(st.permutations(list(value)))
        inner = [
            f"{space}{json.dumps(key)}{space}:{space}{spelled(draw, value[key])}" for key in keys
        ]
        return f"{{{','.join(inner)}{space}}}"
    if isinstance(value, list):
        return f"[{space}{f',{space}'.join(spelled(draw, item) for item in value)}{space}]"
    return json.dumps(value, ensure_ascii=draw.draw(st.booleans()))


@given(LINES, ENDS, st.integers(0, 3))
def test_line_endings_never_count(root: Path, lines: list[str], end: str, more: int) -> None:
    assert hashed(root, "a.txt", "\n".join(lines)) == hashed(
        root, "a.txt", end.join(lines) + end * more
    )


@given(LINES, LINES)
def test_other_lines_always_count(root: Path, first: list[str], other: list[str]) -> None:
    texts = ["\n".join(lines).rstrip("\n") for lines in (first, other)]
    assert (hashed(root, "a.txt", texts[0]) == hashed(root, "a.txt", texts[1])) is (
        texts[0] == texts[1]
    )


@given(JSON, st.data())
def test_the_spelling_of_json_never_counts(root: Path, value: Any, draw: st.DataObject) -> None:
    document = {"field": value, "other": 1}
    assert hashed(root, "a.json", json.dumps(document)) == hashed(
        root, "a.json", spelled(draw, document)
    )
    moved = {"other": 2, "field": value}
    spelling = spelled(draw, moved)
    assert hashed(root, "a.json", json.dumps(document), "#field") == hashed(
        root, "a.json", spelling, "#field"
    )


@given(JSON, JSON)
def test_other_values_always_count(root: Path, first: Any, other: Any) -> None:
    """Two values have one hash only where JSON would write them alike."""
    same = json.dumps(first, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (
        hashed(root, "a.json", json.dumps(first)) == hashed(root, "a.json", json.dumps(other))
    ) is same


@given(TABLES, st.data())
def test_one_value_has_one_hash_in_every_format(
    root: Path, table: dict[str, Any], draw: st.DataObject
) -> None:
    keys = draw.draw(st.permutations(list(table)))
    rows = "".join(f"{key} = {json.dumps(table[key])}\n" for key in keys)
    expected = hashed(root, "a.json", json.dumps({"field": table}), "#field")
    assert hashed(root, "a.toml", f"[field]\n{rows}", "#field") == expected
    assert (
        hashed(root, "a.yaml", dump({"field": {key: table[key] for key in keys}}), "#field")
        == expected
    )


@given(st.text(max_size=40))
def test_no_input_raises(root: Path, text: str) -> None:
    fingerprint = Fingerprints(root, ["a.json"]).find(text)
    assert (fingerprint.hash is None) is (fingerprint.problem is not None)


@given(st.binary(max_size=60), st.sampled_from(["a.json", "a.toml", "a.yaml", "a.txt"]))
def test_no_content_raises(root: Path, content: bytes, name: str) -> None:
    (root / name).write_bytes(content)
    for text in (name, f"{name}#a.b"):
        fingerprint = Fingerprints(root, [name]).find(text)
        assert (fingerprint.hash is None) is (fingerprint.problem is not None)
