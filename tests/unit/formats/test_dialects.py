"""Markdown of other generators becomes what their readers see, and never literal marks."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from orbit_registry.formats import yaml
from orbit_registry.formats.common_markdown import common_markdown
from orbit_registry.formats.markdown_html import render_html

CASES = Path(__file__).parents[2] / "cases" / "dialects.yaml"


def _fence(code: str, _: str) -> str:
    return f"[{code}]"


@pytest.mark.parametrize("case", yaml.load(CASES.read_text("utf-8")), ids=lambda case: case["text"])
def test_a_dialect_is_rendered(case: dict[str, str]) -> None:
    assert render_html(case["text"], _fence)[0] == case["html"]


def test_lines_keep_their_numbers() -> None:
    text = 'one\n<Badge a="b" />\nimport X from "y"\n=== "Tab"\n    last\n'
    assert len(common_markdown(text).split("\n")) == len(text.split("\n"))


MARKS = (
    *("<A ", "<A a=", "<A/>", "`<A", ":::a\n", "!!! a\n", '=== "', "[[a", "{% a", "{{< a", "{: a"),
    *("> [!a", "```{note}\n", ":::{a", '<A a="b">', "](){.a", "*[a", "export const a"),
)
"""Beginnings that never end."""


@pytest.mark.parametrize("mark", MARKS)
def test_marks_without_an_end_cost_no_more_than_others(mark: str) -> None:
    started = time.process_time()
    common_markdown(mark * 5_000)
    common_markdown("\n".join([mark * (4_000 // len(mark))] * 5))
    assert time.process_time() - started < 1


@pytest.mark.parametrize("text", [":::a\n" * 5_000, "::::a\n:::\n" * 3_000, ":::\n" * 5_000])
def test_containers_without_an_end_cost_no_more_than_others(text: str) -> None:
    started = time.process_time()
    render_html(text, _fence)
    assert time.process_time() - started < 2
