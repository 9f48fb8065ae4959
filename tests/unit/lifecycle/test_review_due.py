"""Whether decisions and rules are due for a review: tests/cases/judgements/review_due.yaml."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.yaml import load
from orbit_registry.lifecycle.review_due import Change, Facts, review_due
from orbit_registry.model import review_in_document
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.review import NO_TERMS, conditions_of, meant_condition
from orbit_registry.repository.documents import Document

TABLE = Path(__file__).parents[2] / "cases/judgements/review_due.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
MEANT: list[dict[str, Any]] = load(TABLE.with_name("meant_condition.yaml").read_text("utf-8"))
KINDS = load_kinds()
LIVE = {"adr": "accepted", "rule": "approved", "learning": "active", "failure": "open"}
TITLE, TEXT = "# 1. Keep MySQL\n\n", "\n\n## Context\n\nIt is there.\n\n## Decision\n\nKeep it.\n"


def document_of(header: str) -> Document:
    """Return a document whose header, front matter or lines, is as people write it."""
    front, text = "", header
    if header.startswith("---"):
        front, text = f"{header}\n\n", ""

    return Document("docs/adr/0001-keep.md", f"{front}{TITLE}{text}{TEXT}")


def record_of(row: Mapping[str, Any]) -> Record:
    """Return the record of a row, with what its document says."""
    kind = row.get("kind", "adr")
    fields = {
        "id": f"{KINDS[kind].prefix}0001",
        "status": LIVE[kind],
        "created_at": "2026-01-10T00:00:00Z",
        "source": {"path": "docs/adr/0001-keep.md"},
        **row.get("record", {}),
    }
    terms = NO_TERMS
    if "text" in row:
        terms = document_of(row["text"]).review_terms(None)

    return Record(KINDS[kind], fields, f".orbit/{kind}s/x/{kind}.yaml", document_terms=terms)


def changes_of(commits: Iterable[tuple[str, str, list[str]]]) -> list[Change]:
    return [
        Change(f"c{number}", datetime.fromisoformat(day).replace(tzinfo=UTC), message, files)
        for number, (day, message, files) in enumerate(commits)
    ]


def facts_of(row: Mapping[str, Any], record: Record) -> Facts:
    """Return what the project of a row holds."""
    commits = row.get("commits", [])
    changes = None if commits is False else changes_of(commits)
    touched = {file for change in changes or () for file in change.files}
    known = frozenset((record.path, name) for name in row.get("known", ()))
    files = frozenset(row.get("files", touched))
    return Facts(changes, files, row.get("importers", {}), known)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_record_is_due_as_the_table_says(row: dict[str, Any]) -> None:
    record = record_of(row)
    today = date.fromisoformat(row.get("today", "2026-06-15"))
    due = review_due(record, today, facts_of(row, record))

    expected = None if row["due"] is False else row["due"]
    assert (due.since if due else None) == expected
    assert record.review_terms.unread == row.get("unread", "")
    assert due is None or row.get("because", "") in "; ".join(due.reasons)


@pytest.mark.parametrize("row", MEANT, ids=[str(row["condition"]) for row in MEANT])
def test_a_mistyped_mark_is_known(row: dict[str, Any]) -> None:
    assert meant_condition(row["condition"]) == row["meant"]

    conditions = conditions_of([row["condition"]])
    assert not row["meant"] or all(each.kind == "words" for each in conditions)


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 60
    assert sum(row["due"] is False for row in ROWS) >= 25


def test_a_log_is_searched_once_for_reviews_of_its_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = [f"## ADR-{number:04d}: Keep {number}\n\nKeep it.\n" for number in range(1, 6)]
    entries[3] = entries[3].replace("\n\n", "\n\n- **Review by**: 2030-01-02\n\n", 1)
    log = Document("docs/decisions.md", "# Decisions\n\n" + "\n".join(entries))
    searched: list[str] = []
    may_state_review = review_in_document.may_state_review

    def searching(text: str) -> bool:
        searched.append(text)
        return may_state_review(text)

    monkeypatch.setattr(review_in_document, "may_state_review", searching)
    terms = [log.review_terms(f"ADR-{number:04d}").by for number in range(1, 6)]
    assert terms == ["", "", "", "2030-01-02", ""]
    assert searched == [log.text]
