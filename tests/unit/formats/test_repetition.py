"""Regular expressions that a text can keep busy for ever, told from those that it can't."""

from __future__ import annotations

import pytest

from orbit_registry.formats.repetition import find_slow_repetition


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a+)+b", "(a+)+"),
        ("x(a*)*", "(a*)*"),
        (r"(?:\w+\s?)*$", r"(?:\w+\s?)*"),
        ("((a+)b?){2,}", "((a+)b?){2,}"),
        ("(a+){30}", "(a+){30}"),
        ("(?P<name>a{3,})+", "(?P<name>a{3,})+"),
        ("(a|ab)+c", "(a|ab)+"),
        (r"(.|\s)*x", r"(.|\s)*"),
        ("(?=(a+)+b)", "(a+)+"),
        ("(a*-a*)+$", "(a*-a*)+"),
        (r"(\S+-)+x", r"(\S+-)+"),
        ("(a+-?)+x", "(a+-?)+"),
        ("(-a*b*a*)+$", "(-a*b*a*)+"),
        ("((a+)-)+x", "((a+)-)+"),
    ],
)
def test_a_repeated_repetition_is_found(pattern: str, part: str) -> None:
    """So is a repeated choice between ways that begin alike; the part is named as it is written."""
    assert find_slow_repetition(pattern) == part


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i)project\s+falcon", "customers/[a-z]+", r"(\d{1,3}\.){3}\d{1,3}", "(?:foo|bar)+", "(?>a+)+b", "(a++)+b",
        r"([a-z0-9-]+\.)+example\.com", r"(?:[A-Z]+-)+\d+", r"(/\w+)+", r"(?:\w+: )+x",
        r"\(a+\)+", "[(a+)]+", "(a+){2}", "a{2,}b+", "(", "a)+", "[]+)*]+", "",
    ],
)  # fmt: skip
def test_unambiguous_repetitions_are_accepted(pattern: str) -> None:
    """Repetitions side by side, those in brackets or escaped, and those that are never tried again."""
    assert find_slow_repetition(pattern) is None
