"""New decisions: record and document say the same, in the dress of the folder,
whatever the title and neighbours.
"""

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from orbit_registry.errors import InvalidRecordError, RefusedError, UsageError
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.operations.adr import AddResult, NewAdr
from orbit_registry.operations.edits import change_fields
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import Documents, read_documents
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.workspace import Workspace

CASES = Path(__file__).parents[2] / "cases" / "adr_add"
TITLES = json.loads((CASES / "titles.json").read_text("utf-8"))
NEIGHBOURS = sorted(file.name for file in (CASES / "neighbours").iterdir())
BODY = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


def documents_of(registry: Registry) -> Documents:
    return read_documents(registry.workspace, registry.collection.records)


def entry_of(registry: Registry, added: AddResult) -> tuple[str, AdrDocument]:
    registry.refresh()
    result = documents_of(registry).of(registry.get(added.record.id))
    assert result is not None
    document, entry = result
    return document.text, entry


def errors(registry: Registry) -> list[str]:
    result = Registry.open(registry.workspace.root).check().diagnostics
    weighty = [
        item for item in result if item.severity.value == "error" or item.code.startswith("ORB7")
    ]
    return [f"{item.location} {item.code} {item.message}" for item in weighty]


def beside(registry: Registry, name: str) -> Registry:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    shutil.copy(CASES / "neighbours" / name, folder)
    registry.adr_backfill()
    return registry


def test_every_title_reads_back_from_a_log(registry: Registry) -> None:
    for title in TITLES:
        added = registry.add_adr(
            NewAdr(title, feature="f", style="log", body=BODY.replace("## ", "### "))
        )
        assert added.document == "docs/design/f/4_decisions.md"
    registry.refresh()
    document = documents_of(registry).by_path["docs/design/f/4_decisions.md"]
    assert [entry.title for entry in document.file.entries] == TITLES
    assert [int(entry.number or 0) for entry in document.file.entries] == list(
        range(1, len(TITLES) + 1)
    )
    assert [error for error in errors(registry) if "ORB6" not in error] == []


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_titles_read_back_beside_any_neighbour(registry: Registry, name: str) -> None:
    beside(registry, name)
    for title in ["Plain words", *TITLES[:4], "ADR-0007: tricky", "x {#adr-0001}"]:
        added = registry.add_adr(
            NewAdr(title, body=BODY if title == "Plain words" else None, status="proposed")
        )
        _, entry = entry_of(registry, added)
        assert (entry.title, entry.status) == (title, "proposed")
        assert entry.number is None or int(entry.number) == int(
            added.record.id.removeprefix("ADR-")
        )
    assert [error for error in errors(registry) if "ORB6" not in error] == []


@pytest.mark.parametrize(
    ("neighbour", "lines"),
    [
        ("adr-001-nygard.md", ["# 2. Use SQLite", "Date: 2026-05-17", "## Status", "Proposed"]),
        (
            "0001-madr.md",
            ["status: proposed", "date: 2026-05-17", "# Use SQLite", "## Decision Outcome"],
        ),
        ("0001-titled.md", ["title: Use SQLite", "status: proposed", "# Use SQLite"]),
        ("00001-bullets.md", ["# Use SQLite", "* Status: proposed", "* Date: 2026-05-17"]),
        ("0001_windows.md", ["# 2. Use SQLite", "## Status", "Proposed"]),
        ("ADR-0001-table.md", ["| Status | Date |", "| Proposed | 2026-05-17 |"]),
        ("0001-ours.md", ["# ADR-0002 — Use SQLite", "Status: Proposed · 2026-05-17 · [T-9]"]),
        ("01-quoted.md", ["creation-date: 2026-05-17", "tags: []", "> **Status**: Proposed"]),
        ("0001-no-status.md", ["# Use SQLite", "## Context"]),
        (
            "0001-no-decision.md",
            ["# ADR-0002 — Use SQLite", "Status: Proposed · 2026-05-17 · [T-9]"],
        ),
        ("0001-empty.md", ["Status: Proposed · 2026-05-17 · [T-9]"]),
    ],
)
def test_a_new_file_wears_the_dress_of_its_neighbour(
    registry: Registry, neighbour: str, lines: list[str]
) -> None:
    added = beside(registry, neighbour).add_adr(
        NewAdr("Use SQLite", status="proposed", date="2026-05-17", tasks=("T-9",))
    )
    text, entry = entry_of(registry, added)

    assert [line for line in lines if line not in text.splitlines()] == []
    assert not [word for word in ("Why.", "What.", "Then.", "Ada", "First", "2024") if word in text]
    assert (entry.status, entry.has_cost) == ("proposed", True)


