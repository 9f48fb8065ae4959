"""A search in SQL finds what the command line finds."""

from typing import Any

import duckdb
import pytest

from orbit_registry.mcp import read_tools
from orbit_registry.mcp.tools import Caller, ToolCall
from orbit_registry.registry import Registry


@pytest.mark.parametrize(
    "text", ["postgres", "is ADR-0001 it's own?", "postgres at rest", "continue", "nothing-has-it", "0255"]
)
def test_a_question_in_sql_finds_the_same(shell: Any, text: str) -> None:
    shell.learn("Vacuum Postgres at night")
    rest = shell.learn("Rest after lunch", "--body", "Postgres rests too.")
    with (shell.root / f".orbit/learnings/{rest}/learning.yaml").open("a", encoding="utf-8") as record:
        record.write('legacy_ids: ["0255"]\n')
    quoted = text.replace("'", "''")
    sql = f"SELECT id, score FROM search('{quoted}')"

    hits = shell.data("search", text, "--budget", "deep" if "?" in text else "balanced")["hits"]
    ids = shell.data("query", sql)

    if text == "0255":
        assert [row["id"] for row in ids] == [rest]
    assert [(row["id"], round(row["score"], 4)) for row in ids] == [(hit["id"], round(hit["score"], 4)) for hit in hits]
    question = ToolCall(Registry.open(shell.root), Caller("agent", ""), {"sql": sql})
    assert read_tools.query(question).data["rows"] == ids
    if not duckdb.__version__.startswith("1."):  # which can't ask it once for each row
        each = shell.data("query", "SELECT count(*) AS n FROM records, LATERAL (FROM search(title))")
        assert each[0]["n"] > 0
