"""How far decisions are enforced: each live one has one class."""

from pathlib import Path

from tests.extras.enforce.test_run import NO_PRINT, decide
from tests.files import commit, make_workspace, write

from orbit_enforce.coverage import CLASSES, enforcement
from orbit_registry.registry import Registry

MUST = {
    "id": "license",
    "must": "have",
    "in": ["LICENSE"],
    "text": {"words": ["MIT"], "where": "any"},
    "level": "error",
    "passes": ["MIT"],
    "fails": ["GPL"],
}
BY = {"id": "layers", "by": {"engine": "import-linter", "rule": "layers"}}


def test_each_live_decision_has_one_class(git_repo: Path) -> None:
    make_workspace(git_repo)
    write(git_repo, "pyproject.toml", '[[tool.importlinter.contracts]]\nid = "layers"\n')
    write(git_repo, "Makefile", "\tlint-imports\n")
    write(git_repo, "LICENSE", "MIT\n")
    write(git_repo, "a.py")
    decide(git_repo, NO_PRINT, number=1)
    decide(git_repo, {**NO_PRINT, "level": "advice"}, number=2)
    decide(git_repo, BY, number=3)
    decide(git_repo, MUST, number=4)
    decide(git_repo, number=5, not_checkable="A matter of taste.")
    decide(git_repo, number=6)
    decide(git_repo, {**NO_PRINT, "fails": ["log(1)"]}, number=7)
    decide(git_repo, {**BY, "by": {"engine": "import-linter", "rule": "other"}}, number=8)
    decide(git_repo, NO_PRINT, number=9, status="rejected")
    decide(git_repo, NO_PRINT, NO_PRINT, number=10)
    commit(git_repo, "Decide")
    registry = Registry.open(git_repo)
    report = enforcement(registry.workspace, registry.collection.records)
    assert {row.record.id: row.name for row in report.classes} == {
        "ADR-0001": "enforced",
        "ADR-0002": "advised",
        "ADR-0003": "referenced",
        "ADR-0004": "anchored",
        "ADR-0005": "not checkable",
        "ADR-0006": "unclassified",
        "ADR-0007": "unclassified",
        "ADR-0008": "unclassified",
        "ADR-0010": "enforced",
    }
    assert sum(report.counts.values()) == 9
    assert set(report.counts) <= set(CLASSES)
    assert report.share == 3 / 8
    reasons = {row.record.id: row.reason for row in report.classes}
    assert reasons["ADR-0007"] == "ADR-0007/no-print (its examples do not hold)"
    assert (
        reasons["ADR-0008"]
        == "ADR-0008/layers (import-linter does not check `other`: no contract has this id)"
    )
    lines = report.text().splitlines()
    assert "Neither a check nor a reason: ADR-0006" in lines
    assert f"  ADR-0008: {reasons['ADR-0008']}" in lines
