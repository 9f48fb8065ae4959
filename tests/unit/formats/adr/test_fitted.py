"""Prose given by somebody fits below a decision's heading, or is refused with the line that hinders it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import RefusedError
from orbit_registry.formats.adr.writer import begins_block, nest_headings
from orbit_registry.formats.markdown import parse_markdown

CASES = Path(__file__).parents[3] / "cases" / "given_prose"


def cases(name: str) -> list[Any]:
    """Return the cases of a file, each under its own name."""
    return [pytest.param(case, id=case["name"]) for case in json.loads((CASES / f"{name}.json").read_text("utf-8"))]


@pytest.mark.parametrize("case", cases("fitted"))
def test_headings_stand_below_the_decisions_own(case: dict[str, Any]) -> None:
    """Every heading is lowered by as much as the highest one needs; code, quotes and lists stay as they are."""
    assert nest_headings(case["text"], case["level"]) == case["becomes"]


@pytest.mark.parametrize("case", cases("fitted"))
def test_fitting_again_changes_nothing(case: dict[str, Any]) -> None:
    """What stands below the heading is left alone."""
    once = nest_headings(case["text"], case["level"])

    assert nest_headings(once, case["level"]) == once
    assert all(heading.level > case["level"] for heading in parse_markdown(f"\n{once}").headings)


@pytest.mark.parametrize("case", cases("refused"))
def test_what_would_swallow_its_surroundings_is_refused(case: dict[str, Any]) -> None:
    """The message says which line it is and what is wrong with it."""
    with pytest.raises(RefusedError) as raised:
        nest_headings(case["text"], 2)

    assert case["refused"] in raised.value.message


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("words", False), ("two\nlines", False), ("C# is a word", False), ("-1 degree", False), ("a *b*", False),
        ("# heading", True), ("Heading\n===", True), ("- list", True), ("1. list", True), ("```\ncode\n```", True),
        ("    code", True), ("> quote", True), ("a | b\n--|--\n1 | 2", True), ("<!-- x -->", True),
    ],
)  # fmt: skip
def test_blocks_are_told_from_words(text: str, block: bool) -> None:
    """Words may follow on a line; a list, a heading, a table or code may not."""
    assert begins_block(text) is block
