"""Ranking by words: rare terms, titles and tags weigh more;
what a term weighs in a text is what searches add.
"""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.search.index import Index
from orbit_registry.search.query import Query, context_factor, context_weights, shape
from orbit_registry.search.search import Score
from orbit_registry.search.text import terms
from orbit_registry.search.texts import words_in

Fields = tuple[str, str, str]


def index(**texts: Fields) -> Index:
    return Index({(key, 0): words_in(fields) for key, fields in texts.items()})


def hits(texts: Index, query: str, most: int | None = None) -> list[tuple[str, float]]:
    return [(texts.keys[slot][0], score) for slot, score in texts.search(terms(query), most)]


def keys(texts: Index, query: str, pool: int = 0) -> list[str]:
    """Return the keys of the hits, of which `pool` are ranked twice, the best first."""
    return [texts.keys[slot][0] for slot, _ in texts.ranked(terms(query), pool, 100)]


def test_titles_and_tags_outweigh_the_body() -> None:
    texts = index(body=("x", "y", "cache"), title=("cache", "y", "z"), tags=("x", "cache", "z"))

    assert keys(texts, "cache") == ["tags", "title", "body"]


def test_words_in_a_row_count_at_the_start_of_a_text() -> None:
    text = words_in(("Open doors", "door", f"shut the window {'cache ' * 700} open the door"))

    assert text.heads == " open  door \n door "
    assert text.body.startswith(" shut  window  cach  cach ")
    assert "open" not in text.body


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("http headers", "Call parseHTTPHeader once"),
        ("sqlite", "Rows go to SQLite"),
        ("grpc", "Calls use gRPC"),
        ("parse_http", "Call parseHTTPHeader once"),
        ("AuthHandler", "the auth handler"),
        ("auth handler", "class AuthHandler"),
        ("#6928", "see issue 6928"),
        ("设计模式", "软件设计"),
        ("データベース", "データの保存"),
    ],
)
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
    counts = words_in(("", "", f"rotate ghp_{'a1B2' * 9} monthly")).counts

    assert {"rotat", "month"} <= counts.keys()
    assert not any("a1b2" in word for word in counts)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("a,b=1.5,c=1.3", {"a": 1.4, "b": 1.5, "c": 1.3}),
        ("a", {"a": 1.5}),
        ("a , b", {"a": 1.5, "b": 1.5}),
        ("", {}),
        (" , ", {}),
        ("a=0", {"a": 0.0}),
        ("a=2,a", {"a": 2.0}),
    ],
)
def test_a_tag_without_a_weight_gets_the_average(text: str, weights: dict[str, float]) -> None:
    assert context_weights(text) == pytest.approx(weights)


@pytest.mark.parametrize("text", ["a=", "a=x", "a=-1", "a=inf", "a=nan", "=1.5", "a,b=1,5x=y"])
def test_an_invalid_weight_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a tag with a weight"):
        context_weights(text)


def test_each_matching_tag_adds_a_tenth_of_its_weight() -> None:
    weights = {"a": 1.4, "b": 1.5, "c": 1.3}
    assert context_factor(["a"], weights) == pytest.approx(1.14)
    assert context_factor(["a", "b", "a", "z"], weights) == pytest.approx(1.29)
    assert context_factor([], weights) == 1


@given(
    st.floats(0, 1),
    st.sampled_from([1.0, 0.95, 0.85, 0.75, 0.70]),
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 1e6)),
)
def test_a_score_never_leaves_its_range(
    text: float, version: float, weights: dict[str, float]
) -> None:
    total = Score(text, version, context_factor("abc", weights)).total
    assert 0 <= total <= 1
    assert not math.isnan(total)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("AuthHandler", "lean"),
        ("#6928", "lean"),
        ("src/app.py", "lean"),
        ("ADR-0006", "lean"),
        ("journal", "balanced"),
        ("retry uploads", "balanced"),
        ("why do we retry uploads?", "deep"),
        ("word " * 20, "deep"),
    ],
)
def test_the_shape_of_a_text_sets_the_budget(text: str, budget: str) -> None:
    assert shape(text) == budget
    assert Query(text, budget="deep").depth.name == "deep"


def test_an_unknown_budget_is_refused() -> None:
    with pytest.raises(UsageError, match="no budget") as refused:
        Query("x", budget="huge").depth  # noqa: B018
    assert "lean" in refused.value.hint


CASES = json.loads((Path(__file__).parents[2] / "cases/search/ranking.json").read_text("utf-8"))
MRR, RECALL = 0.9078, 0.9795
"""Mean reciprocal rank, and the part of the answers among the first five, over all questions."""


@pytest.fixture(scope="module")
def small_index() -> Index:
    return Index({(key, 0): words_in(tuple(fields)) for key, fields in CASES["texts"].items()})


def measured(small_index: Index, pool: int) -> tuple[float, float]:
    """Return mean reciprocal rank and recall among five,
    of the ranking that looks at so many texts twice.
    """
    ranks, recalls = [], []
    for question in CASES["questions"]:
        keys = [
            small_index.keys[slot][0]
            for slot, _ in small_index.ranked(terms(question["query"]), pool, 20)
        ]
        positions = [keys.index(key) + 1 for key in question["relevant"] if key in keys]
        ranks.append(1 / min(positions) if positions else 0.0)
        recalls.append(sum(rank <= 5 for rank in positions) / len(question["relevant"]))
    return sum(ranks) / len(ranks), sum(recalls) / len(recalls)


def test_the_ranking_is_no_worse_than_it_was(small_index: Index) -> None:
    rank, recall = measured(small_index, 100)

    assert rank >= MRR, f"MRR {rank:.4f} was {MRR}"
    assert recall >= RECALL, f"recall {recall:.4f} was {RECALL}"


def test_the_second_ranking_is_worth_its_cost(small_index: Index) -> None:
    assert measured(small_index, 0) < measured(small_index, 100)
