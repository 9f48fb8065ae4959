"""Tables of terms and weights of a snapshot, and the macro `search(text)` that adds them up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
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
CREATE OR REPLACE TEMP TABLE search_texts (
    record_id VARCHAR, part INTEGER, norm DOUBLE, terms VARCHAR[], counts INTEGER[]
);
"""
_WEIGH = """
INSERT INTO search_terms
SELECT t.term, t.record_id, t.part, round(w.worth * t.count / (t.count + t.norm), 6)
FROM (
    SELECT record_id, part, norm, unnest(terms) AS term, unnest(counts) AS count FROM search_texts
) AS t
JOIN (SELECT DISTINCT term, worth FROM search_words) AS w ON w.term = t.term
ORDER BY ALL;
DROP TABLE search_texts;
"""
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def search_tables(
    connection: duckdb.DuckDBPyConnection,
    texts: Mapping[tuple[str, int], Fields],
    fill: Callable[[Mapping[str, Iterable[str]]], None],
) -> None:
    """Make the tables that `search` looks words up in, from texts by id and number, and the macro.

    `fill` adds rows, JSON objects, to tables.
    """
    index = Index({key: counts_of(fields) for key, fields in texts.items()})
    stems = {**{term: term for term in index.terms}, **index.stems}
    words = [(word, term, index.worth(term)) for word, term in stems.items() if word not in STOP_WORDS]
    common = [(word, "", 0.0) for word in STOP_WORDS]
    counted = zip(index.keys, index.norms, index.texts, strict=True)
    connection.execute(_TABLES)
    fill({
        "search_words": (
            _as_json({"word": word, "term": term, "worth": round(worth, 6)})
            for word, term, worth in sorted([("", "", index.worth("")), *common, *words])
        ),
        "search_texts": (
            _as_json({"record_id": name, "part": part, "norm": norm, "terms": [*counts], "counts": [*counts.values()]})
            for (name, part), norm, counts in counted
        ),
    })  # fmt: skip
    connection.execute(_WEIGH)
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
