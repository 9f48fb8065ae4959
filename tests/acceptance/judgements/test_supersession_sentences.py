"""Sentences about supersession: what they deny, plan or suppose makes no link, but a question."""

from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write

from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

TABLE = Path(__file__).parents[2] / "cases/judgements/supersession_sentences.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
TEXT = "# {title}\n\n## Status\n\n{line}\n\n## Context\n\nc\n\n## Decision\n\nWe use {title}.\n"
LINES = [row["line"] for row in ROWS]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, git: Git) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("sentences") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    write(root, "docs/adr/0001-a.md", TEXT.format(title="Use a", line="Accepted"))
    for number, row in enumerate(ROWS, start=2):
        line = row["line"].replace("{t}", "[ADR-0001](0001-a.md)")
        text = TEXT.format(title=f"Use thing{number}", line=line)
        write(root, f"docs/adr/{number:04d}-thing{number}.md", text)

    commit(root)
    return root, orbit(root, "import", "docs/adr", "--verbose")


@pytest.mark.parametrize("number", range(len(ROWS)), ids=LINES)
def test_only_facts_make_links(project: tuple[Path, str], number: int) -> None:
    root, report = project
    row, name = ROWS[number], f"ADR-{number + 2:04d}"
    record = Registry.open(root).collection.records.get(name)
    stated = {
        rel: list(record.words(rel)) for rel in ("superseded_by", "supersedes") if record.words(rel)
    }
    assert stated == ({row["relation"]: ["ADR-0001"]} if row["relation"] else {})
    assert {link.rel for link in record.links} <= {"references"}
    if row["status"]:
        assert record.stated_status.name == row["status"]

    source = f"docs/adr/{number + 2:04d}-thing{number + 2}.md → {name}"
    asked = f"{source}: line 5:" in report and "is not read as a fact" in report
    assert asked == (not row["relation"])


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(bool(row["relation"]) for row in ROWS) >= 15
