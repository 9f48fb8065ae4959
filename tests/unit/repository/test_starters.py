"""What a change does to a file that starts or installs Orbit: two texts of one file a case."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from orbit_registry.repository.starters import alteration, is_starter, starts_in

FILE = Path(__file__).resolve().parents[2] / "cases" / "starters.yaml"
CASES: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_change_of_a_file_that_starts_orbit(name: str) -> None:
    case = CASES[name]
    path, before = case["path"], case["before"]
    after = before
    for old, new in case["edit"].items():
        assert old in after
        after = after.replace(old, new)

    assert is_starter(path)
    what = alteration(path, starts_in(path, before), starts_in(path, after))
    assert (what != "") is bool(case.get("reported")), what
