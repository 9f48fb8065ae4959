"""`orbit search`, `orbit match`, `orbit explain` and `orbit coverage`."""

import json
import posix
from pathlib import Path
from typing import Any

import duckdb
import pytest
from jsonschema import Draft202012Validator
from tests.files import configure

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.registry import Registry

QUESTIONS = (
    "postgres",
    "is ADR-0001 it's own?",
    "postgres at rest",
    "continue",
    "nothing-has-it",
    "0255",
    "#01",
    "adr-1",
)


def test_a_question_in_sql_finds_the_same(shell: Any) -> None:
    shell.learn("Vacuum Postgres at night")
    rest = shell.learn("Rest after lunch", "--body", "Postgres rests too.")
    with (shell.root / f".orbit/learnings/{rest}/learning.yaml").open(
        "a", encoding="utf-8"
    ) as record:
        record.write('legacy_ids: ["0255"]\n')
    leads = {"0255": rest, "#01": "ADR-0001", "adr-1": "ADR-0001"}
    for text in QUESTIONS:
        quoted = text.replace("'", "''")
        sql = f"SELECT id, score FROM search('{quoted}')"
        hits = shell.data("search", text, "--budget", "deep" if "?" in text else "balanced")["hits"]
        rows = shell.data("query", sql)
        # `01` may be the month or the day of other records, too.
        assert text not in leads or rows[0]["id"] == leads[text], text
        found = [(hit["id"], round(hit["score"], 4)) for hit in hits]
        assert [(row["id"], round(row["score"], 4)) for row in rows] == found, text
        caller = Caller("agent", "")
        asked = reply("query", {"sql": sql}, caller, lambda: Registry.open(shell.root))
        assert asked.structured["data"]["rows"] == rows, text
    if not duckdb.__version__.startswith("1."):  # which can't ask it once for each row
        each = shell.data(
            "query", "SELECT count(*) AS n FROM records, LATERAL (FROM search(title))"
        )
        assert each[0]["n"] > 0


SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


def data_of(shell: Any, *arguments: str) -> Any:
    code, envelope = shell.json(*arguments)
    assert code == 0
    schema = json.loads((SCHEMAS / f"{arguments[0]}.schema.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(envelope)) == []
    return envelope["data"]


def test_the_project_of_the_environment_counts_unless_another_is_named(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shop", "billing"):
        shell.learn(f"For {name}", "--path", "src/**", "--project", name)
    monkeypatch.setitem(
        posix.environ, b"ORBIT_PROJECT", b"billing"
    )  # what a process is started with

    def titles(*more: str) -> set[str]:
        return {match["title"] for match in data_of(shell, "match", "src/app.py", *more)["matches"]}

    assert titles() == {"For billing", "Use SQLite"}
    assert titles("--project", "shop") == {"For shop", "Use SQLite"}
    assert {row["why"] for row in data_of(shell, "explain", "src/app.py")["verdicts"]} == {
        "pushed",
        "project",
    }
    assert data_of(shell, "coverage")["broad"] == []


def test_another_name_of_a_tag_is_no_unknown_tag(shell: Any) -> None:
    configure(shell.root, "tags: {aliases: {k8s: kubernetes}}\n")
    shell.learn("Pods restart slowly", "--tag", "kubernetes")
    for command in (("search", "pods"), ("match",), ("list",)):
        code, out, err = shell(*command, "--tag", "k8s")
        assert (code, "Pods restart slowly" in out, "no record has" in f"{out}{err}") == (
            0,
            True,
            False,
        )


def test_the_best_match_is_the_first_line(shell: Any) -> None:
    shell.learn("SQLite is locked while the nightly import of orders runs")

    for words in ("use sqlite", "sqlite locked nightly import"):
        hits = shell.data("search", words)["hits"]
        assert len({hit["kind"] for hit in hits}) == 2

        lines = [line for line in shell("search", words)[1].splitlines() if line[:1].isdigit()]
        assert hits[0]["id"] in lines[0]
