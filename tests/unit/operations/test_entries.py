"""New decisions where the decisions of a project stand in one log:
an entry beside the others, named as they are.
"""

import json
import shutil
from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.errors import LockTimeoutError, OrbitError, RefusedError
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.operations.adr import NewAdr, new_adr
from orbit_registry.operations.edits import change_fields
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import Document
from orbit_registry.workspace.lock import locked

TITLES = json.loads(
    (Path(__file__).parents[2] / "cases" / "adr_add" / "titles.json").read_text("utf-8")
)
DATE = "2026-05-17"


def adopted(
    registry: Registry, *headings: str, path: str = "DECISIONS.md", tail: str = ""
) -> Registry:
    root = registry.workspace.root
    text = "# Decisions\n\n" + "".join(f"{heading}\n\nBecause.\n\n" for heading in headings) + tail
    write(root, path, text)
    import_from(root / path, start=root)
    return Registry.open(root)


def headings_of(registry: Registry, path: str = "DECISIONS.md") -> list[str]:
    lines = (registry.workspace.root / path).read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith("## ")]


def wrong(registry: Registry) -> list[str]:
    """Return what the gate says of records and documents that do not agree,
    and of entries out of order.
    """
    result = Registry.open(registry.workspace.root).check().diagnostics
    return [
        f"{item.location} {item.code} {item.message}"
        for item in result
        if item.code.startswith("ORB7")
    ]


@pytest.mark.parametrize(
    ("headings", "heading", "found_by", "names"),
    [
        (["## ADR-0001 — A", "## ADR-0002 — B"], "## ADR-0003 — Use SQLite", "ADR-0003", []),
        (["## [ADR-1]: A", "## [ADR-2]: B"], "## [ADR-3]: Use SQLite", "ADR-3", []),
        (["## D1: A", "## D2: B"], "## D3: Use SQLite", "ADR-3", ["D3"]),
        (
            ["## Decision 1. A", "## Decision 7. B"],
            "## Decision 8. Use SQLite",
            "ADR-8",
            ["Decision-8"],
        ),
        (["## 1. A", "## 2. B"], "## 3. Use SQLite", "ADR-3", []),
        (["## 2026-04-01: A", "## 2026-04-02: B"], f"## {DATE}: Use SQLite", "Use SQLite", []),
        (["## [2026-04-01 10:00:00] - A"], f"## [{DATE}] - Use SQLite", "Use SQLite", []),
        (["## A (2026-04-01)", "## B (2026-04-02)"], f"## Use SQLite ({DATE})", "Use SQLite", []),
        (["## 9.1 ADR-001 A", "## 9.2 ADR-002 B"], "## 9.3 ADR-003 Use SQLite", "ADR-003", []),
        (["## 9.1 AD-1 A", "## 9.2 AD-2 B"], "## 9.3 AD-3 Use SQLite", "ADR-3", ["AD-3"]),
        (["## AD-7 A", "## AD-8 B"], "## AD-9 Use SQLite", "ADR-9", ["AD-9"]),
        (
            ["## D-API-01: A", "## D-WEB-07: B", "## D-API-02: C"],
            "## D-API-03: Use SQLite",
            "Use SQLite",
            ["D-API-03"],
        ),
    ],
)
def test_a_new_entry_is_named_as_those_of_its_log(
    registry: Registry, headings: list[str], heading: str, found_by: str, names: list[str]
) -> None:
    registry = adopted(registry, *headings, tail="## References\n\n- none\n")
    added = registry.add_adr(NewAdr("Use SQLite", date=DATE))

    assert added.document == "DECISIONS.md"
    assert headings_of(registry) == [*headings, heading, "## References"]
    assert added.record.source is not None
    assert (added.record.source.heading, list(added.record.legacy_ids)) == (found_by, names)
    assert wrong(registry) == []


@pytest.mark.parametrize("name", ["ADR-002", "B", "9.2 ADR-002 B"])
def test_an_entry_is_found_by_its_number_its_title_and_its_whole_heading(name: str) -> None:
    """Records that were made before chapters were read name the whole heading."""
    text = "# Decisions\n\n## 9.1 ADR-001 A\n\na\n\n## 9.2 ADR-002 B\n\nb\n"
    entry = Document("DECISIONS.md", text).entry(name)

    assert entry is not None
    assert (entry.number, entry.title) == ("002", "B")


@pytest.mark.parametrize(("before", "after"), [("**", ".**"), ("**", ":**"), ("__", "__:")])
def test_a_new_entry_has_labels_where_the_log_has_them(
    registry: Registry, before: str, after: str
) -> None:
    text = f"{before}Context{after} Why.\n\n{before}Decision{after} That.\n"
    registry = adopted(registry, f"## D1: A\n\nStatus: Accepted\n\n{text}")

    registry.add_adr(NewAdr("Use SQLite", date=DATE))

    log = (registry.workspace.root / "DECISIONS.md").read_text("utf-8")
    entry = log.partition("## D2: ")[2]
    assert f"{before}Context{after} _Why" in entry
    assert f"{before}Consequences{after}\n\n- _" in entry
    assert "###" not in entry
    assert wrong(registry) == []


