"""What files are for, by their paths: tests/cases/purposes.yaml."""

from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.sources import purposes
from orbit_registry.formats.yaml import load

CASES: Any = load((Path(__file__).parents[2] / "cases/purposes.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_a_path_says_what_its_file_is_for(path: str, expected: list[str]) -> None:
    assert sorted(purposes(path)) == expected
