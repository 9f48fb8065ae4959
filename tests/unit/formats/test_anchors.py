"""The anchors of headings are those that forges give."""

from __future__ import annotations

import pytest

from orbit_registry.formats.markdown import parse_markdown


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("ADR-0108 — Keep one log", "adr-0108--keep-one-log"),
        ("ADR-0108: Use C++ (not C#)", "adr-0108-use-c-not-c"),
        ("ADR-0108 — `orbit check` is *the* gate", "adr-0108--orbit-check-is-the-gate"),
        ("ADR-0108 — Über_Größe & Co.", "adr-0108--über_größe--co"),
        ("ADR-0108 — Keep it {#the-log}", "the-log"),
    ],
)
def test_an_anchor_is_the_heading_in_lower_case_without_signs(heading: str, anchor: str) -> None:
    """Every sign goes, every space becomes one hyphen, and an explicit id is taken as it stands."""
    text = f"# Decisions\n\n## {heading}\n\nText.\n"
    assert parse_markdown(text).anchors.get(text.index("##")) == anchor


def test_headings_with_the_same_words_are_numbered() -> None:
    """The second one gets `-1`, and where no heading begins there is no anchor."""
    text = "# D\n\n## Same\n\nA.\n\n## Same\n\nB.\n"
    assert parse_markdown(text).anchors.get(text.index("## Same")) == "same"
    assert parse_markdown(text).anchors.get(text.rindex("## Same")) == "same-1"
    assert parse_markdown(text).anchors.get(1) is None
