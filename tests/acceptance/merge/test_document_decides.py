"""A conflict that a person settled in the document is none of the record's."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.files import commit, write

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/operations/document_decides.yaml").read_text("utf-8")
)
DOCUMENT = "docs/adr/0001-use-files.md"
RECORD = ".orbit/adrs/ADR-0001/adr.yaml"
TEXT = "# Use files\n\nDate: 2026-01-05\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use files.\n"


def changed(root: Path, branch: str, lines: Mapping[str, str]) -> None:
    subprocess.run(["git", "switch", "-qc", branch, "main"], cwd=root, check=True)
    text = TEXT
    for line, other in lines.items():
        text = text.replace(line, other)

    write(root, DOCUMENT, text)
    orbit(root, "check", "--fix")
    commit(root, f"Change {branch}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["changes"])
def test_the_record_follows_the_merged_document(git_repo: Path, case: dict[str, Any]) -> None:
    subprocess.run(["git", "branch", "-qM", "main"], cwd=git_repo, check=True)
    write(git_repo, DOCUMENT, TEXT)
    commit(git_repo)
    orbit(git_repo, "init", "--yes")
    orbit(git_repo, "import", "docs/adr")
    commit(git_repo)
    changed(git_repo, "theirs", case["theirs"])
    changed(git_repo, "ours", case["ours"])
    merged = subprocess.run(["git", "merge", "-q", "theirs"], cwd=git_repo, check=False)
    assert merged.returncode == 1

    assert f"{DOCUMENT} decides: merge that first" in orbit(git_repo, "resolve", code=1)

    conflict = (git_repo / DOCUMENT).read_text("utf-8")
    theirs = re.sub(r"<{7}.*\n(?:.*\n)*?={7}\n((?:.*\n)*?)>{7}.*\n", r"\1", conflict)
    write(git_repo, DOCUMENT, theirs)
    subprocess.run(["git", "add", DOCUMENT], cwd=git_repo, check=True)

    assert "orbit check --fix" in orbit(git_repo, "resolve")
    orbit(git_repo, "check", "--fix")
    record = yaml.safe_load((git_repo / RECORD).read_text("utf-8"))
    for line in case["theirs"].values():
        words = line.removeprefix("# ").removeprefix("Date: ")
        assert words.lower() in {str(value).lower() for value in record.values()}
