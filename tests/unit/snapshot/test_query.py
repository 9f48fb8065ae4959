"""Questions to the snapshot: what is answered, how it is printed, and what is refused."""

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orbit_registry.errors import SnapshotError, UsageError
from orbit_registry.snapshot.query import QueryResult, query, run_query


@pytest.fixture
def filled(project: Any) -> Any:
    project.learning("aaaaa", priority=10, scope={"paths": ["src/**"]})
    project.learning("bbbbb")
    return project


def test_a_table_is_for_people(filled: Any) -> None:
    output = query(filled.workspace, "SELECT id, priority, category FROM records ORDER BY id")
    assert output.splitlines() == [
        "id       priority  category",
        "-------  --------  --------",
        "L-aaaaa        10  NULL",
        "L-bbbbb         0  NULL",
        "(2 rows)",
    ]


def test_json_is_a_list_of_objects(filled: Any) -> None:
    sql = (
        "SELECT id, id, 1.5::DECIMAL(3,1) AS d, 'nan'::DOUBLE AS n, created_at, [1, NULL] AS l, "
        "{'a': true} AS s, "
        "'\\xAA'::BLOB AS b, NULL AS z FROM records ORDER BY id LIMIT 1"
    )
    assert json.loads(query(filled.workspace, sql, "json")) == [
        {
            "id": "L-aaaaa",
            "id_2": "L-aaaaa",
            "d": "1.5",
            "n": None,
            "created_at": "2026-05-17 12:00:00",
            "l": [1, None],
            "s": {"a": True},
            "b": "aa",
            "z": None,
        }
    ]


def test_csv_survives_any_text(filled: Any) -> None:
    text = 'a "quoted", text\nwith a break'
    output = query(
        filled.workspace,
        "SELECT 'a \"quoted\", text\nwith a break' AS t, NULL AS n, 2 AS two",
        "csv",
    )
    assert list(csv.reader(io.StringIO(output))) == [["t", "n", "two"], [text, "", "2"]]


def test_a_record_cannot_steer_the_terminal() -> None:
    output = QueryResult(("t\x1b",), (("\x1b[31mred\u202e\u2028\r\n" + "x" * 500,),)).render(
        "table"
    )
    assert "\\u001b[31mred\\u202e\\u2028\\u000d⏎xxx" in output
    assert "\x1b" not in output
    assert max(map(len, output.splitlines())) < 140


NO_QUESTIONS = (
    "INSERT INTO records SELECT * FROM records",
    "DELETE FROM records",
    "DROP TABLE records",
    "UPDATE records SET title = 'x'",
    "CREATE TABLE x (a INTEGER)",
    "COPY records TO 'out.csv'",
    "ATTACH 'other.duckdb'",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA threads = 1",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE records",
    "",
    "-- nothing",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM read_text('.orbit/config.yaml')",
    "SELECT getenv('HOME')",
    "SELECT * FROM no_such_table",
    "SELECT FROM WHERE",
)


def test_what_is_no_question_is_refused(filled: Any) -> None:
    """Whatever would write, reach other files or change settings is one error with a hint;
    nothing changes.
    """
    before = filled.build()
    content = before.path.read_bytes()
    for sql in NO_QUESTIONS:
        with pytest.raises((SnapshotError, UsageError)) as raised:
            query(filled.workspace, sql)
        assert raised.value.hint, sql
        assert before.path.read_bytes() == content, sql
        assert filled.build().path == before.path, sql
    assert not (Path.cwd() / "out.csv").exists()


def test_a_deeply_nested_question_is_answered_or_refused(filled: Any) -> None:
    with contextlib.suppress(SnapshotError):
        output = query(filled.workspace, "SELECT " + "(" * 5000 + "1" + ")" * 5000 + " AS n", "csv")
        assert output == "n\n1\n"


def test_a_question_without_end_is_ended(filled: Any) -> None:
    sql = (
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * 7 % 11 = "
        "b.range % 13"
    )
    with pytest.raises(SnapshotError, match=r"more than 0\.2 s"):
        run_query(filled.build().path, sql, seconds=0.2)


def test_a_step_without_end_is_left_alone(filled: Any) -> None:
    """The database looks at its limit between steps, and this is one step of a minute."""
    sql = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"
    with pytest.raises(SnapshotError, match=r"more than 0\.2 s") as raised:
        run_query(filled.build().path, sql, seconds=0.2)
    assert "--seconds" in str(raised.value.hint)


def test_plain_duckdb_runs_every_macro(filled: Any) -> None:
    path = filled.build().path
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{path}' AS knowledge (READ_ONLY)")
        connection.execute("USE knowledge")
        assert connection.execute("SELECT id FROM scope_match('src/a.py')").fetchall() == [
            ("L-aaaaa",)
        ]
        assert connection.execute("SELECT count(*) FROM ranked()").fetchall() == [(2,)]
        assert connection.execute("SELECT id FROM resolve_id('L-bbbbb')").fetchall() == [
            ("L-bbbbb",)
        ]
        assert connection.execute("FROM vote_ranking").fetchall() == []