@pytest.mark.parametrize(
    "headings",
    [["## D2: B", "## D1: A"], ["## 2026-04-02: B", "## 2026-04-01: A"], ["## 2. B", "## 1. A"]],
)
def test_a_newest_first_log_gets_entries_on_top(registry: Registry, headings: list[str]) -> None:
    registry = adopted(registry, *headings)
    registry.add_adr(NewAdr("Use SQLite", date=DATE))
    registry.add_adr(NewAdr("Use more of it", date=DATE))

    first, second, *others = headings_of(registry)
    assert (first[-14:], second[-10:], others) == ("Use more of it", "Use SQLite", headings)
    assert wrong(registry) == []


@pytest.mark.parametrize(
    "heading", ["## ADR-0001 — A", "## D1: A", "## 2026-04-01: A", "## A (2026-04-01)"]
)
def test_every_title_reads_back_from_an_adopted_log(registry: Registry, heading: str) -> None:
    registry = adopted(registry, heading)
    for title in TITLES[::3]:
        registry.add_adr(
            NewAdr(
                title, date=DATE, body="### Context\n\nWhy.\n\n### Decision\n\nWhat.\n\nCost: time."
            )
        )

    assert len(headings_of(registry)) == 1 + len(TITLES[::3])
    assert wrong(registry) == []
    assert "_Why" not in (registry.workspace.root / "DECISIONS.md").read_text("utf-8")


def test_a_new_title_of_an_untitled_entry_is_followed(registry: Registry) -> None:
    registry = adopted(registry, "## 2026-04-01: A")
    registry.add_adr(NewAdr("Use SQLite", date=DATE))
    registry.refresh()
    change_fields(registry.workspace, "ADR-0002", dict, title="Use DuckDB")

    assert headings_of(registry) == ["## 2026-04-01: A", f"## {DATE}: Use DuckDB"]
    assert wrong(registry) == []


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (NewAdr("A", date=DATE), "has an entry `A` already"),
        (NewAdr("B", date="2026-05"), "names its entries by the day"),
    ],
)
def test_what_a_dated_log_cannot_hold_is_refused(
    registry: Registry, decision: NewAdr, message: str
) -> None:
    registry = adopted(registry, "## 2026-04-01: A")
    with pytest.raises(OrbitError, match=message):
        registry.add_adr(decision)

    assert headings_of(registry) == ["## 2026-04-01: A"]
    assert [record.id for record in Registry.open(registry.workspace.root).collection.records] == [
        "ADR-0001"
    ]


def test_the_style_file_still_writes_a_file(registry: Registry) -> None:
    registry = adopted(registry, "## D1: A")

    assert (
        registry.add_adr(NewAdr("Use SQLite", style="file")).document
        == "docs/adr/0002-use-sqlite.md"
    )
    assert registry.add_adr(NewAdr("Use DuckDB", feature="snapshot")).document == "DECISIONS.md"


def test_a_log_that_another_writer_begins_is_waited_for(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = adopted(registry, "## D1: A")
    root = registry.workspace.root
    (root / "DECISIONS.md").rename(root / "coming.md")
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "0")

    with locked(registry.workspace.lock):
        with pytest.raises(LockTimeoutError):
            registry.add_adr(new_adr({"title": "Use SQLite"}))
        (root / "coming.md").rename(root / "DECISIONS.md")
    assert registry.add_adr(new_adr({"title": "Use SQLite"})).record.id == "ADR-0002"


def test_a_hand_written_entry_of_the_one_log_is_found(registry: Registry) -> None:
    registry = adopted(registry, "## D1: A")
    with (registry.workspace.root / "DECISIONS.md").open("a", encoding="utf-8") as log:
        log.write("## D2: B\n\nBecause.\n")

    assert Registry.open(registry.workspace.root).adr_backfill().data.records == ("ADR-0002",)


@pytest.mark.parametrize(
    ("before", "log"),
    [
        ({}, "docs/DECISIONS.md"),
        ({"docs/adr/0007-x.md": "# X\n\n## Status\n\nAccepted\n\n## Decision\n\nX.\n"}, ""),
        ({"docs/other/decisions.md": "# D\n\n## D5: E\n\nx\n\n## D6: F\n\ny\n"}, ""),
    ],
)
def test_new_decisions_go_where_most_decisions_are(
    registry: Registry, before: dict[str, str], log: str
) -> None:
    root = registry.workspace.root
    for path, text in before.items():
        write(root, path, text)
    write(root, "docs/DECISIONS.md", "# D\n\n## D1: A\n\nx\n\n## D2: B\n\ny\n")
    report = import_from(root, start=root)

    assert Registry.open(root).workspace.config.adr.log == log
    assert any(
        "adr.log" in text
        for text in (*report.notes, *(outcome.reason for outcome in report.of("changed")))
    )


def test_no_second_log_is_begun_beside_one_that_was_renamed(registry: Registry) -> None:
    registry = adopted(registry, "## D1: A")
    root = registry.workspace.root
    (root / "DECISIONS.md").rename(root / "decision-log.md")

    with pytest.raises(
        RefusedError, match=r"DECISIONS\.md is not there, and 1 decision has its text in it"
    ):
        registry.add_adr(new_adr({"title": "Use SQLite"}))
    assert not (root / "DECISIONS.md").exists()

    shutil.rmtree(root / ".orbit/adrs/ADR-0001")
    assert Registry.open(root).add_adr(new_adr({"title": "Use SQLite"})).document == "DECISIONS.md"
    assert headings_of(registry) == ["## ADR-0001 — Use SQLite"]
