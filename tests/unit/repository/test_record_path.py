"""Which record a path belongs to, for every door: tests/cases/record_paths.yaml."""

from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.yaml import load
from orbit_registry.hook.project import record_in
from orbit_registry.model.kind import load_kinds
from orbit_registry.repository.record_path import kind_of_file, record_path

CASES: Any = load((Path(__file__).parents[2] / "cases/record_paths.yaml").read_text("utf-8"))
each_case = pytest.mark.parametrize("case", CASES, ids=[case["path"] for case in CASES])


@each_case
def test_a_path_belongs_to_a_record(case: dict[str, Any]) -> None:
    at = record_path(load_kinds(), case["path"])

    if "kind" not in case:
        assert at is None
        return

    assert at is not None
    assert (at.kind.name, at.id) == (case["kind"], case["id"])
    assert at.folder == case["path"].removesuffix(f"/{at.file}")
    assert at.is_record == case.get("record", False)
    assert at.is_pending == case.get("pending", False)
    assert bool(at.source) == case.get("copy", False)


@each_case
def test_a_file_of_this_project_holds_a_record(case: dict[str, Any]) -> None:
    kind = kind_of_file(load_kinds(), case["path"])

    is_ours = case.get("record", False) and not case.get("copy", False)
    assert (kind.name if kind else None) == (case["kind"] if is_ours else None)


@each_case
def test_the_hook_notes_the_same_record_as_opened(case: dict[str, Any]) -> None:
    assert record_in(case["path"]) == case.get("opened", case.get("id", ""))
