"""Ranking by words: rare terms, titles and tags weigh more; what a term weighs in a text is what searches add."""

import pytest

from orbit_registry.search.index import Index, counts_of
from orbit_registry.search.text import terms

Fields = tuple[str, str, str]


def index(**texts: Fields) -> Index:
    return Index({(key, 0): counts_of(fields) for key, fields in texts.items()})


def hits(texts: Index, query: str, most: int | None = None) -> list[tuple[str, float]]:
    return [(texts.keys[slot][0], score) for slot, score in texts.search(terms(query), most)]


def keys(texts: Index, query: str, pool: int = 0) -> list[str]:
    """Return the keys of the hits, of which `pool` are ranked twice, the best first."""
    return [texts.keys[slot][0] for slot, _ in texts.ranked(terms(query), pool, 100)]


def test_titles_outweigh_tags_and_tags_the_body() -> None:
    texts = index(body=("x", "y", "cache"), title=("cache", "y", "z"), tags=("x", "cache", "z"))

    assert keys(texts, "cache") == ["title", "tags", "body"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("http headers", "Call parseHTTPHeader once"), ("sqlite", "Rows go to SQLite"), ("grpc", "Calls use gRPC"),
        ("parse_http", "Call parseHTTPHeader once"),
        ("AuthHandler", "the auth handler"), ("auth handler", "class AuthHandler"), ("#6928", "see issue 6928"),
        ("设计模式", "软件设计"), ("データベース", "データの保存"),
    ],
)  # fmt: skip
def test_identifiers_and_unspaced_words_are_split(query: str, text: str) -> None:
    assert keys(index(a=(text, "", ""), b=("Other", "", "")), query) == ["a"]


def test_scores_are_parts_of_the_best_possible() -> None:
    texts = index(a=("lock " * 500, "", ""), b=("file", "", ""))

    ((_, best),) = hits(texts, "lock")
    ((_, part),) = hits(texts, "lock nowhere")
    ((_, less),) = hits(texts, "lock nowhere elsewhere")
    assert 0.9 < best <= 1
    assert 0 < less < part < best


def test_character_grams_prefer_the_nearer_word() -> None:
    texts = index(a=("lock", "", "garden"), b=("lock", "", "ledger"))

    assert keys(texts, "lock the ledgerbook") == ["a", "b"]
    assert keys(texts, "lock the ledgerbook", 10) == ["b", "a"]


def test_a_secret_is_no_word() -> None:
    counts = counts_of(("", "", f"rotate ghp_{'a1B2' * 9} monthly"))

    assert {"rotate", "monthly"} <= counts.keys()
    assert not any("a1b2" in word for word in counts)