_HEADS = {
    "full": "Date: 2026-01-02\n\n## Status\n\nAccepted\n\n## Context\n\nWhy.",
    "short": "**Status:** Accepted",
}


@pytest.mark.parametrize(
    ("forms", "is_full"),
    [
        (["full", "short"], True),
        (["full", "full", "short", "short"], True),
        (["full", "short", "short", "short"], True),
        (["full", "short", "short", "short", "short"], False),
        (["short", "short"], False),
    ],
)
def test_a_folder_of_mixed_forms_gives_context_and_date(
    registry: Registry, forms: list[str], is_full: bool
) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    for number, form in enumerate(forms, start=1):
        below = "## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: a day.\n"
        text = f"# {number}. Use {number}\n\n{_HEADS[form]}\n\n{below}"
        (folder / f"{number:04d}-use-{number}.md").write_text(text, encoding="utf-8")

    text, _ = entry_of(registry, registry.add_adr(NewAdr("Use SQLite", date="2026-05-17")))
    assert ("## Context" in text, "2026-05-17" in text) == (is_full, is_full)


def test_a_file_with_windows_line_ends_begets_another(registry: Registry) -> None:
    beside(registry, "0001_windows.md")
    for added in (
        registry.add_adr(NewAdr("Use SQLite")),
        registry.add_adr(NewAdr("Use Postgres", body=BODY)),
    ):
        data = (registry.workspace.root / added.document).read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n") > 5


def test_a_file_that_is_there_already_is_not_overwritten(registry: Registry) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "20260517-use-sqlite.md").write_text("mine", "utf-8")

    with pytest.raises(RefusedError, match="is there already"):
        registry.add_adr(NewAdr("Use SQLite", date="2026-05-17"))

    assert (folder / "20260517-use-sqlite.md").read_text("utf-8") == "mine"
    assert not list(registry.workspace.orbit.glob("adrs/*"))


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ("Use \u202eevil", r"`title` holds the hidden character U\+202E"),
        ("Use <!-- x --> it", "a document shows it as"),
    ],
)
def test_a_title_that_the_gate_refuses_is_not_written(
    registry: Registry, title: str, message: str
) -> None:
    added = registry.add_adr(NewAdr("Good"))
    for write in (
        lambda: registry.add_adr(NewAdr(title)),
        lambda: change_fields(registry.workspace, added.record.id, dict, title),
    ):
        with pytest.raises(InvalidRecordError, match=message):
            write()
    registry.refresh()
    assert [record.title for record in registry.collection.records] == ["Good"]


