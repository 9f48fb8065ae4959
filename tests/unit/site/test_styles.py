"""The look is readable by everyone: contrast of every status in both schemes,
and no colour without a word.
"""

import re

import pytest

from orbit_registry.site.config import overrides

CSS = (overrides() / "assets/orbit/orbit.css").read_text("utf-8")
STATES = ("live", "pending", "closed", "rejected", "deprecated")


def tokens(selector: str) -> dict[str, str]:
    names = re.findall(re.escape(selector) + r" \{(.*?)\}", CSS, re.DOTALL)
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", "".join(names)))


LIGHT = tokens(":root")
DARK = {**LIGHT, **tokens('[data-md-color-scheme="slate"]')}


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


WORDS = {
    **{f"orbit-{state}": (f"orbit-{state}-soft", "orbit-page", "orbit-soft") for state in STATES},
    **dict.fromkeys(("orbit-muted", "orbit-link", "orbit-accent"), ("orbit-page", "orbit-soft")),
    "orbit-text": ("orbit-page", "orbit-soft"),
}
"""By the colour of words: the colours behind them."""


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read(scheme: dict[str, str]) -> None:
    pairs = [(words, ground) for words, grounds in WORDS.items() for ground in grounds]
    assert [pair for pair in pairs if contrast(scheme[pair[0]], scheme[pair[1]]) < 4.5] == []


def test_both_schemes_set_the_same_colours() -> None:
    assert set(tokens('[data-md-color-scheme="slate"]')) == set(LIGHT)


def test_nothing_is_fetched_from_elsewhere() -> None:
    for file in (path for path in overrides().rglob("*") if path.is_file()):
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, file


def test_a_date_of_the_start_page_stays_in_one_line() -> None:
    assert ".orbit-decided time, td time { white-space: nowrap; }" in CSS
