"""Report on a lake: the questions of `questions/*.sql`, each with its answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import UsageError, did_you_mean
from orbit_registry.fleet.database import HINT, with_lake
from orbit_registry.fleet.lake import Lake
from orbit_registry.snapshot.query import QueryResult, ask

if TYPE_CHECKING:
    from orbit_registry.snapshot.export import duckdb

FOLDER = Path(__file__).with_name("questions")
SECONDS = 600.0
_HEAD = re.compile(
    r"-- title: (?P<title>[^\n]+)\n-- answers: (?P<answers>[^\n]+)\n(?P<sql>.+)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the report: a file that states its title, what it answers, and one SELECT."""

    name: str
    title: str
    answers: str
    sql: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with the first rows of its answer."""

    question: Question
    result: QueryResult

    def as_data(self) -> dict[str, object]:
        """Return the answer as JSON shows it."""
        head = {
            "question": self.question.name,
            "title": self.question.title,
            "answers": self.question.answers,
        }
        return {**head, "rows": self.result.as_data(), "is_cut": self.result.is_cut}

    def text(self) -> str:
        """Return the answer for people: a title, the question, and a table."""
        table = self.result.render("table").rstrip("\n") if self.result.rows else "nothing found"
        lines = [self.question.title, self.question.answers, "", table]
        if self.result.is_cut:
            lines.append("… and more: `--rows` sets how many rows are shown")
        return "\n".join(lines)


@cache
def questions() -> dict[str, Question]:
    """Return the questions by name.

    Raises:
        ValueError: a file has no head.
    """
    result = {}
    for file in sorted(FOLDER.glob("*.sql")):
        match = _HEAD.fullmatch(file.read_text("utf-8"))
        if match is None:
            raise ValueError(f"{file.name} does not begin with `-- title:` and `-- answers:`")
        result[file.stem] = Question(file.stem, match["title"], match["answers"], match["sql"])

    return result


def report(lake: Lake, name: str | None, *, rows: int, engine: str = "duckdb") -> list[Answer]:
    """Return the answers of a lake to one question, or to all, by an engine: `duckdb` or `spark`.

    Raises:
        UsageError: there is no such question.
    """
    by_name = questions()
    if name is not None and name not in by_name:
        hint = f"{did_you_mean(name, by_name)}questions: {', '.join(by_name)}"
        raise UsageError(f"there is no question {name!r}", hint=hint)

    chosen = list(by_name.values()) if name is None else [by_name[name]]
    if engine == "spark":
        from orbit_registry.fleet import spark  # needs Java, and a package of 400 MB

        results = spark.answers(lake, [question.sql for question in chosen], rows)
        return [Answer(question, result) for question, result in zip(chosen, results, strict=True)]

    return with_lake(lake, lambda connection: _answers(connection, chosen, rows))


def _answers(
    connection: "duckdb.DuckDBPyConnection", chosen: Sequence[Question], rows: int
) -> list[Answer]:
    return [
        Answer(each, ask(connection, each.sql, seconds=SECONDS, rows=rows, hint=HINT))
        for each in chosen
    ]
