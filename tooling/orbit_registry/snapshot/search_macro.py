"""Tables of terms and weights of a snapshot, and the macro `search(text)` that adds them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.hook.words import LONGEST_WORD, STOP_WORDS, UNSPACED
from orbit_registry.hook.words import MARKS as LETTER_MARKS
from orbit_registry.search.index import Fields, Index, counts_of
from orbit_registry.search.search import MARKS

if TYPE_CHECKING:
    from orbit_registry.snapshot.export import duckdb

MACRO = Path(__file__).with_name("search.sql")
ENDINGS = "[bdfglmnprt]?(?:s|e|es|d|ed|ing|ings|er|ers|ly|y|ies|ied|ion|ions|ment|ments)"
"""What may follow a known word in one that is not known."""
_TABLES = """
CREATE OR REPLACE TABLE search_words (word VARCHAR NOT NULL, term VARCHAR NOT NULL, worth DOUBLE NOT NULL);
CREATE OR REPLACE TABLE search_terms (
    term VARCHAR NOT NULL, record_id VARCHAR NOT NULL, part INTEGER NOT NULL, weight DOUBLE NOT NULL
);
"""
_FILL_WORDS = """
INSERT INTO search_words
SELECT l.line[1], l.line[2], l.line[3]::DOUBLE
FROM (SELECT string_split(unnest(string_split($1, chr(10))), chr(9)) AS line) AS l
ORDER BY ALL
"""
_FILL_TERMS = """
INSERT INTO search_terms
SELECT l.term, $2[l.slot + 1], $3[l.slot + 1], l.weight
FROM (
    SELECT h.line[1] AS term, split_part(h.hit, ' ', 1)::INTEGER AS slot, split_part(h.hit, ' ', 2)::DOUBLE AS weight
    FROM (
        SELECT w.line, unnest(string_split(w.line[2], ',')) AS hit
        FROM (SELECT string_split(unnest(string_split($1, chr(10))), chr(9)) AS line) AS w
    ) AS h
) AS l
ORDER BY ALL
"""


def search_tables(connection: duckdb.DuckDBPyConnection, texts: Mapping[tuple[str, int], Fields]) -> None:
    """Make the tables that `search` looks words up in, from texts by id and number, and the macro."""
    index = Index({key: counts_of(fields) for key, fields in texts.items()})
    connection.execute(_TABLES)
    unknown = [("", "", index.worth(""))]
    stems = {**{term: term for term in index.terms}, **index.stems}
    words = ((word, term, index.worth(term)) for word, term in stems.items() if word not in STOP_WORDS)
    common = ((word, "", 0.0) for word in STOP_WORDS)
    _fill(
        connection, _FILL_WORDS, (f"{word}\t{term}\t{worth:.6f}" for word, term, worth in (*unknown, *common, *words))
    )
    weighed = ((term, (f"{slot} {weight:.6f}" for slot, weight in index.weights(term))) for term in index.terms)
    _fill(
        connection,
        _FILL_TERMS,
        (f"{term}\t{','.join(hits)}" for term, hits in weighed),
        *map(list, zip(*index.keys, strict=True)),
    )
    text = MACRO.read_text("utf-8")
    for name, value in _VALUES.items():
        text = text.replace(f"@{name}@", value.replace("'", "''"))
    connection.execute(text)


_VALUES = {
    "unspaced": UNSPACED,
    "marks": LETTER_MARKS,
    "longest": str(LONGEST_WORD),
    "edges": MARKS,
    "endings": ENDINGS,
}


def _fill(connection: duckdb.DuckDBPyConnection, statement: str, lines: Iterable[str], *more: list[object]) -> None:
    if text := "\n".join(lines):
        connection.execute(statement, [text, *more])
