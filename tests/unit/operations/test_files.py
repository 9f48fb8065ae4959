"""How a new decision file is named and what it asks: like its neighbours."""

import pytest

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.adr_style import neighbours_in, new_path
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import is_prompt, prompts_of


@pytest.mark.parametrize(
    ("neighbour", "name"),
    [
        ("20260401-use-x", "20260502-use-y"),
        ("2026-04-01-use-x", "2026-05-02-use-y"),
        ("2026-04-use-x", "2026-05-use-y"),
        ("2026_04_01_use_x", "2026_05_02_use_y"),
        ("2026-04-01-use-x/README", "2026-05-02-use-y/README"),
        ("0042-use-x/index", "0043-use-y/index"),
        ("20260401-03-use-x", "20260502-01-use-y"),
        ("20260502-03-use-x", "20260502-04-use-y"),
        ("adr_042_use_x", "adr_043_use_y"),
        ("ADR-0042-Use-The-X", "ADR-0043-Use-Y"),
        ("ADR_0042_USE_X", "ADR_0043_USE_Y"),
        ("0042-use_x", "0043-use_y"),
        ("0042 - use x", "0043 - use y"),
        ("0042. use x", "0043. use y"),
    ],
)
def test_a_new_file_is_named_like_the_newest(registry: Registry, neighbour: str, name: str) -> None:
    document = registry.workspace.root / f"docs/adr/{neighbour}.md"
    document.parent.mkdir(parents=True)
    document.write_text(
        "# Use X\n\n## Status\n\nAccepted\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
    )
    result = neighbours_in(registry.workspace, "docs/adr")
    assert new_path(result, "ADR-0043", "Use Y", "2026-05-02") == f"docs/adr/{name}.md"


@pytest.mark.parametrize(
    ("there", "name"),
    [
        ("ccc-jb-001-a.md ccc-jb-002-b.md", "ccc-jb-043-use-y.md"),
        ("ccc-jb-001-a.md ccc-jb-051-b.md", "ccc-jb-052-use-y.md"),
        ("ccc-jb-001-a.md ccc-jb-002-b.md 0010-c.md", "ccc-jb-043-use-y.md"),
        ("TEAM_API_01_a.md TEAM_API_02_b.md", "TEAM_API_43_use_y.md"),
        ("use-http-404-pages.md", "0043-use-y.md"),
        ("0001-a.md 0002-b.md use-http-404-pages.md", "0043-use-y.md"),
        ("adr-001-a.md adr-002-b.md 0003-c.md 0004-d.md", "0043-use-y.md"),
        ("0001-a.md 0002-b.md adr-010-c.md", "0043-use-y.md"),
        ("0001-a.md adr-010-c.md", "adr-043-use-y.md"),
        ("0001-a-b.md 0002-c-d.md 0003-e_f.md", "0043-use-y.md"),
        ("0001-Ab-Cd.md 0002-Ef-Gh.md 0003-ij-kl.md", "0043-Use-Y.md"),
        ("0001-a.markdown 0002-b.markdown", "0043-use-y.markdown"),
    ],
)
def test_in_a_mixed_folder_a_naming_that_is_shared_counts(
    registry: Registry, there: str, name: str
) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    for item in there.split():
        (folder / item).write_text(
            "# Use X\n\n## Status\n\nAccepted\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
        )
    result = neighbours_in(registry.workspace, "docs/adr")
    assert new_path(result, "ADR-0043", "Use Y", "2026-05-02") == f"docs/adr/{name}"


def test_a_dress_without_a_title_gets_one(registry: Registry) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-x.md").write_text(
        "- Start Date: 2026-04-01\n\n# Summary\n\nA.\n\n# Drawbacks\n\nB.\n"
    )
    registry.adr_backfill()
    added = registry.add_adr(NewAdr("Use Y", date="2026-05-02"))
    text = (registry.workspace.root / added.document).read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Use Y",
        "# Summary",
        "# Drawbacks",
    ]
    assert read_document(text, added.document).entries[0].status == "proposed"


PROPOSAL = """\
---
author: Ada
ticket: https://example.org/tickets/7
area: types
status: accepted
---

# Use X <!-- omit in toc -->

## 1. Motivation

A.

## 4. Proposed Change Specification

B.

## 7. Alternatives

C.

## 8. Costs and Drawbacks

D.
"""


