"""Search over a lake by words, and what applies to a file of one of its repositories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from orbit_fleet.database import DUCKDB, Engine
from orbit_fleet.engines import answers, query
from orbit_fleet.lake import Lake
from orbit_registry.errors import RecordNotFoundError, UsageError
from orbit_registry.formats.untrusted import inert_text
from orbit_registry.hook.words import words as telling_words
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.search.index import K1, B
from orbit_registry.search.text import stem
from orbit_registry.search.text import terms as terms_of
from orbit_registry.snapshot.export import quoted
from orbit_registry.snapshot.query import QueryResult
from orbit_registry.workspace.workspace import project_path

SEARCH_SQL = Path(__file__).with_name("search.sql")
MOST_WORDS = 20
_SHOWN = "SELECT repository, id, kind, title, status, date, author, url, body FROM records"
COLUMNS = ("repository", "id", "kind", "title", "status", "sentence", "url")
NO_CITATIONS = (
    "the lake does not know what the file cites and imports: `orbit fleet collect --code` reads it"
)


def search(
    lake: Lake, text: str, *, rows: int, everything: bool = False, engine: Engine = DUCKDB
) -> QueryResult:
    """Return the live records that have the words of a text, or all, best first; an id is found
    exactly.

    Raises:
        UsageError: the text has no word.
    """
    telling = list(map(stem, telling_words(text)))
    terms = list(dict.fromkeys(telling or terms_of(text)))[:MOST_WORDS]
    if not terms:
        raise UsageError(f"{text!r} has no word", hint="orbit fleet search connection pool …")

    name = text.strip()
    if " " not in name and not name.isalpha():
        by_id = f"lower(id) = lower({quoted(name)}) AND NOT is_copy ORDER BY repository"
        sql = f"SELECT {', '.join(COLUMNS)} FROM records WHERE {by_id}"
        (exact,) = answers(lake, [sql], engine, rows=rows)
        if exact.rows:
            return exact

    listed = ", ".join(map(quoted, terms))
    sql = weighed(SEARCH_SQL.read_text("utf-8")).replace("$terms", f"[{listed}]")
    sql = sql.replace("$phase", "phase" if everything else "'live'")
    return answers(lake, [sql], engine, rows=rows)[0]


def weighed(sql: str) -> str:
    """Return SQL with the constants by which the core's search weighs words."""
    return sql.replace("$k1", str(K1)).replace("$b", str(B))


def applying(lake: Lake, path: str, repository: str, engine: Engine = DUCKDB) -> QueryResult:
    """Return id, kind, title and glob of the live records that apply to a file.

    Raises:
        UsageError: the path leads out of a repository.
    """
    file = quoted(project_path(path))
    sql = (
        f"SELECT id, kind, title, pattern FROM scope_match({file}) "
        f"WHERE phase = 'live' AND repository = {quoted(repository)} ORDER BY id"
    )
    return query(lake, sql, repository, engine)


def record(lake: Lake, repository: str, name: str, engine: Engine = DUCKDB) -> QueryResult:
    """Return a record with its whole text; any name that `orbit show` takes means it.

    Raises:
        RecordNotFoundError: the repository has no such record.
        AmbiguousIdError: the name means several.
    """
    names = query(lake, "SELECT kind, data, path FROM records", repository, engine)
    try:
        record_id = _record_set(names.as_data()).get(name).id
    except RecordNotFoundError:
        hint = "`orbit fleet search WORDS` finds records"
        raise RecordNotFoundError(f"{repository} has no record {name!r}", hint=hint) from None

    return query(lake, f"{_SHOWN} WHERE id = {quoted(record_id)}", repository, engine)


def _record_set(rows: Iterable[Mapping[str, object]]) -> RecordSet:
    """Return records by all their names; those of a kind that is not known here are decisions."""
    kinds = load_kinds()
    records = []
    for row in rows:
        name = str(row["kind"])
        kind = kinds[name if name in kinds else "adr"]
        records.append(Record(kind, json.loads(str(row["data"])), str(row["path"])))

    return RecordSet(records)


def hits_text(answer: QueryResult) -> str:
    """Return the hits of a search for people: each with its sentence and its link."""
    hits = []
    for row in answer.rows:
        repository, record_id, _, title, status, sentence, url = (str(each or "") for each in row)
        lines = (f"{repository} {record_id} {title} ({status})", sentence, url)
        hits.append("\n  ".join(filter(None, lines)))

    return "\n".join(hits) or "nothing found"


def matches_text(lake: Lake, repository: str, answer: QueryResult) -> str:
    """Return what applies to a file for people: each record with what leads to it."""
    lines = [f"{record_id} {title} ({pattern})" for record_id, _, title, pattern in answer.rows]
    if not lines:
        lines.append("no record applies to this file")

    state = lake.repository(repository)
    if state is None or not state.has_code:
        lines += ["", NO_CITATIONS]

    return "\n".join(lines)


def record_text(answer: QueryResult) -> str:
    """Return a record for people: what it is, then its text."""
    values = dict(zip(answer.columns, answer.rows[0], strict=True))
    lines = [f"{values['repository']} {values['id']} {values['title']}"]
    lines += [str(values[name]) for name in ("status", "date", "author", "url") if values[name]]
    return inert_text("\n".join([*lines, "", str(values["body"] or "").strip()]))
