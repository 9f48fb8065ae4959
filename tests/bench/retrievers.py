"""Who searches in the benchmark of recall: this project's search and what others offer, over the same three fields.

A library that is not installed is named with the reason; nothing is installed or fetched here.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sqlite3
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from orbit_registry.registry import Registry
from orbit_registry.search.index import Index, counts_of
from orbit_registry.search.query import Query
from orbit_registry.search.terms import terms

Texts = Mapping[str, tuple[str, str, str]]
Run = Callable[[str], list[str]]
MOST = 20
TITLE, TAGS, BODY = 3.0, 2.5, 1.0


class AbsentError(Exception):
    """A library can't be used here; the text says why."""


def retrievers(registry: Registry, texts: Texts) -> tuple[dict[str, Run], dict[str, str]]:
    """Return who can search, our own first, and why the others can't."""
    found: dict[str, Run] = {"orbit search": ours(registry)}
    absent = {}
    for name, make in PEERS.items():
        try:
            found[name] = make(texts)
        except AbsentError as error:
            absent[name] = str(error)
    return found, absent


def ours(registry: Registry) -> Run:
    """Return the search of every door, over every record."""
    searcher = registry.searcher

    def run(text: str) -> list[str]:
        if not terms(text):
            return []
        found = searcher.search(Query(text, limit=MOST, everything=True, budget="balanced"))
        return [hit.record.path for hit in found.hits]

    return run


def by_terms(texts: Texts) -> Run:
    """Return the ranking by terms alone."""
    index = Index({(path, 0): counts_of(fields) for path, fields in texts.items()})
    return lambda text: [index.keys[slot][0] for slot, _ in index.search(terms(text), most=MOST)]


def sqlite(texts: Texts, weights: str = "0, 1, 1, 1") -> Run:
    """Return SQLite's FTS5 with its Porter stemmer, any word, ranked by its BM25."""
    held = sqlite3.connect(":memory:")
    held.execute("CREATE VIRTUAL TABLE t USING fts5(key UNINDEXED, title, tags, body, tokenize = 'porter unicode61')")
    held.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(key, *fields) for key, fields in texts.items()])

    def run(text: str) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in _words(text))
        asked = f"SELECT key FROM t WHERE t MATCH ? ORDER BY bm25(t, {weights}) LIMIT {MOST}"
        return [key for (key,) in held.execute(asked, (wanted,))] if wanted else []

    weakref.finalize(run, held.close)  # Python 3.13 warns where nobody closes it
    return run


def tantivy(texts: Texts) -> Run:
    """Return tantivy with its English stemmer over three fields."""
    library = _library("tantivy")
    schema = library.SchemaBuilder()
    schema.add_text_field("key", stored=True, tokenizer_name="raw")
    for name in ("title", "tags", "body"):
        schema.add_text_field(name, tokenizer_name="en_stem")
    index = library.Index(schema.build())
    writer = index.writer()
    for key, (title, tags, body) in texts.items():
        writer.add_document(library.Document(key=key, title=title, tags=tags, body=body))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def run(text: str) -> list[str]:
        words = " ".join(_words(text))
        if not words:
            return []
        hits = searcher.search(index.parse_query(words, ["title", "tags", "body"]), MOST).hits
        return [searcher.doc(address)["key"][0] for _, address in hits]

    return run


def bm25s(texts: Texts, *, our_terms: bool = False) -> Run:
    """Return bm25s with its own tokenizer and stop words, or over our terms."""
    library = _library("bm25s")
    keys = list(texts)
    whole = ["\n".join(fields) for fields in texts.values()]

    def cut(text: str) -> Any:
        if our_terms:
            return [terms(text)]
        return library.tokenize([text], stopwords="en", show_progress=False, return_ids=False)

    index = library.BM25()
    index.index([cut(text)[0] for text in whole], show_progress=False)

    def run(text: str) -> list[str]:
        asked = [[word for word in cut(text)[0] if word in index.vocab_dict]]
        if not asked[0]:
            return []
        found, scores = index.retrieve(asked, k=min(MOST, len(keys)), show_progress=False)
        return [keys[int(at)] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return run


def duckdb_fts(texts: Texts) -> Run:
    """Return DuckDB's full-text extension, as the package `duckdb-extension-fts` brings it, any word."""
    duckdb = _library("duckdb")
    found = importlib.util.find_spec("duckdb_extension_fts")
    folder = Path(str(found.origin)).parent / "extensions" if found is not None else None
    file = folder / f"v{duckdb.__version__}" / "fts.duckdb_extension" if folder is not None else None
    if file is None or not file.exists():
        raise AbsentError(f"there is no package of its extension for DuckDB {duckdb.__version__}")
    held = duckdb.connect()
    held.execute(f"LOAD '{file}'")
    held.execute("CREATE TABLE t (key VARCHAR, title VARCHAR, tags VARCHAR, body VARCHAR)")
    held.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(key, *fields) for key, fields in texts.items()])
    held.execute("PRAGMA create_fts_index('t', 'key', 'title', 'tags', 'body')")
    scored = "SELECT key, fts_main_t.match_bm25(key, ?) AS s FROM t"
    asked = f"SELECT key FROM ({scored}) WHERE s IS NOT NULL ORDER BY s DESC, key LIMIT ?"

    def run(text: str) -> list[str]:
        return [key for (key,) in held.execute(asked, (text, MOST)).fetchall()]

    return run


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise AbsentError(f"{error.name or name} is not installed here") from None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("_", " "))


PEERS: Mapping[str, Callable[[Texts], Run]] = {
    "by terms alone": by_terms,
    "SQLite FTS5": sqlite,
    "SQLite FTS5, fields weighed as ours": lambda texts: sqlite(texts, f"0, {TITLE}, {TAGS}, {BODY}"),
    "tantivy": tantivy,
    "bm25s": bm25s,
    "bm25s over our terms": lambda texts: bm25s(texts, our_terms=True),
    "DuckDB fts": duckdb_fts,
}