def test_a_dress_keeps_nothing_of_the_other_decision(registry: Registry) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-x.md").write_text(PROPOSAL)
    (folder / "0002-use-z.md").write_text(
        "# Use Z\n\n- Status: accepted\n- Tags: a, b\n\n## Context\n\nA.\n"
    )
    registry.adr_backfill()
    assert [record.title for record in registry.records.of_kind("adr")] == ["Use X", "Use Z"]
    (folder / "0002-use-z.md").rename(folder / "0000-use-z.md")
    registry.adr_backfill(moves=[("docs/adr/0002-use-z.md", "docs/adr/0000-use-z.md")])
    text = (registry.workspace.root / registry.add_adr(NewAdr("Use Y")).document).read_text("utf-8")
    assert ("\nticket:\narea: types\n" in text, "example.org" in text) == (True, False)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## 1. Motivation",
        "## 2. Proposed Change Specification",
        "## 3. Alternatives",
        "## 4. Costs and Drawbacks",
    ]

    (folder / "0000-use-z.md").rename(folder / "0009-use-z.md")
    added = registry.add_adr(NewAdr("Use W"))
    text = (registry.workspace.root / added.document).read_text("utf-8")
    assert "- Tags:\n" in text


def test_a_named_series_is_adopted_and_continued(registry: Registry) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    for number in (1, 3):
        head = (
            f"# CCC-JB-00{number}: Use X{number}\n\n## Status\n\nAccepted\n\n## Context\n\nA.\n\n"
        )
        (folder / f"ccc-jb-00{number}-use-x.md").write_text(f"{head}## Decision\n\nB.\n")
    registry.adr_backfill()
    added = registry.add_adr(NewAdr("Use Y"))
    current = {record.id: record.title for record in registry.records if record.kind.name == "adr"}

    assert current == {"ADR-0001": "Use X1", "ADR-0003": "Use X3", "ADR-0004": "Use Y"}
    assert registry.records.get("ccc-jb-003").id == "ADR-0003"
    assert added.document == "docs/adr/ccc-jb-004-use-y.md"
    assert (
        (registry.workspace.root / added.document)
        .read_text("utf-8")
        .startswith("# CCC-JB-004: Use Y\n")
    )


@pytest.mark.parametrize(
    ("headings", "status", "expected"),
    [
        (
            "Status Kontext Entscheidung",
            "Akzeptiert",
            "Vorgeschlagen|_What is decided?_|Cost: _what",
        ),
        ("Статус Контекст Решение", "Принято", "Предложено|_What is decided?_|Cost: _what"),
        ("ステータス コンテキスト 決定 結果", "承認", "提案|_What is decided?_|Cost: _what"),
        (
            "Status Contexto Decisão Consequências",
            "Accepted",
            "Proposed|_What is decided?_|Cost: _what",
        ),
        (
            "Statut|Contexte et définition du problème|Résultat de la décision",
            "Accepté",
            "Proposé|_Why is a decision|Cost: _what",
        ),
        ("Status Context Decision", "Accepted", "Proposed|_What is decided?_|Cost: _what"),
    ],
)
def test_a_new_decision_has_the_headings_and_the_status_word_of_its_neighbours(
    registry: Registry, headings: str, status: str, expected: str
) -> None:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    parts = [
        f"## {heading}\n\n{'A.' if number else status}\n"
        for number, heading in enumerate(headings.split("|" if "|" in headings else None))
    ]
    (folder / "0001-eins.md").write_text("\n".join(("# 1. Eins\n", *parts)), encoding="utf-8")
    registry.adr_backfill()
    added = registry.add_adr(NewAdr("Zwei"))
    text = (registry.workspace.root / added.document).read_text("utf-8")
    entry = read_document(text, added.document).entries[0]

    assert [item for item in expected.split("|") if item not in text] == []
    assert (entry.status, entry.has_cost) == ("proposed", True)
    existing = prompts_of(added.record.kind.folder, True)
    requests = [line for line in text.splitlines() if line.endswith("_")]
    assert (len(requests) >= 3, [line for line in requests if not is_prompt(line, existing)]) == (
        True,
        [],
    )
