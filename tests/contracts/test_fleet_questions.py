"""The questions of the fleet's report: each file states what it answers,
in SQL that other engines read too.
"""

import pytest

from orbit_fleet.report import FOLDER, questions
from orbit_registry.model.votes import HALF_LIFE_DAYS

sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")


def test_each_file_is_a_question() -> None:
    assert sorted(questions()) == sorted(file.stem for file in FOLDER.iterdir())


@pytest.mark.parametrize("name", questions())
def test_a_question_can_be_carried_to_spark(name: str) -> None:
    (tree,) = sqlglot.parse(questions()[name].sql, read="duckdb")
    assert isinstance(tree, sqlglot.exp.Select)
    assert tree.sql("spark", unsupported_level=sqlglot.ErrorLevel.RAISE)


def test_votes_weigh_as_they_do_in_one_repository() -> None:
    assert f"/ {HALF_LIFE_DAYS})" in questions()["votes"].sql
