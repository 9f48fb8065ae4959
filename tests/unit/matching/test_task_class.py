"""Classes of tasks by their words."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.yaml import load
from orbit_registry.matching.task_class import CLASSES, LONGEST, SURE, classify

CASES = Path(__file__).parents[2] / "cases/task_class"


def cases(name: str) -> list[tuple[str, str]]:
    data = load((CASES / f"{name}.yaml").read_text("utf-8"))
    assert isinstance(data, dict)
    return [(str(prompt), expected) for expected, prompts in data.items() for prompt in prompts]


def rates(name: str) -> tuple[float, float, float]:
    """Return the share that is right, the share of other work taken for code,
    and of code seen as code.
    """
    result = [(expected, classify(prompt)) for prompt, expected in cases(name)]
    others = [entry for expected, entry in result if expected != "code-gen"]
    code = [entry for expected, entry in result if expected == "code-gen"]
    return (
        sum(expected == entry.name for expected, entry in result) / len(result),
        sum(entry.writes_code for entry in others) / len(others),
        sum(entry.writes_code for entry in code) / len(code),
    )


@pytest.mark.parametrize(
    ("name", "least_right", "most_false_code", "least_code"),
    [("seen", 0.97, 0, 0.95), ("unseen", 0.8, 0.02, 0.7)],
)
def test_most_prompts_get_their_class(
    name: str, least_right: float, most_false_code: float, least_code: float
) -> None:
    right, false_code, code = rates(name)
    assert (right >= least_right, false_code <= most_false_code, code >= least_code) == (
        True,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Fix the parser", "code-gen"),
        ("Don't fix the parser", "other"),
        ("Find the bug in the parser", "exploration"),
        ("Find the bug in the parser and fix it", "code-gen"),
        ("How do I fix a parser?", "qa"),
        ("Can you fix the parser?", "code-gen"),
        ("Explain the parser, without changing the code", "exploration"),
        ("Fix the typo in the README", "other"),
        ("```python\nfix(parser)\n```\nWhat does this mean?", "qa"),
        ("> Fix the parser\nthanks", "other"),
    ],
)
def test_one_word_decides(prompt: str, expected: str) -> None:
    assert classify(prompt).name == expected


@pytest.mark.parametrize(
    "prompt",
    ["", "   ", "…", "ui", "pursuing", "Füge einen Test hinzu", "テストを追加して", "the parser"],
)
def test_an_unknown_text_is_unsure(prompt: str) -> None:
    result = classify(prompt)
    assert (result.sure, result.writes_code) == (False, False)
    assert result.reasons


def test_reasons_name_class_weight_and_words() -> None:
    result = classify("Fix the parser. Don't touch the tests.")
    assert any(reason.startswith("code-gen +3: asks to `fix`") for reason in result.reasons)
    assert any("`don't touch`" in reason for reason in result.reasons)
    assert not result.writes_code
    assert set(result.as_data()) == {"class", "confidence", "sure", "reasons", "by", "fault"}


@given(st.text(max_size=300))
def test_any_text_has_a_class(text: str) -> None:
    result = classify(text)
    assert result == classify(text)
    assert result.name in CLASSES
    assert 0 <= result.confidence < 1
    assert result.sure is (result.confidence >= SURE)


@pytest.mark.parametrize(
    "text",
    [
        "a.",
        "a/",
        "fix, ",
        "```",
        "a_",
        "please ",
        "the the ",
        " ",
        ">",
        "aB",
        "a",
        "(",
        "- ",
        ":",
        "fix it. ",
        "\n",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    classify(text * LONGEST)
    assert time.process_time() - started < 5