def test_an_update_reads_the_records_once(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = registry.add_adr(NewAdr("Good"))
    registry.refresh()
    readings: list[Reading] = []
    initialise = Reading.__init__

    def counting(reading: Reading, workspace: Workspace, **options: datetime | None) -> None:
        readings.append(reading)
        initialise(reading, workspace, **options)

    monkeypatch.setattr(Reading, "__init__", counting)
    kind = registry.workspace.kinds["adr"]
    registry.update(added.record.id, lambda data: {**data, "summary": "Why."}, kind=kind)

    assert len(readings) == 1


def test_an_update_refuses_a_record_of_another_kind(registry: Registry) -> None:
    added = registry.add_adr(NewAdr("Good"))
    with pytest.raises(UsageError, match=f"{added.record.id} is an? "):
        registry.update(added.record.id, dict, kind=registry.workspace.kinds["learning"])


def test_a_record_points_at_its_document(registry: Registry) -> None:
    added = registry.add_adr(
        NewAdr(
            "X",
            "f",
            ("T-1",),
            ("Ada",),
            ("old/ADR-1",),
            ("src/**",),
            ("a",),
            ("l",),
            "S",
            "proposed",
            "2026-05",
            "log",
        )
    )
    data = added.record.data

    assert data["source"] == {
        "path": "docs/design/f/4_decisions.md",
        "heading": "ADR-0001",
        "format": "log",
        "authority": "record",
    }
    assert [
        data[name]
        for name in ("feature", "tasks", "deciders", "legacy_ids", "labels", "summary", "date")
    ] == [
        "f",
        ["T-1"],
        ["Ada"],
        ["old/ADR-1"],
        ["l"],
        "S",
        "2026-05",
    ]
    assert data["scope"] == {"paths": ["src/**"], "tags": ["a"]}
    text, entry = entry_of(registry, added)
    assert "Status: Proposed · 2026-05 · [T-1] · legacy_id: `old/ADR-1`" in text.splitlines()
    assert (entry.tasks, entry.legacy_ids) == (("T-1",), ("old/ADR-1",))


LOGS = {
    "empty": "",
    "a preamble": "# f: decisions\n\nWhat we decided.\n",
    ("no line end"): (
        "# f: decisions\n\n## ADR-0001 — First\n\nStatus: Accepted · 2024-01-01\n\n### Decision\n"
        "\nYes."
    ),
    (
        "Windows line ends"
    ): "# f\r\n\r\n## ADR-0001 — First\r\n\r\nStatus: Accepted · 2024-01-01\r\n\r\nYes.\r\n",
    ("rules between"): (
        "# f\n\n## ADR-0001 — First\n\nStatus: Accepted\n\nYes.\n\n---\n\n## ADR-0002 — Second\n"
        "\nNo.\n"
    ),
    (
        "a trailing section"
    ): "# f\n\n## ADR-0001 — First\n\nStatus: Accepted · 2024\n\nYes.\n\n## References\n\n- x\n",
    "a trailing section alone": "# f\n\nText.\n\n## References\n\n- x\n",
    "a mark": "\ufeff# f\n\n## ADR-0001 — First\n\nYes.\n",
}


@pytest.mark.parametrize("name", LOGS)
def test_an_entry_takes_its_place_in_a_log(registry: Registry, name: str) -> None:
    before = LOGS[name]
    file = registry.workspace.root / "docs/design/f/4_decisions.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(before.encode())
    registry.adr_backfill()

    added = registry.add_adr(NewAdr("The new one", feature="f", style="log"))

    after = file.read_bytes().decode()
    assert after.count("\n") == after.count("\r\n") or "\r\n" not in after
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines())
    registry.refresh()
    numbers = [
        int(entry.number or 0)
        for entry in documents_of(registry).by_path["docs/design/f/4_decisions.md"].file.entries
    ]
    assert numbers == sorted(numbers)
    assert int(added.record.id.removeprefix("ADR-")) in numbers
    if "## References" in before:
        assert after.index("The new one") < after.index("## References")
    assert errors(registry) == []


def test_a_title_in_the_body_is_not_written_twice(registry: Registry) -> None:
    text, entry = entry_of(
        registry, registry.add_adr(NewAdr("Use SQLite", body=f"# Use SQLite\n\n{BODY}"))
    )
    assert (text.count("Use SQLite"), text.count("## Context"), entry.has_cost) == (1, 1, True)


def test_a_body_takes_the_place_of_the_template_s_sections(registry: Registry) -> None:
    for style, body in (("file", BODY), ("log", BODY.replace("## ", "### "))):
        text, entry = entry_of(
            registry, registry.add_adr(NewAdr("X", feature="f", style=style, body=body))
        )
        assert body.strip() in text
        assert "_" not in text.partition("Context")[2]
        assert entry.has_cost


@pytest.mark.parametrize(
    "date", ["2026-W14-1", "2026-W14", "20260401", "2026-04-01T00:00", "2026-13", "2026-4-1"]
)
def test_a_date_is_a_day_or_a_month(registry: Registry, date: str) -> None:
    with pytest.raises(UsageError, match=f"'{date}' is not a date"):
        registry.add_adr(NewAdr("Log in JSON", date=date, body=BODY))


