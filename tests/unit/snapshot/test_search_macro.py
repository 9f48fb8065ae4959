"""The macro `search` of a snapshot: what the file alone finds by words."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.registry import Registry
from orbit_registry.search.index import index_of
from orbit_registry.search.text import terms

ROOT = Path(__file__).parents[3]


def found(project: Any, text: str) -> list[str]:
    return [row[0] for row in project.ask("SELECT id FROM search(?)", text)]


def test_it_adds_what_terms_weigh_in_the_index(tmp_path: Path) -> None:
    from tests.unit.snapshot.conftest import Project

    root = tmp_path / "own"
    shutil.copytree(ROOT / ".orbit", root / ".orbit", ignore=shutil.ignore_patterns("state"))
    shutil.copytree(ROOT / "docs/design", root / "docs/design")
    registry = Registry.open(root)
    records = registry.records
    index = index_of(registry.searcher._records.values())
    ids = {
        record.path: [
            current.id
            for current in ([record] if record.status.searched else records.live_successors(record))
        ]
        for record in records
    }
    for text in [record.title for record in list(registry.records)[::40]]:
        scores: dict[str, float] = {}
        for slot, score in index.search(terms(text)):
            for name in ids.get(index.keys[slot][0], ()):
                scores[name] = max(scores.get(name, 0.0), score)
        rows = Project(root).ask("SELECT id, score FROM search(?)", text)
        assert {name: score for name, score in rows if score < 1} == pytest.approx(
            {name: score for name, score in scores.items() if score < 1}, abs=1e-4
        )


@pytest.mark.parametrize(
    "text",
    [
        "HTTP headers",
        "parse_http",
        "parsed",
        "parsing it",
        "URL",
        "결제 예약",
        "멱등",
        "検証",
        "L-00001?",
        "old-7",
    ],
)
def test_words_are_found_in_other_forms(project: Any, text: str) -> None:
    project.learning(
        "00001",
        summary="Call parseHTTPHeader once",
        body="URLs; 결제 예약은 멱등, 入力を検証",
        legacy_ids=["old-7"],
    )
    project.learning("00002", summary="Another matter", body="At all.")

    assert found(project, text) == ["L-00001"]


@pytest.mark.parametrize("text", ["", "the of", "'; DROP", "nowhereatall", "head", "L-00002"])
def test_nothing_is_found_by_common_and_unknown_words_and_parts(project: Any, text: str) -> None:
    project.learning("00001", summary="Call parseHTTPHeader once")
    project.learning("00002", summary="Another matter", status="retired")

    assert found(project, text) == []


def test_a_long_text_is_found_by_its_best_part(project: Any) -> None:
    section = (
        "# Part {n}\n\n" + "The ledger of part {n} is locked while it is written. " * 20 + "\n\n"
    )
    text = "".join(section.replace("{n}", word) for word in ("one", "two", "three"))
    project.doc(
        "aaaaa", title="Ledger", file="unversioned/ledger.md", content_hash=f"sha256:{'0' * 64}"
    )
    project.write(".orbit/resources/RES-aaaaa/unversioned/ledger.md", text)
    project.learning(
        "00001", summary="Lock it", body="Ledgers.", error_pattern="three locks", labels=["ledger"]
    )

    assert sorted(found(project, "three")) == ["L-00001", "RES-aaaaa"]
