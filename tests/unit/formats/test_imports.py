"""What files import, by the rows of `tests/cases/imports.yaml`."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from orbit_registry.formats.imports import all_imports, imported_names

CASES: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).parents[2] / "cases/imports.yaml"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_modules_of_a_file_are_read(case: dict[str, Any]) -> None:
    assert sorted(all_imports(case["file"], case["text"])) == sorted(case["imports"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_scope_is_led_to_by_its_modules(case: dict[str, Any]) -> None:
    names = [*case["uses"], "no", "absent"]
    assert imported_names(case["file"], case["text"], names) == case["uses"]
