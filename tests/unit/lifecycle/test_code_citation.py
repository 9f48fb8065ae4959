"""What is wrong with the citations of code: tests/cases/code_citations.yaml."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.files import make_workspace, write, write_record

from orbit_registry.formats.yaml import load
from orbit_registry.lifecycle.code_citation import BadCitation, bad_citations
from orbit_registry.repository.reader import read_collection
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.workspace import open_workspace

CASES: Any = load((Path(__file__).parents[2] / "cases/code_citations.yaml").read_text("utf-8"))
SETTINGS = 'citations: ["**/*.md", "!src/made_up/**"]\n'


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> list[BadCitation]:
    """Return what is wrong in a project with all files of the table."""
    root = make_workspace(tmp_path_factory.mktemp("citing"), SETTINGS)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for record_id, status, successor, document, names in CASES["records"]:
        fields: dict[str, object] = {"title": record_id, "status": status, "legacy_ids": names}
        fields["source"] = {"path": document}
        if successor is not None:
            fields["superseded_by"] = [successor]

        write(root, document, f"# {record_id}\n")
        write_record(root, f".orbit/adrs/{record_id}/adr.yaml", **fields)

    for path in CASES["documents"]:
        write(root, path, "# 9. Not taken over\n")
    for path, text, _ in CASES["cited"]:
        write(root, path, text)

    subprocess.run(["git", "add", "-Af"], cwd=root, check=True)
    workspace = open_workspace(root)
    records = [*read_collection(workspace).records]
    return list(bad_citations(SourceFiles(workspace, records, workspace.git.tracked() or [])))


@pytest.mark.parametrize(("path", "text", "expected"), CASES["cited"])
def test_citations_are_judged_as_the_table_says(
    bad: list[BadCitation], path: str, text: str, expected: list[list[Any]]
) -> None:
    here = [cited for cited in bad if cited.path == path]
    assert [[cited.line, cited.name, cited.verdict.value] for cited in here] == expected

    lines = text.split("\n")
    for cited in here:
        digits = cited.name.rpartition("-")[2].lstrip("0")
        assert digits in lines[cited.line - 1][cited.column - 1 :]


def test_successors_are_named_at_once_and_at_the_end(bad: list[BadCitation]) -> None:
    successors = {cited.record: cited.successors for cited in bad if cited.successors}
    assert successors == {"ADR-0002": ("ADR-0001",), "ADR-0008": ("ADR-0001", "ADR-0002")}


def test_the_table_is_large_enough() -> None:
    assert len(CASES["cited"]) >= 55
    assert sum(not expected for _, _, expected in CASES["cited"]) >= 35
