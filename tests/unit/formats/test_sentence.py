"""The sentence of a decision: what its text says was decided."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from orbit_registry.formats import yaml
from orbit_registry.formats.adr.sentence import LONGEST, SHORTEST, sentence_of
from orbit_registry.formats.common_markdown import common_markdown
from orbit_registry.formats.sentences import plain_text

CASES = Path(__file__).parents[2] / "cases" / "decision_sentences.yaml"


@pytest.mark.parametrize("case", yaml.load(CASES.read_text("utf-8")), ids=lambda case: case["text"])
def test_a_decision_is_said_in_one_sentence(case: dict[str, str]) -> None:
    assert sentence_of(case["text"]) == case["says"]


def test_a_long_sentence_ends_with_a_whole_word() -> None:
    sentence = sentence_of("## Decision\n\nWe will " + "carefully " * 60)
    assert sentence.endswith("carefully …")
    assert SHORTEST <= len(sentence) <= LONGEST


@pytest.mark.parametrize("mark", ["[", "*a", "`", "<a ", "[[", "![", "("])
def test_marks_without_an_end_cost_no_more_than_others(mark: str) -> None:
    started = time.process_time()
    sentence_of("## Decision\n\n" + mark * 20_000)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See [[one]] and [[two#part|words]]", "See one and words"),
        ("See [[one#part]]", "See one § part"),
        ("See [[1]](https://example.org)", "See [1]"),
        ("Take a[[0]]", "Take a[[0]]"),
    ],
)
def test_a_link_by_a_name_is_its_words(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.timeout(5)
@pytest.mark.parametrize("mark", ["`", "``", "` ", "`` ", "`a``"])
def test_many_backticks_cost_little(mark: str) -> None:
    for _ in range(10):
        plain_text(mark * 1000)
        common_markdown("<" + mark * 1000)


@pytest.mark.timeout(5)
@pytest.mark.parametrize("mark", ["#", " ", " #"])
def test_a_long_heading_costs_little(mark: str) -> None:
    from orbit_registry.lifecycle.names import deciding_part

    text = f"# Decision{mark * 50_000}z\n\nWe will use one queue for all mail.\n"

    assert sentence_of(text) == ""
    assert deciding_part(text).strip() == "We will use one queue for all mail."