def test_an_amendment_is_dated_and_anchored_at_its_task(registry: Registry) -> None:
    first = registry.add_adr(NewAdr("First", feature="f", style="log"))
    registry.add_adr(NewAdr("Second", feature="f", style="log"))
    before, _ = entry_of(registry, first)

    registry.adr_amend("ADR-0001", "T-9", "Holds for logs too.\nAnd for files.", date="2026-05-17")
    record = registry.get("ADR-0001")

    after, _ = entry_of(registry, first)
    added = [line for line in after.splitlines() if line not in before.splitlines()]
    assert added == [
        "### Amendments",
        "**2026-05-17** [T-9]: Holds for logs too.",
        "And for files.",
    ]
    assert after.index("Holds for logs") < after.index("## ADR-0002")
    assert record.words("tasks") == ("T-9",)
    assert errors(registry) == []


def test_what_is_closed_or_without_a_document_is_not_amended(registry: Registry) -> None:
    closed, lost = (registry.add_adr(NewAdr(title, body=BODY)) for title in ("Closed", "Lost"))
    registry.transition(closed.record.id, "deprecated")
    (registry.workspace.root / lost.document).unlink()

    with pytest.raises(RefusedError, match="is deprecated and is kept as it was"):
        registry.adr_amend(closed.record.id, "T", "X")
    with pytest.raises(RefusedError, match="has no entry in a document"):
        registry.adr_amend(lost.record.id, "T", "X")


@pytest.mark.parametrize("style", ["file", "log"])
def test_a_new_title_stands_in_record_and_document(registry: Registry, style: str) -> None:
    added = registry.add_adr(NewAdr("First", feature="f", style=style))
    before, entry = entry_of(registry, added)
    for title in ("Better said", *TITLES[:8], "3. number start"):
        record = registry.update(added.record.id, lambda data: data, title=title)
        after, now = entry_of(registry, added)
        assert record.title == now.title == title
        assert int(now.number or 0) == 1
        assert entry.heading_span is not None
        assert now.heading_span is not None
        assert after[now.heading_span.end :] == before[entry.heading_span.end :]
    assert errors(registry) == []


def test_a_closed_decision_is_not_updated(registry: Registry) -> None:
    added = registry.add_adr(NewAdr("First", body=BODY))
    registry.transition(added.record.id, "deprecated")
    before = entry_of(registry, added)[0]

    for title in (None, "Other"):
        with pytest.raises(RefusedError, match="kept as it was"):
            registry.update(added.record.id, lambda data: {**data, "priority": 1}, title=title)
    assert entry_of(registry, added)[0] == before


def test_a_decision_is_accepted_only_with_a_cost(registry: Registry) -> None:
    free = BODY.replace("Cost: time", "It is fast")
    with pytest.raises(RefusedError, match="accepted without a cost"):
        registry.add_adr(NewAdr("Use SQLite", body=free, status="accepted"))
    record = registry.add_adr(NewAdr("Use SQLite", body=free)).record
    assert record.status.name == "proposed"
    with pytest.raises(RefusedError, match="names no cost"):
        registry.transition(record.id, "accepted")

    config = registry.workspace.root / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}checks:\n  ignore: [ORB401]\n", "utf-8")
    assert (
        Registry.open(registry.workspace.root).transition(record.id, "accepted").status.name
        == "accepted"
    )


def test_a_number_that_is_lost_is_said_to_be_taken_here(registry: Registry) -> None:
    added = registry.add_adr(NewAdr("Use SQLite", body=BODY))
    (registry.workspace.root / added.document).unlink()
    shutil.rmtree(registry.workspace.root / added.record.folder)
    registry.refresh()
    again = registry.add_adr(NewAdr("Use SQLite", body=BODY))
    assert again.record.id == "ADR-0002"
    assert again.above.startswith(
        "ADR-0001, used in this clone before and not there any more; `rm "
    )
