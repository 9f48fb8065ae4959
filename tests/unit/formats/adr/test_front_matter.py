"""Front matter is read as YAML and TOML mean it, with the place of each value."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.adr.front_matter import BROKEN
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import set_status
from orbit_registry.formats.yaml import load

CASES: Any = load((Path(__file__).parents[3] / "cases" / "front_matter.yaml").read_text("utf-8"))
BODY = "\n# Use one queue\n\n## Context\n\nWhy.\n\n## Decision\n\nThat.\n"


def text_of(case: dict[str, Any]) -> str:
    fence = "+++" if "toml" in case else "---"
    return f"{fence}\n{case.get('toml') or case['head']}{fence}\n{BODY}"


def read(text: str) -> AdrDocument:
    (entry,) = read_document(text, "docs/adr/0007-one-queue.md").entries
    return entry


@pytest.mark.parametrize("case", CASES, ids=text_of)
def test_a_head_says_what_its_syntax_means(case: dict[str, Any]) -> None:
    entry = read(text_of(case))
    assert {
        "status": entry.status,
        "raw": entry.status_raw,
        "date": entry.date,
        "deciders": list(entry.deciders),
        "title": entry.title,
        "related": list(entry.targets("related_to")),
        "problems": [f"{p.code} {p.position.line if p.position else 0}" for p in entry.problems],
    } == {
        "status": case.get("status", "accepted"),
        "raw": case.get("raw", case.get("status", "accepted")),
        "date": case.get("date"),
        "deciders": case.get("deciders", []),
        "title": case.get("title", "Use one queue"),
        "related": case.get("related", []),
        "problems": case.get("problems", []),
    }


@pytest.mark.parametrize("case", CASES, ids=text_of)
def test_a_status_that_is_written_is_read_again_and_changes_nothing_else(
    case: dict[str, Any],
) -> None:
    text = text_of(case)
    before = read(text)
    span = before.status_span
    assert span is not None

    after = set_status(text, before, "rejected")
    changed = read(after)
    assert changed.status == "rejected"
    assert after.startswith(text[: span.start])
    assert after.endswith(text[span.end :].lstrip())
    assert (changed.title, changed.date, changed.deciders) == (
        before.title,
        before.date,
        before.deciders,
    )


def test_a_head_of_aliases_that_means_millions_takes_no_time() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x]\n"
    letters = "abcdefgh"
    for before, name in pairwise(letters):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"

    start = time.process_time()
    entry = read(f"---\n{bomb}status: accepted\n---\n{BODY}")
    assert time.process_time() - start < 1
    assert entry.status == "accepted"


@pytest.mark.parametrize(
    ("head", "message", "status"),
    [
        ("---\n- status: accepted\n---", "is not YAML at line 2: it is a list", "unknown"),
        ('+++\nstatus = "accepted\n+++', "is not TOML at line 2: ", "unknown"),
        ("+++\nstatus = accepted\n+++", "is not TOML at line 2: ", "unknown"),
    ],
)
def test_a_head_that_gives_no_field_says_why(head: str, message: str, status: str) -> None:
    entry = read(f"{head}\n{BODY}")
    (problem,) = [each for each in entry.problems if each.code == BROKEN]
    assert problem.message.startswith("not read: front matter ")
    assert message in problem.message
    assert entry.status == status


def test_the_status_of_a_head_that_is_no_toml_is_quoted() -> None:
    entry = read(f'+++\ntitle = "T"\nstatus = "accepted\n+++\n{BODY}')
    assert (entry.status_raw, entry.status_syntax) == ("accepted", "front matter that is not TOML")
