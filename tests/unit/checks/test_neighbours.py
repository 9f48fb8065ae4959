"""What is known already: the gate's own measure and thresholds, asked before something is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orbit_registry.checks.duplicates import FEWEST_TO_ERR, Neighbour
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry

OURS = "Close the ledger before the nightly export starts, or rows of the last minute are lost"


@pytest.fixture(scope="module")
def _filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a workspace with one learning fewer than the measure needs to err."""
    root = tmp_path_factory.mktemp("filled") / "project"
    root.mkdir()
    setup_workspace(root, load_kinds())
    registry = Registry.open(root)
    registry.add("learning", {"summary": OURS})
    for number in range(FEWEST_TO_ERR - 2):
        registry.add("learning", {"summary": f"Pin tool{chr(97 + number)} and box{chr(98 + number)} in their own file"})
    return root


@pytest.fixture
def registry(_filled: Path, tmp_path: Path) -> Registry:
    """Return the registry of a copy."""
    return Registry.open(shutil.copytree(_filled, tmp_path / "project"))


def near(registry: Registry, summary: str, **fields: object) -> list[Neighbour]:
    """Return the neighbours of what would be added."""
    registry.refresh()
    return registry.neighbours(registry.draft("learning", {"summary": summary, **fields})[1])


def test_the_same_words_are_a_duplicate(registry: Registry) -> None:
    """Case and punctuation do not count, however few records there are."""
    (found,) = near(registry, OURS.upper().replace(",", " -"))

    assert (found.is_exact, found.is_duplicate, found.record.title) == (True, True, OURS)
    assert found.words == "the same, word for word"


def test_nearly_the_same_is_one_where_there_are_enough(registry: Registry) -> None:
    """One record fewer, and only the same text is."""
    said = OURS.replace("nightly ", "")
    (found,) = near(registry, said)
    assert found.score >= 0.8
    assert (found.is_exact, found.is_duplicate) == (False, True)

    other = registry.collection.records.of_kind("learning")
    registry.transition(next(one.id for one in other if one.title != OURS), "retired")

    assert [one.is_duplicate for one in near(registry, said)] == [False]


def test_a_copy_is_a_duplicate_among_few_records(tmp_path: Path) -> None:
    """A word that carries no weight does not tell it from the first."""
    setup_workspace(tmp_path, load_kinds())
    registry = Registry.open(tmp_path)
    registry.add("learning", {"summary": "The export closes the ledger in every row it reads"})

    (copy,) = near(registry, "The export closes the ledger in every row that it reads")

    assert (copy.score >= 0.95, copy.is_exact, copy.is_duplicate) == (True, False, True)


def test_the_score_is_the_gate_s(registry: Registry) -> None:
    """What is said before adding is what the gate says after it."""
    said = "Close the ledger before the nightly export"
    (found,) = near(registry, said)
    registry.add("learning", {"summary": said})
    registry.refresh()

    (one,) = [one for one in registry.check(everything=True).diagnostics if one.code == "ORB602"]

    assert f"({found.score:.0%} alike)" in one.message


@pytest.mark.parametrize("said", [OURS.replace("Close", "Do not close"), OURS.replace("Close", "Don't close")])
def test_one_negation_is_said_and_no_duplicate(registry: Registry, said: str) -> None:
    """It may say the opposite, so it is a warning that names the difference; the gate says so too."""
    (found,) = near(registry, said)
    assert (found.score >= 0.8, found.is_duplicate) == (True, False)
    assert found.words.endswith("alike; but only one of them says `not`")

    registry.add("learning", {"summary": said})
    registry.refresh()
    (one,) = [one for one in registry.check(everything=True).diagnostics if one.code == "ORB602"]
    assert one.severity.value == "warning"
    assert "but only one of them says `not`" in one.message


def test_what_is_settled_or_closed_is_no_neighbour(registry: Registry) -> None:
    """`distinct_from` names it, or it no longer holds."""
    (found,) = near(registry, OURS)
    assert near(registry, OURS, distinct_from=[found.record.id]) == []

    registry.transition(found.record.id, "retired")

    assert near(registry, OURS) == []


def test_a_text_of_common_words_alone_is_compared_too(registry: Registry) -> None:
    """It has no terms that weigh, and is the same all the same."""
    registry.add("learning", {"summary": "It is as it was"})

    assert [one.is_exact for one in near(registry, "it is AS it was!")] == [True]
    assert near(registry, "It was as it is") == []
