"""What tells two texts apart that the measure of likeness takes for one: a negation, a number."""

from __future__ import annotations

import pytest

from orbit_registry.search.contrast import Contrast, Words
from orbit_registry.search.contrast import contrast as contrast_of_words
from orbit_registry.search.text import terms


def contrast(first: str, second: str) -> Contrast | None:
    """Return in which negations and numbers two texts differ."""
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
def test_a_negation_or_a_number_alone_is_said(first: str, second: str, words: str) -> None:
    """Nothing else differs, whichever of the two comes first; case and punctuation do not count."""
    found = contrast(first, f"{second.upper()}!")

    assert found is not None
    assert (str(found), found.alone) == (words, True)
    other = contrast(second, first)
    assert other is not None
    assert other.alone


def test_shortened_negations_hide_from_the_terms() -> None:
    """Why this is needed: `don't` leaves no term, so the two have the same ones."""
    assert terms("Don't retry") == terms("Retry")


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
def test_what_differs_otherwise_too_is_no_contrast_alone(first: str, second: str, alone: bool | None) -> None:
    """Other words beside it make it another text; without a negation or a number there is none."""
    found = contrast(first, second)

    assert (found.alone if found is not None else None) == alone


def test_a_negation_that_moved_in_a_long_text_is_not_told() -> None:
    """Sentences in another order put other words beside it; only of a short text it is said."""
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]

    assert contrast(" ".join(["not", *words]), " ".join([*words[::-1], "not", "x"][:-1])) is None
