"""Every case in `tests/cases/adr_documents` is read as its `.json` says;
a new case is a new pair of files.
"""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document

CASES = Path(__file__).parents[3] / "cases" / "adr_documents"


def summary(text: str, path: str) -> dict[str, Any]:
    """Return what was read, without what is empty, as the cases' JSON has it."""
    file = read_document(text, path)
    values = {
        "path": path,
        "format": file.format,
        "skipped": file.skipped_reason,
        "entries": [_entry(text, entry) for entry in file.entries],
        "problems": [f"{p.code} {p.position.line if p.position else 0}" for p in file.problems],
    }
    return {key: value for key, value in values.items() if value}


def _entry(text: str, entry: AdrDocument) -> dict[str, Any]:
    values = asdict(entry)
    summary = {
        key: values[key]
        for key in (
            "title",
            "number",
            "status",
            "status_raw",
            "date",
            "date_raw",
            "date_source",
            "format",
            "anchor",
        )
    }
    summary |= {
        key: list(values[key]) for key in ("deciders", "tasks", "legacy_ids", "tags", "paths")
    }
    summary["line"] = entry.position.line
    summary["cost_line"] = entry.cost_position.line if entry.cost_position else None
    summary["relations"] = [
        f"{r.rel} {r.target_raw} {r.position.line}{' weak' if r.weak else ''}"
        for r in entry.relations
    ]
    summary["sections"] = [f"{section.key} {section.position.line}" for section in entry.sections]
    summary["problems"] = [problem.code for problem in entry.problems]
    summary["written"] = {
        "title": [span.of(text) for span in entry.title_spans],
        "number": [span.of(text) for span in entry.number_spans],
        "status": entry.status_span.of(text) if entry.status_span else None,
        "date": entry.date_span.of(text) if entry.date_span else None,
        "superseding": [span.of(text).strip() for span in entry.superseding_spans],
    }
    summary["written"] = {key: value for key, value in summary["written"].items() if value}
    return {key: value for key, value in summary.items() if value}


@pytest.mark.parametrize("case", sorted(path.stem for path in CASES.glob("*.json")))
def test_a_document_is_read_as_its_case_says(case: str) -> None:
    expected = json.loads((CASES / f"{case}.json").read_text(encoding="utf-8"))
    text = (CASES / f"{case}.md").read_bytes().decode("utf-8")

    assert summary(text, expected["path"]) == expected


@pytest.mark.parametrize(
    "header",
    [
        "## Status: a{}b",
        "## Status ({}",
        "## Status\n\n- 2026-05-01 Accepted{}b",
        "Status: Accepted{}b",
        "Status: Accepted{}| Date: 2026-05-01",
    ],
)
@pytest.mark.parametrize("filler", [" ", " \t", "("])
def test_a_long_line_takes_no_longer_than_its_length(header: str, filler: str) -> None:
    """A hundred thousand blanks are read at once;
    looked at from each of them, they would take minutes.
    """
    text = (
        f"# 1. Title\n\n{header.format(filler * 100_000)}\n\n## Context\n\nA.\n\n## "
        f"Decision\n\nB.\n"
    )

    (entry,) = read_document(text, "docs/adr/0001-title.md").entries
    assert entry.title == "Title"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r"\ud83d\ude00 Use X", "\U0001f600 Use X"),
        (r"Use \ud83d X", r"Use \ud83d X"),
        (r"Use\u000aX\u0000\u001b[31m", r"Use\u000aX\u0000\u001b[31m"),
    ],
)
def test_an_escape_in_a_title_is_a_character_that_can_be_shown(written: str, title: str) -> None:
    text = f'---\ntitle: "{written}"\nstatus: accepted\n---\n\n## Decision\n\nThat.\n'
    (entry,) = read_document(text, "docs/adr/0001-x.md").entries
    assert entry.title == title


@pytest.mark.parametrize("name", ["a,", "(a,", "(a, b),"])
def test_a_long_list_of_names_takes_linear_time(name: str) -> None:
    text = (
        f"---\nstatus: accepted\ndeciders: {name * (200_000 // len(name))}\n---\n\n# T\n\n## "
        f"Decision\n\nThat.\n"
    )
    start = time.process_time()
    (entry,) = read_document(text, "docs/adr/0001-x.md").entries
    assert time.process_time() - start < 1
    assert entry.deciders == (name.rstrip(","),)
