"""Who searches in the benchmark of recall:
this project's search and SQLite's, over the same three fields.
"""

import re
import sqlite3
import weakref
from collections.abc import Callable, Mapping

from orbit_registry.registry import Registry
from orbit_registry.search.index import Index
from orbit_registry.search.query import Query
from orbit_registry.search.text import terms
from orbit_registry.search.texts import words_in

Texts = Mapping[str, tuple[str, str, str]]
Run = Callable[[str], list[str]]
MOST = 20


def retrievers(registry: Registry, texts: Texts) -> dict[str, Run]:
    """Return who can search, our own first."""
    return {
        "orbit search": ours(registry),
        "by terms alone": by_terms(texts),
        "SQLite FTS5": sqlite(texts),
    }


def ours(registry: Registry) -> Run:
    """Return the search of every door, over every record."""
    searcher = registry.searcher

    def run(text: str) -> list[str]:
        if not terms(text):
            return []
        result = searcher.search(Query(text, limit=MOST, everything=True, budget="balanced"))
        return [hit.record.path for hit in result.hits]

    return run


def by_terms(texts: Texts) -> Run:
    """Return the ranking by terms alone."""
    index = Index({(path, 0): words_in(fields) for path, fields in texts.items()})
    return lambda text: [index.keys[slot][0] for slot, _ in index.search(terms(text), most=MOST)]


def sqlite(texts: Texts) -> Run:
    """Return SQLite's FTS5 with its Porter stemmer, any word, ranked by its BM25."""
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(key UNINDEXED, title, tags, body, tokenize = 'porter "
        "unicode61')"
    )
    db.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [(key, *fields) for key, fields in texts.items()]
    )

    def run(text: str) -> list[str]:
        pattern = " OR ".join(f'"{word}"' for word in _words(text))
        sql = f"SELECT key FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, 1, 1, 1) LIMIT {MOST}"
        return [key for (key,) in db.execute(sql, (pattern,))] if pattern else []

    weakref.finalize(run, db.close)  # Python 3.13 warns where nobody closes it
    return run


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("_", " "))
