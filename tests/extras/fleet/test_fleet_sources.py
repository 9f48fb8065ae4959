"""Lists of repositories: what each line means, and that no message shows a secret."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit

from orbit_fleet.sources import sources_in

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/fleet_sources.yaml").read_text("utf-8")
)
PASSWORD = "hk39Xq" + "71vZ"


@pytest.mark.parametrize("case", CASES["lines"], ids=lambda case: case["line"])
def test_a_line_is_a_repository_or_says_why_not(tmp_path: Path, case: dict[str, str]) -> None:
    line = case["line"].replace("{P}", PASSWORD)
    (tmp_path / "list.txt").write_bytes(f"{line}\n".encode())
    read = sources_in([str(tmp_path / "list.txt")])

    assert [each.name for each in read.repositories] == ([case["name"]] if "name" in case else [])
    assert len(read.problems) == ("message" in case)
    for source in read.repositories:
        assert source.origin == case.get("origin", source.origin)
        assert PASSWORD not in f"{source.name} {source.origin} {source.shown}"

    for problem in read.problems:
        assert case["message"] in problem.message
        assert problem.where.endswith("list.txt:1")
        assert PASSWORD not in problem.message


@pytest.mark.parametrize("case", CASES["lists"], ids=str)
def test_one_name_means_one_state_of_one_repository(tmp_path: Path, case: dict[str, Any]) -> None:
    (tmp_path / "list.json").write_text(json.dumps(case["entries"]), "utf-8")
    read = sources_in([str(tmp_path / "list.json")])
    assert [each.name for each in read.repositories] == case["names"]
    assert len(read.problems) == case["problems"]


@pytest.mark.parametrize("fields", CASES["fields"], ids=str)
def test_a_field_that_leads_elsewhere_is_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    entry = {"address": "https://forge.example/acme/shop", **fields}
    (tmp_path / "list.json").write_text(json.dumps([entry]), "utf-8")
    read = sources_in([str(tmp_path / "list.json")])
    assert read.repositories == []
    assert len(read.problems) == 1


@pytest.mark.parametrize("text", CASES["files"])
def test_a_file_that_is_no_list_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "list.yaml").write_text(text, "utf-8")
    answer = orbit(tmp_path, "fleet", "collect", "list.yaml", "--lake", "lake", code=2)
    assert "list.yaml" in answer
    assert len(answer.strip().splitlines()) == 2


def test_a_relative_address_begins_at_the_list(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/list.txt").write_text("../shop\n", "utf-8")
    (source,) = sources_in([str(tmp_path / "lists/list.txt")]).repositories
    assert Path(source.address).resolve() == tmp_path / "shop"
