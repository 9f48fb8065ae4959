"""Whether an entry of a log is the decision of a record with its number."""

from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, write

from orbit_registry.formats.yaml import load
from orbit_registry.judgements.same_decision import DecisionText, same_decision
from orbit_registry.registry import Registry

TABLE = Path(__file__).parents[2] / "cases/judgements/same_decision.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
NAMES = [row["what"] for row in ROWS]


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(row["same"] for row in ROWS) >= 15


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_judgement(row: dict[str, Any]) -> None:
    entry, record = row["entry"], row["record"]
    document = DecisionText(entry["title"], (entry["feature"],), entry["text"])
    known = DecisionText(record["title"], record["features"], record["text"])
    assert same_decision(document, known) == row["same"]


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_import_binds_only_one_decision(tmp_path: Path, git: Git, row: dict[str, Any]) -> None:
    entry, record = row["entry"], row["record"]
    git(tmp_path, "init", "--quiet")
    title = record["title"] or "ADR-0005"
    write(
        tmp_path,
        ".orbit/adrs/accepted/ADR-0005/adr.yaml",
        f"id: ADR-0005\ntitle: '{title}'\nstatus: accepted\nrelated_features: "
        f"{record['features']}\ncreated_at: 2026-05-01T09:00:00Z\n",
    )
    write(tmp_path, ".orbit/adrs/accepted/ADR-0005/body.md", record["text"] + "\n")
    write(
        tmp_path,
        f"docs/design/{entry['feature']}/4_decisions.md",
        f"# Decisions\n\n## ADR-0005 — {entry['title']}\n\n**Status:** Accepted\n\n"
        f"{entry['text']}\n",
    )
    commit(tmp_path)
    orbit(tmp_path, "import", ".", "--from", "orbit")

    source = Registry.open(tmp_path).get("ADR-0005").source
    is_bound = source is not None and source.path.endswith("4_decisions.md")
    assert is_bound == row["same"]
