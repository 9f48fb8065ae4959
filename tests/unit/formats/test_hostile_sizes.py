"""Texts and records that are short to write, and of which a reader whose time grows with the square
of their size would not see the end before the test is stopped.
"""

import json

import pytest
from tests.files import WHEN

from orbit_registry.formats.toml import load_toml
from orbit_registry.formats.wording import without_markup
from orbit_registry.judgements.in_force import read_together
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.repository.starters import starts_in

COMMENTS = "<!--" * 400_000
KEY = "a" + ".a" * 400_000 + " = 1\n"


def test_starts_of_comments_without_an_end_are_text() -> None:
    assert without_markup(COMMENTS) == COMMENTS
    assert without_markup(f"a<!-- b -->c {COMMENTS}") == f"ac {COMMENTS}"


def test_a_key_of_too_many_parts_is_not_read() -> None:
    with pytest.raises(ValueError, match="too many parts"):
        load_toml(KEY)

    assert not starts_in("pyproject.toml", KEY).starting


SCRIPTS = {
    "texts without an end": f"<<{'A' * 200}" + "\n" * 9_000,
    "options of git": "git" + " -c" * 500 + " x",
    "long options of git": "git" + " --x" * 400 + " x",
    "quotes": "\\\"" * 200_000 + "'",
    "brackets": "(if)" * 100_000,
    "blank lines": "\n" * 20_000,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ahead_of_the_gate_is_read_once(name: str) -> None:
    script = SCRIPTS[name] + "\norbit check" * 100
    steps = json.dumps({"jobs": {"a": {"steps": [{"run": script}]}}})
    assert starts_in(".github/workflows/gate.yml", steps).starting


def test_a_long_circle_of_records_replaces_none() -> None:
    kind = load_kinds()["learning"]
    names = [f"L-{number:05d}" for number in range(3_000)]
    records: list[Record] = []
    for name, later in zip(names, [*names[1:], names[0]], strict=True):
        data = {"id": name, "uid": name, "status": "active", "created_at": WHEN}
        path = f".orbit/learnings/{name}/learning.yaml"
        records.append(Record(kind, {**data, "superseded_by": [later]}, path))

    assert not any(record.is_replaced for record in read_together(records))
