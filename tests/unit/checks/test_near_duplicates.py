"""What is known already: the gate's own measure and thresholds,
asked before something is written.
"""

import shutil
from pathlib import Path

import pytest

from orbit_registry.checks.duplicates import Neighbour
from orbit_registry.judgements.is_duplicate import FEWEST_TO_ERR
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry

OURS = "Close the ledger before the nightly export starts, or rows of the last minute are lost"


@pytest.fixture(scope="module")
def _filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled") / "project"
    root.mkdir()
    setup_workspace(root, load_kinds())
    registry = Registry.open(root)
    registry.add("learning", {"summary": OURS})
    for number in range(FEWEST_TO_ERR - 2):
        registry.add(
            "learning",
            {"summary": f"Pin tool{chr(97 + number)} and box{chr(98 + number)} in their own file"},
        )
    return root


@pytest.fixture
def registry(_filled: Path, tmp_path: Path) -> Registry:
    return Registry.open(shutil.copytree(_filled, tmp_path / "project"))


def near(registry: Registry, summary: str, **fields: object) -> list[Neighbour]:
    """Return the neighbours of what would be added."""
    registry.refresh()
    return registry.neighbours(registry.draft("learning", {"summary": summary, **fields})[1])


def test_the_same_words_are_a_duplicate(registry: Registry) -> None:
    (neighbour,) = near(registry, OURS.upper().replace(",", " -"))

    assert (neighbour.is_exact, neighbour.is_duplicate, neighbour.record.title) == (
        True,
        True,
        OURS,
    )
    assert neighbour.words == "the same, word for word"


def test_near_duplicates_need_twenty_records(registry: Registry) -> None:
    summary = OURS.replace("nightly ", "")
    (neighbour,) = near(registry, summary)
    assert neighbour.score >= 0.8
    assert (neighbour.is_exact, neighbour.is_duplicate) == (False, True)

    learnings = registry.collection.records.of_kind("learning")
    registry.transition(next(record.id for record in learnings if record.title != OURS), "retired")

    assert [match.is_duplicate for match in near(registry, summary)] == [False]


def test_a_copy_is_a_duplicate_among_few_records(tmp_path: Path) -> None:
    setup_workspace(tmp_path, load_kinds())
    registry = Registry.open(tmp_path)
    registry.add("learning", {"summary": "The export closes the ledger in every row it reads"})

    (copy,) = near(registry, "The export closes the ledger in every row that it reads")

    assert (copy.score >= 0.95, copy.is_exact, copy.is_duplicate) == (True, False, True)


@pytest.mark.parametrize(
    "summary", [OURS.replace("Close", "Do not close"), OURS.replace("Close", "Don't close")]
)
def test_a_negation_makes_no_duplicate(registry: Registry, summary: str) -> None:
    (neighbour,) = near(registry, summary)
    assert (neighbour.score >= 0.8, neighbour.is_duplicate) == (True, False)
    assert neighbour.words.endswith("alike; but only one of them says `not`")

    registry.add("learning", {"summary": summary})
    registry.refresh()
    (duplicate,) = (
        entry for entry in registry.check(everything=True).diagnostics if entry.code == "ORB602"
    )
    assert duplicate.severity.value == "warning"
    assert "but only one of them says `not`" in duplicate.message


def test_distinct_or_closed_records_are_no_duplicates(registry: Registry) -> None:
    (neighbour,) = near(registry, OURS)
    longer = f"{OURS}, and say which of them is open"
    assert near(registry, longer, distinct_from=[neighbour.record.id]) == []

    (copy,) = near(registry, OURS, distinct_from=[neighbour.record.id])
    assert (copy.is_settled, copy.is_duplicate) == (True, False)
    assert copy.words.endswith("although `distinct_from` says that they differ")

    registry.transition(neighbour.record.id, "retired")

    assert near(registry, OURS) == []


def test_texts_of_common_words_are_compared(registry: Registry) -> None:
    registry.add("learning", {"summary": "It is as it was"})

    assert [neighbour.is_exact for neighbour in near(registry, "it is AS it was!")] == [True]
    assert near(registry, "It was as it is") == []
