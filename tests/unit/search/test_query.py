"""What is asked of a search: tags in context, generic texts, and how deep to look."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.search.query import Query, context_factor, context_weights, shape
from orbit_registry.search.search import Score


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("a,b=1.5,c=1.3", {"a": 1.4, "b": 1.5, "c": 1.3}), ("a", {"a": 1.5}), ("a , b", {"a": 1.5, "b": 1.5}),
        ("", {}), (" , ", {}), ("a=0", {"a": 0.0}), ("a=2,a", {"a": 2.0}),
    ],
)  # fmt: skip
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
def test_a_score_never_leaves_its_range(text: float, version: float, weights: dict[str, float]) -> None:
    total = Score(text, version, context_factor("abc", weights)).total
    assert 0 <= total <= 1
    assert not math.isnan(total)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("AuthHandler", "lean"), ("#6928", "lean"), ("src/app.py", "lean"), ("ADR-0006", "lean"),
        ("journal", "balanced"), ("retry uploads", "balanced"),
        ("why do we retry uploads?", "deep"), ("word " * 20, "deep"),
    ],
)  # fmt: skip
def test_the_shape_of_a_text_sets_the_budget(text: str, budget: str) -> None:
    assert shape(text) == budget
    assert Query(text, budget="deep").depth.name == "deep"


def test_an_unknown_budget_is_refused() -> None:
    with pytest.raises(UsageError, match="no budget") as refused:
        Query("x", budget="huge").depth  # noqa: B018
    assert "lean" in refused.value.hint
