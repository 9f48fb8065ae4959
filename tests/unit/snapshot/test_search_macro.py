"""The macro `search` in the file: the terms of our search and its order, in a DuckDB that has nothing of us."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.importers.takeover import import_from
from orbit_registry.registry import Registry
from orbit_registry.search import terms as stemming
from orbit_registry.search.query import Query
from orbit_registry.search.terms import terms
from orbit_registry.snapshot.build import MACROS, TABLES
from orbit_registry.snapshot.search_macro import search_macro
from orbit_registry.snapshot.sync import sync
from orbit_registry.text.yaml import load

CASES = Path(__file__).parents[2] / "cases"
ROOT = Path(__file__).parents[3]
NEAR = 8


@pytest.fixture(scope="module")
def splitter() -> Any:
    """Return a function from a text to its terms, counted, by the part of the macro that makes them."""
    connection = duckdb.connect()
    connection.execute(TABLES.read_text("utf-8"))
    connection.execute(MACROS.read_text("utf-8"))
    made, _, _ = search_macro().partition("\n), lengths AS")
    connection.execute(f"{made}\n) SELECT t.term, sum(c.times * t.times) FROM counted AS c "
        "JOIN piece_terms AS t ON t.piece = c.piece GROUP BY t.term")  # fmt: skip

    def split(text: str) -> Counter[str]:
        return Counter(dict(connection.execute("FROM search(?)", [text]).fetchall()))

    return split


def once(text: str) -> str:
    """Return a text in which each word stands once, as a search asks for it."""
    return " ".join(dict.fromkeys(text.split()))


def test_sql_stems_as_python_does(splitter: Any) -> None:
    """Every ending of the rules behind every kind of beginning, and the words that are listed."""
    starts = (
        "a by hop hopp happ relat fe agre gener commun arsen inter emerg sky dy yay ox ll ski controll logi st bl iz"
    )
    ends = {end for step in (stemming.STEP_2, stemming.STEP_3) for end, _ in step} | {*stemming.STEP_4}
    ends.update(("s", "es", "sses", "ies", "ied", "us", "ss", "eed", "eedly", "ed", "ing", "edly", "ingly", "y", "e"))
    ends.update(("ll", "le", "al", "er", "iti", "tionally", "nesses"))
    listed = (word for word, _ in load((CASES / "stems.yaml").read_text("utf-8")))
    words = {start + end + more for start, end, more in product(starts.split(), ends, ("", "s", "ed", "ing", "ly"))}
    words |= {*stemming.WHOLE_WORDS, *stemming.AFTER_PLURAL, *listed}
    assert len(words) > 5_000
    text = " ".join(sorted(words))
    assert splitter(text) == Counter(terms(text))


def test_sql_splits_as_python_does(splitter: Any) -> None:
    """The cases of the terms, and all texts that searches are measured with."""
    said = [
        text for text, _ in load((CASES / "terms.yaml").read_text("utf-8")) if "\0" not in text
    ]  # a record has none
    texts = json.loads((CASES / "search/ranking.json").read_text("utf-8"))["texts"]
    said.append(" ".join(part for fields in texts.values() for part in fields))
    assert [text for text in map(once, said) if splitter(text) != Counter(terms(text))] == []


@settings(max_examples=60)
@given(st.text(alphabet="aBcSsAPIy019_-./ éÉßж日本ﾄﾞｶﾀ한Ａ２ﬁ™µ²\u0301", max_size=60))
def test_sql_splits_any_text_as_python_does(splitter: Any, text: str) -> None:
    """Identifiers, marks, scripts without spaces, wide and joined forms."""
    assert splitter(text) == Counter(terms(once(text)))


def agreed(registry: Registry, questions: list[str]) -> list[str]:
    """Return the questions to which the file gives other records, orders or scores than our search."""
    path = sync(registry.workspace).path
    wrong = []
    with duckdb.connect(str(path), read_only=True) as connection:
        for text in questions:
            try:
                hits = registry.search(Query(text, limit=NEAR)).hits
            except UsageError:
                hits = ()
            found = connection.execute("SELECT id, score FROM search(?) LIMIT ?", [text, NEAR]).fetchall()
            ours = [(one.record.id, round(one.score, 9)) for one in hits]
            wrong += [text] if ours != [(id_, round(score, 9)) for id_, score in found] else []
    return wrong


def test_our_own_records_are_ranked_as_orbit_search_ranks_them(tmp_path: Path) -> None:
    """The same eight records in the same order with the same scores, for questions of every shape."""
    root = tmp_path / "own"
    shutil.copytree(ROOT / ".orbit", root / ".orbit", ignore=shutil.ignore_patterns("state"))
    shutil.copytree(ROOT / "docs/design", root / "docs/design")
    (root / "skills/lock").mkdir(parents=True)
    page = "---\nname: locks\ndescription: how locks are taken\n---\n# Locks\n"
    (root / "skills/lock/SKILL.md").write_text(page, "utf-8")
    registry = Registry.open(root)
    said = [one["query"] for one in json.loads((CASES / "search/ranking.json").read_text("utf-8"))["questions"]]
    said += [one.title for one in list(registry.records)[::4]]
    said += [
        "snapshot.duckdb", "ADR-0001", "is ADR-0001 it's own?", "which locks two processes take that write one file",
        "continue", "fix it", "'continue'", "the of", "", "'; DROP", "nowhereatall", "locks taken", "ＡＤＲ",
        "when a record is written by two processes at once which of them waits for the lock and how long",
    ]  # fmt: skip
    assert agreed(registry, said) == []


def test_real_records_are_ranked_as_orbit_search_ranks_them(corpora: Path, tmp_path: Path) -> None:
    """Subjects of commits and lines of code, asked of the records of another project."""
    root = Path(shutil.copytree(corpora / "orbit-2026-07", tmp_path / "repo"))
    (root / "dot_orbit").rename(root / ".orbit")
    import_from(root / ".orbit", start=root)
    files = sorted((corpora / "recall").glob("*.json"))
    said = [one["query"] for file in files for one in json.loads(file.read_text("utf-8"))]
    assert agreed(Registry.open(root), said[::6]) == []


def test_parts_of_long_texts_are_ranked_as_orbit_search_ranks_them(project: Any) -> None:
    """A resource is found by its best chunk, not by its whole text; other fields count, and those of state do not."""
    section = "# Part {n}\n\n" + "The ledger of part {n} is locked while it is written. " * 20 + "\n\n"
    text = "".join(section.replace("{n}", word) for word in ("one", "two", "three"))
    project.doc("aaaaa", title="Ledger", file="unversioned/ledger.md", content_hash=f"sha256:{'0' * 64}")
    project.write(".orbit/resources/RES-aaaaa/unversioned/ledger.md", text)
    project.learning("00001", summary="Lock it", body="Ledgers.", error_pattern="three locks", labels=["ledger"],
        scope={"tags": ["lock"], "symbols": ["src/a.py::WriteLedger"], "semantic_seed": "journal"},
        links=[{"rel": "related_to", "to": "L-00002"}])  # fmt: skip
    project.learning("00002", summary="Nothing of that", body="At all.")
    project.learning("00003", summary="Lock it", body="Ledgers.", priority=9)
    said = ["part three of the ledger", "ledger", "lock it", "is it locked?", "journal", "WriteLedger", "three", "doc"]
    assert agreed(Registry(project.workspace), said) == []
    assert {id_ for (id_,) in project.ask("SELECT id FROM search('part three')")} == {"RES-aaaaa", "L-00001"}
