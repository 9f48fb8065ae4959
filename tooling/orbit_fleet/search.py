"""Search over a lake by words, and what applies to a file of one of its repositories."""

from __future__ import annotations

from pathlib import Path

from orbit_fleet.database import DEFAULT, HINT, Limits, query, with_lake
from orbit_fleet.lake import Lake
from orbit_registry.errors import RecordNotFoundError, UsageError
from orbit_registry.formats.untrusted import inert_text
from orbit_registry.search.text import stem, words
from orbit_registry.snapshot.export import duckdb, quoted
from orbit_registry.snapshot.query import QueryResult, ask

SEARCH_SQL = Path(__file__).with_name("search.sql")
MOST_WORDS = 20
COLUMNS = ("repository", "id", "kind", "title", "sentence", "url")


def search(lake: Lake, text: str, *, rows: int, limits: Limits = DEFAULT) -> QueryResult:
    """Return the records that have the words of a text, best first; an id is found exactly.

    Raises:
        UsageError: the text has no word.
    """
    terms = list(dict.fromkeys(map(stem, words(text))))[:MOST_WORDS]
    if not terms:
        raise UsageError(f"{text!r} has no word", hint="orbit fleet search connection pool …")

    literal = ", ".join(map(quoted, terms))
    by_words = SEARCH_SQL.read_text("utf-8").replace("$terms", f"[{literal}]")
    by_id = (
        f"SELECT {', '.join(COLUMNS)} FROM records "
        f"WHERE lower(id) = lower({quoted(text.strip())}) AND NOT is_copy ORDER BY repository"
    )

    def answer(connection: duckdb.DuckDBPyConnection) -> QueryResult:
        exact = ask(connection, by_id, seconds=limits.seconds, rows=rows, hint=HINT)
        if exact.rows:
            return exact
        return ask(connection, by_words, seconds=limits.seconds, rows=rows, hint=HINT)

    return with_lake(lake, answer, limits=limits)


def applying(lake: Lake, path: str, repository: str, limits: Limits = DEFAULT) -> QueryResult:
    """Return id, kind, title and glob of the live records that apply to a file."""
    sql = (
        f"SELECT id, kind, title, pattern FROM scope_match({quoted(path)}) "
        f"WHERE phase = 'live' AND repository = {quoted(repository)} ORDER BY id"
    )
    return with_lake(
        lake,
        lambda connection: ask(connection, sql, seconds=limits.seconds, hint=HINT),
        repository,
        limits,
    )


def record(lake: Lake, repository: str, record_id: str, limits: Limits = DEFAULT) -> QueryResult:
    """Return a record with its whole text.

    Raises:
        RecordNotFoundError: the repository has no such record.
    """
    sql = (
        "SELECT repository, id, kind, title, status, date, author, url, body FROM records "
        f"WHERE lower(id) = lower({quoted(record_id)})"
    )
    answer = query(lake, sql, repository, limits)
    if not answer.rows:
        hint = "`orbit fleet search WORDS` finds records"
        raise RecordNotFoundError(f"{repository} has no record {record_id!r}", hint=hint)

    return answer


def hits_text(answer: QueryResult) -> str:
    """Return the hits of a search for people: each with its sentence and its link."""
    hits = []
    for row in answer.rows:
        repository, record_id, _, title, sentence, url = (str(value or "") for value in row)
        lines = (f"{repository} {record_id} {title}", sentence, url)
        hits.append("\n  ".join(filter(None, lines)))

    return "\n".join(hits) or "nothing found"


def matches_text(answer: QueryResult) -> str:
    """Return what applies to a file for people: each record with the glob that matches."""
    lines = [f"{record_id} {title} ({pattern})" for record_id, _, title, pattern in answer.rows]
    return "\n".join(lines) or "no record applies to this file"


def record_text(answer: QueryResult) -> str:
    """Return a record for people: what it is, then its text."""
    values = dict(zip(answer.columns, answer.rows[0], strict=True))
    lines = [f"{values['repository']} {values['id']} {values['title']}"]
    lines += [str(values[name]) for name in ("status", "date", "author", "url") if values[name]]
    return inert_text("\n".join([*lines, "", str(values["body"] or "").strip()]))
