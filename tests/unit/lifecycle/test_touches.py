"""What a new decision touches: by a table of cases, and by reversals of real decisions."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import CORPORA, NO_CORPORA

from orbit_registry.checks.review.touched import touched_by
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.yaml import load
from orbit_registry.lifecycle.touches import MOST, Touch, commands_for
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.init import setup_workspace
from orbit_registry.workspace.workspace import Workspace, open_workspace

FOLDER = Path(__file__).parents[2] / "cases/touches"
CASES: list[dict[str, Any]] = load((FOLDER / "cases.yaml").read_text("utf-8"))
REVERSALS: dict[str, list[dict[str, str]]] = load((FOLDER / "reversals.yaml").read_text("utf-8"))
KIND = load_kinds()["adr"]
OTHERS = {
    "ADR-0901": {"title": "Speak plainly in meetings", "text": "Notes are sent on the same day."},
    "ADR-0902": {"title": "Licences are permissive", "text": "Lawyers look at each exception."},
    "ADR-0903": {"title": "Alerts page one person", "text": "A rota is kept by the office."},
    "ADR-0904": {"title": "Photos are credited", "text": "Their authors are named below them."},
    "ADR-0905": {"title": "Interviews are in pairs", "text": "Two people hear an applicant."},
}
FEWEST = 16  # of the planted reversals


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("touches")
    setup_workspace(root, load_kinds())
    return open_workspace(root)


def decision(record_id: str, stated: Mapping[str, Any], status: str = "accepted") -> Record:
    data: dict[str, Any] = {
        "id": record_id,
        "uid": f"uid {record_id}",
        "title": stated["title"],
        "status": stated.get("status", status),
        "date": "2026-11-29",
        "scope": {axis: list(stated[axis]) for axis in ("paths", "uses") if axis in stated},
        "links": [{"rel": rel, "to": to} for rel, to in stated.get("links", {}).items()],
    }
    for name in ("supersedes", "distinct_from", "legacy_ids"):
        data[name] = list(stated.get(name, ()))

    data["rejected"] = [{"option": option} for option in stated.get("rejected", ())]
    return Record(KIND, data, f".orbit/adrs/{record_id}/adr.yaml", prose=stated.get("text", ""))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_new_decision_touches(case: dict[str, Any], workspace: Workspace) -> None:
    records = [decision(*entry) for entry in {**case["records"], **OTHERS}.items()]
    new = decision("ADR-9000", case["new"], "proposed")
    (touched,) = touched_by(workspace, records, [new])

    if "touches" in case:
        assert [touch.record.id for touch in touched] == case["touches"]
    if "because" in case:
        assert case["because"] in "; ".join(touched[0].reasons)
    if "most" in case:
        assert len(touched) == case["most"] == MOST


def test_each_touched_decision_has_four_commands() -> None:
    old = decision("ADR-0001", {"title": "Build with Gradle"})
    waits = decision("ADR-0002", {"title": "Build with Maven"}, "proposed")
    inherited = decision("org:ADR-0001", {"title": "Build with Gradle"})
    assert [step.name for step in commands_for(waits, old)] == [
        "supersede",
        "amend",
        "relate",
        "distinct",
    ]
    assert commands_for(waits, old)[0].command == (
        "orbit accept ADR-0002 && orbit adr supersede ADR-0001 --with ADR-0002"
    )
    assert "overrides org:ADR-0001" in commands_for(waits, inherited)[0].command


def documents(folder: Path) -> Iterator[Record]:
    """Yield the decisions of a collection that hold, under the numbers of their documents."""
    for path in sorted(folder.rglob("*.md")):
        for document in read_document(path.read_text("utf-8"), path.name).entries:
            number = path.name.removeprefix("adr-").partition("-")[0]
            if number.isdigit() and document.status in ("accepted", "unknown"):
                text = path.read_text("utf-8")
                yield decision(f"ADR-{int(number):04d}", {"title": document.title, "text": text})


@pytest.mark.skipif(not CORPORA.is_dir(), reason=NO_CORPORA)
def test_planted_reversals_stand_on_the_list(workspace: Workspace) -> None:
    missed: list[str] = []
    planted = 0
    for collection, plants in REVERSALS.items():
        records = list(documents(CORPORA / "adr" / collection))
        news = [
            decision(f"ADR-{9000 + number}", {"title": plant["title"], "text": plant["body"]})
            for number, plant in enumerate(plants)
        ]
        for plant, touched in zip(plants, touched_by(workspace, records, news), strict=True):
            planted += 1
            if not stands_on(touched, plant["reverses"]):
                missed.append(f"{collection}: {plant['title']}")

    assert planted == 20
    assert planted - len(missed) >= FEWEST, missed


def stands_on(touched: list[Touch], record_id: str) -> bool:
    return record_id in [touch.record.id for touch in touched]
