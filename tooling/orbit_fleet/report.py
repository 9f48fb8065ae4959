"""Report on a lake: the questions of `questions/*.sql`, each with its answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orbit_fleet.database import DUCKDB, Engine
from orbit_fleet.engines import answers
from orbit_fleet.lake import Lake
from orbit_registry.errors import UsageError, did_you_mean
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.snapshot.query import QueryResult

FOLDER = Path(__file__).with_name("questions")
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
        """Return the answer for people: a title, the question, and a table or both sides."""
        lines = [self.question.title, self.question.answers, ""]
        if not self.result.rows:
            lines.append("nothing found")
        elif "example_against" in self.result.columns:
            lines += _sides(self.result)
        else:
            lines.append(self.result.render("table").rstrip("\n"))

        if self.result.is_cut:
            lines.append("… and more: `--rows` sets how many rows are shown")

        return "\n".join(lines)


def _sides(result: QueryResult) -> Iterator[str]:
    """Yield each topic with a quotation and a link of both sides."""
    for row in result.as_data():
        counts = f"{row['repositories_for']} for, {row['repositories_against']} against"
        yield f"{inert_line(str(row['topic']))} ({counts})"
        for side in ("for", "against"):
            parts = (row[f"{part}_{side}"] for part in ("example", "quote", "url"))
            texts = [inert_line(str(part)) for part in parts if part]
            yield f"  {side:<8} {texts[0]}"
            yield from (f"           {text}" for text in texts[1:])


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


def report(lake: Lake, name: str | None, *, rows: int, engine: Engine = DUCKDB) -> list[Answer]:
    """Return the answers of a lake to one question, or to all.

    Raises:
        UsageError: there is no such question.
    """
    by_name = questions()
    if name is not None and name not in by_name:
        hint = f"{did_you_mean(name, by_name)}questions: {', '.join(by_name)}"
        raise UsageError(f"there is no question {name!r}", hint=hint)

    chosen = list(by_name.values()) if name is None else [by_name[name]]
    results = answers(lake, [question.sql for question in chosen], engine, rows=rows)
    return [Answer(question, result) for question, result in zip(chosen, results, strict=True)]
