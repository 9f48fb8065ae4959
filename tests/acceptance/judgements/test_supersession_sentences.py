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


PARTS: list[dict[str, Any]] = load(TABLE.with_name("partial_supersession.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Return a project of pairs: one decision, and one that replaces it or a part of it."""
    root = tmp_path_factory.mktemp("parts") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    for number, row in enumerate(PARTS):
        first, second = 2 * number + 1, 2 * number + 2
        target = f"[ADR-{first:04d}]({first:04d}-old.md)"
        status = row.get("status", "Accepted").replace("{t}", target)
        header = row.get("header", "").replace("{t}", target)
        matter = row.get("matter", "").replace("ADR-0001", f"ADR-{first:04d}")
        head = f"---\n{matter}\n---\n" if matter else ""
        old = TEXT.format(title=f"Use old{number}", line="Accepted")
        text = TEXT.format(title=f"Use new{number}", line=status)
        text = text.replace("## Status", f"{header}\n\n## Status") if header else text
        write(root, f"docs/adr/{first:04d}-old.md", old)
        write(root, f"docs/adr/{second:04d}-new.md", f"{head}{text}")

    commit(root)
    report = orbit(root, "import", "docs/adr", "--verbose")
    partial = sum("amends" in row for row in PARTS)
    assert f"{partial} × a part of a decision is replaced, so both count" in report
    return root


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_a_part_that_is_replaced_leaves_both(parts: Path, number: int) -> None:
    row = PARTS[number]
    old, new = f"ADR-{2 * number + 1:04d}", f"ADR-{2 * number + 2:04d}"
    said = {name: orbit(parts, "show", name) for name in (old, new)}
    records = Registry.open(parts).collection.records
    if "replaces" in row:
        winner, loser = (new, old) if row["replaces"] == "new" else (old, new)
        assert list(records.get(winner).supersedes) == [loser]
        return

    winner, loser = (new, old) if row["amends"] == "new" else (old, new)
    assert f"amends {loser} (replaces a part)" in said[winner]
    assert f"amended by    {winner} (replaces a part)" in said[loser]
    for name in (old, new):
        record = records.get(name)
        assert record.phase == "live"
        assert not record.supersedes
        assert not record.superseded_by
