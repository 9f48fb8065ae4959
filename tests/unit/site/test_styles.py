"""The look is readable by everyone: contrast of every status in both schemes, and no colour without a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orbit_registry.site.config import overrides

CSS = (overrides() / "assets/orbit/orbit.css").read_text("utf-8")
STATES = ("live", "pending", "closed", "rejected", "deprecated")


def tokens(selector: str) -> dict[str, str]:
    """Return the colours that a block of the style sheet sets."""
    names = re.findall(re.escape(selector) + r" \{(.*?)\}", CSS, re.DOTALL)
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", "".join(names)))


LIGHT = tokens(":root")
DARK = {**LIGHT, **tokens('[data-md-color-scheme="slate"]')}


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_status_can_be_read(scheme: dict[str, str], state: str) -> None:
    """The word of a status has a contrast of 4.5 or more with its chip, with the page and with what is set off."""
    for ground in (f"orbit-{state}-soft", "orbit-page", "orbit-soft"):
        assert contrast(scheme[f"orbit-{state}"], scheme[ground]) >= 4.5


@pytest.mark.parametrize("name", ["orbit-text", "orbit-muted", "orbit-link", "orbit-accent"])
@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_links_can_be_read(scheme: dict[str, str], name: str) -> None:
    """Text, quiet text and links have a contrast of 4.5 or more with the page and with what is set off."""
    assert contrast(scheme[name], scheme["orbit-page"]) >= 4.5
    assert contrast(scheme[name], scheme["orbit-soft"]) >= 4.5


@pytest.mark.parametrize("step", range(6))
@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_words_of_the_treemap_can_be_read(scheme: dict[str, str], step: int) -> None:
    """A folder's name has a contrast of 4.5 or more with its field, however full that is."""
    assert contrast(scheme["orbit-text"], scheme[f"orbit-share-{step}"]) >= 4.5


def test_both_schemes_set_the_same_colours() -> None:
    """No colour of ours is forgotten in one of the schemes."""
    assert set(tokens('[data-md-color-scheme="slate"]')) == set(LIGHT)


def test_every_status_has_an_icon() -> None:
    """A chip's icon is a drawing of our own for each phase, and for a status with a hue of its own."""
    ruled = re.findall(r"^((?:\.orbit-[a-z-]+(?:, )?)+) \{[^}]*--orbit-hue[^}]*\}", CSS, re.MULTILINE)
    assert len(ruled) >= 5
    for block in re.findall(r"\{([^}]*--orbit-hue:[^}]*)\}", CSS):
        icon = re.search(r"--orbit-icon: var\((--orbit-[a-z]+)\)", block)
        assert icon
        assert f"{icon[1]}: url(" in CSS


def test_nothing_is_fetched_from_elsewhere() -> None:
    """No asset of ours names another host, but for the names of XML."""
    for file in (path for path in overrides().rglob("*") if path.is_file()):
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, file


def test_templates_use_what_every_generator_knows() -> None:
    """Our templates keep to blocks, includes, conditions, loops and the theme's own filters."""
    allowed = {"first", "url", "e", "replace", "striptags"}
    for file in Path(overrides()).rglob("*.html"):
        text = re.sub(r"\{#.*?#\}", "", file.read_text("utf-8"), flags=re.DOTALL)
        words = set(re.findall(r"\{%-?\s*(\w+)", text))
        assert words <= {
            "extends",
            "block",
            "endblock",
            "if",
            "elif",
            "else",
            "endif",
            "for",
            "endfor",
            "set",
            "include",
        }
        assert set(re.findall(r"\|\s*(\w+)", text)) <= allowed
