"""Real ADR collections are read as their files say;
the figures were counted from the files by hand and grep.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.conftest import CORPORA, NO_CORPORA

from orbit_registry.formats.adr.model import AdrFile
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import set_status

COLLECTIONS = CORPORA / "adr"
LOGS = CORPORA / "orbit-2026-07" / "docs" / "design"

pytestmark = pytest.mark.skipif(not COLLECTIONS.is_dir() or not LOGS.is_dir(), reason=NO_CORPORA)

# collection: Markdown documents, decisions, skipped, then decisions by status
COUNTS: dict[str, tuple[int, int, dict[str, int]]] = {
    "JabRef__jabref": (72, 2, {"unknown": 64, "accepted": 5, "superseded": 1}),
    "adr__madr": (27, 8, {"unknown": 18, "proposed": 1}),
    "alphagov__govuk-infrastructure": (25, 1, {"accepted": 23, "deprecated": 1}),
    "arachne-framework__architecture": (17, 0, {"proposed": 16, "accepted": 1}),
    "cometbft__cometbft": (
        128,
        33,
        {"accepted": 59, "proposed": 22, "unknown": 9, "rejected": 4, "deprecated": 1},
    ),
    "curie-eng__curie": (115, 2, {"accepted": 98, "proposed": 13, "superseded": 2}),
    "joshrotenberg__adrs": (17, 1, {"accepted": 10, "proposed": 5, "superseded": 1}),
    "kamp-us__phoenix": (
        320,
        0,
        {"accepted": 266, "superseded": 41, "proposed": 9, "deprecated": 2, "unknown": 2},
    ),
    "mbeacom__adrkit": (32, 1, {"accepted": 27, "proposed": 2, "superseded": 2}),
    "microsoft__agent-framework": (42, 3, {"accepted": 23, "proposed": 15, "superseded": 1}),
    "npryce__adr-tools": (9, 0, {"accepted": 9}),
    "opinionated-digital-center__pyadr": (0, 0, {}),
    "structurizr__java": (65, 0, {"unknown": 36, "accepted": 24, "superseded": 3, "proposed": 2}),
    "thomvaill__log4brains": (
        44,
        7,
        {"accepted": 23, "unknown": 9, "proposed": 2, "superseded": 2, "rejected": 1},
    ),
}


@cache
def collection(name: str) -> tuple[tuple[str, str, AdrFile], ...]:
    return tuple(_documents(COLLECTIONS / name, "*.md"))


def _documents(root: Path, pattern: str) -> Iterator[tuple[str, str, AdrFile]]:
    for path in sorted(root.rglob(pattern)):
        text = path.read_bytes().decode("utf-8")
        relative = path.relative_to(root).as_posix()
        yield relative, text, read_document(text, relative)


@pytest.mark.parametrize("name", COUNTS)
def test_each_document_is_a_decision_or_skipped_with_a_reason(name: str) -> None:
    documents, skipped, statuses = COUNTS[name]
    files = [file for _, _, file in collection(name)]

    assert len(files) == documents
    assert sum(file.skipped_reason is not None for file in files) == skipped
    assert all(len(file.entries) == 1 for file in files if file.skipped_reason is None)
    assert Counter(entry.status for file in files for entry in file.entries) == statuses


@pytest.mark.parametrize("name", COUNTS)
def test_setting_a_status_changes_nothing_else(name: str) -> None:
    for path, text, file in collection(name)[::3]:
        for entry in file.entries:
            changed = set_status(text, entry, "Superseded by ADR-9999")
            (again,) = read_document(changed, path).entries

            assert again.status == "superseded", path
            assert "ADR-9999" in again.targets("superseded_by"), path
            assert again.title == entry.title, path
            if entry.status_span is not None:
                assert changed.startswith(text[: entry.status_span.start]), path
                assert changed.endswith(text[entry.status_span.end :]), path
            else:
                assert len(changed) - len(text) < 60, path


def test_numbers_are_kept_as_written_and_dates_are_no_numbers() -> None:
    numbers = [
        entry.number for _, _, file in collection("cometbft__cometbft") for entry in file.entries
    ]
    dated = [
        entry.number for _, _, file in collection("thomvaill__log4brains") for entry in file.entries
    ]
    repeated = Counter(
        entry.number
        for _, _, file in collection("microsoft__agent-framework")
        for entry in file.entries
    )

    assert {"001", "081", "100", "119"} <= set(numbers)
    assert set(dated) == {None}
    assert {number for number, count in repeated.items() if count > 1} == {
        "0016",
        "0021",
        "0024",
        "0029",
        "0032",
    }


def test_decision_logs_are_read_entry_by_entry() -> None:
    files = {path: file for path, _, file in _documents(LOGS, "4_decisions.md")}
    entries = [entry for file in files.values() for entry in file.entries]

    assert files.pop("_templates/4_decisions.md").skipped_reason == "a template"
    assert {file.format for file in files.values()} == {"log"}
    assert len(files) == 20
    assert Counter(entry.status for entry in entries) == {
        "accepted": 145,
        "superseded": 48,
        "proposed": 27,
    }
    assert all(entry.date and entry.title and entry.number for entry in entries)
    assert sum(len(entry.legacy_ids) for entry in entries) == 10
    assert sum(bool(entry.tasks) for entry in entries) == 211
    assert [
        (
            path.split("/")[-2],
            [problem.position and problem.position.line for problem in file.problems],
        )
        for path, file in files.items()
        if file.problems
    ] == [("knowledge-graph", [405])]
