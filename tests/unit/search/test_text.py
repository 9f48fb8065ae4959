"""Terms and stems: the cases of tests/cases/terms.yaml and stems.yaml,
and what holds for every text.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.yaml import load
from orbit_registry.hook import words as hook
from orbit_registry.search.text import stem, terms, words

DATA = Path(__file__).resolve().parents[2] / "cases"
CASES: Any = load((DATA / "terms.yaml").read_text("utf-8"))
STEMS: Any = load((DATA / "stems.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_case(text: str, expected: list[str]) -> None:
    assert terms(text) == expected
    assert terms(text) == expected


@pytest.mark.parametrize(("word", "expected"), STEMS)
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(st.text(max_size=200))
def test_terms_of_any_text_are_short_and_lower_case(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= 64
        assert term == term.lower()


@given(st.text(alphabet="aBc1_日本 .é", max_size=60), st.text(alphabet="aBc1_日本 .é", max_size=60))
def test_terms_of_two_texts_follow_each_other(first: str, second: str) -> None:
    assert terms(f"{first} {second}") == terms(first) + terms(second)


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_the_hook_splits_a_case_alike(text: str) -> None:
    assert hook.words(text) == words(text)


@given(
    st.text(max_size=60)
    | st.text(alphabet="aBsS_1 -.é日本한\u0301\u0e31ſß\ud800²\U00020000", max_size=60)
)
def test_the_hook_splits_any_text_alike(text: str) -> None:
    assert hook.words(text) == words(text)
