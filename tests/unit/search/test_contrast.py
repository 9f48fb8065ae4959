"""What tells two texts apart that the measure of likeness takes for one: a negation, a number."""

import pytest

from orbit_registry.search.similarity import Contrast, Words
from orbit_registry.search.similarity import contrast as contrast_of_words


def contrast(first: str, second: str) -> Contrast | None:
    return contrast_of_words(Words.of(first), Words.of(second))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("Retry failed uploads", "Do not retry failed uploads", "only one of them says `not`"),
        ("Retry failed uploads", "Don't retry failed uploads", "only one of them says `not`"),
        ("Retries never help", "Retries help", "only one of them says `never`"),
        ("It is safe", "It isn’t safe", "only one of them says `not`"),
        ("Timeouts can be trusted", "Timeouts cannot be trusted", "only one of them says `not`"),
        ("Wait 30 seconds", "Wait 60 seconds", "one says `30`, the other `60`"),
        ("Wait 1.5 s", "Wait 1.6 s", "one says `1.5`, the other `1.6`"),
        ("Keep 3 copies", "Keep copies", "only one of them says `3`"),
        ("Ports 1, 2, 3, 4, 5, 6", "Ports", "only one of them says `1`, `2`, `3`, `4` and 2 more"),
        ("Use tabs, not spaces", "Use spaces, not tabs", "one says `not spaces`, the other `not tabs`"),
    ],
)
def test_a_single_negation_or_number_is_named(first: str, second: str, words: str) -> None:
    difference = contrast(first, f"{second.upper()}!")

    assert difference is not None
    assert (str(difference), difference.alone) == (words, True)
    other = contrast(second, first)
    assert other is not None
    assert other.alone


@pytest.mark.parametrize(
    ("first", "second", "alone"),
    [
        ("Do not retry failed uploads", "Retry every failed download", False),
        ("Wait 30 seconds for the lock", "Wait 60 seconds for the journal", False),
        ("Retry uploads", "Uploads: retry", None),
        ("Retry", "Wait", None),
        ("", "", None),
    ],
)
def test_other_differences_make_no_pure_contrast(first: str, second: str, alone: bool | None) -> None:
    difference = contrast(first, second)

    assert (difference.alone if difference is not None else None) == alone


def test_a_moved_negation_counts_in_short_texts() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]

    assert contrast(" ".join(["not", *words]), " ".join([*words[::-1], "not", "x"][:-1])) is None
