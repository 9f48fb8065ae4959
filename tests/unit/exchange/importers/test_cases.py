"""Each folder in `tests/cases/importers` is a project before an import,
and what is true after it.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit

from orbit_registry.errors import AmbiguousIdError
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import open_workspace

CASES = Path(__file__).resolve().parents[3] / "cases" / "importers"
Git = Callable[..., str]


def contents(root: Path) -> dict[str, bytes]:
    files = (
        path
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    )
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in files
        if not path.relative_to(root).as_posix().startswith(".orbit/state/")
    }


@dataclass(frozen=True)
class Imported:
    """One case: its project before and after a dry run, an import and a second one."""

    root: Path
    expected: dict[str, Any]
    before: dict[str, bytes]
    after_dry_run: dict[str, bytes]
    after: dict[str, bytes]
    dry_run: TakeoverReport
    report: TakeoverReport

    @property
    def records(self) -> RecordSet:
        return read_collection(open_workspace(self.root)).records


@pytest.fixture(scope="module", params=sorted(path.name for path in CASES.iterdir()))
def imported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, git: Git
) -> Imported:
    case = CASES / request.param
    expected = load((case / "expected.yaml").read_text("utf-8"))
    assert isinstance(expected, dict)
    root = Path(shutil.copytree(case / "tree", tmp_path_factory.mktemp("case") / "project"))
    if (root / "dot_orbit").exists():
        (root / "dot_orbit").rename(root / ".orbit")
    git(root, "init", "-q")
    commit(root, "Start")
    if expected.get("init"):
        setup_workspace(root, load_kinds())
    before = contents(root)
    place = root / expected.get("folder", "")
    dry_run = import_from(place, expected["from"], start=root, dry_run=True)
    after_dry_run = contents(root)
    report = import_from(place, expected["from"], start=root)
    return Imported(root, expected, before, after_dry_run, contents(root), dry_run, report)


def test_each_file_has_its_outcome(imported: Imported) -> None:
    report, expected = imported.report, imported.expected
    ids = {outcome.source: outcome.record for outcome in report.of("taken")}
    assert set(ids) == set(expected["taken"])
    assert [
        name for name, record_id in expected["taken"].items() if record_id not in ("?", ids[name])
    ] == []
    reasons = [(outcome.source, outcome.reason) for outcome in report.of("left")]
    expected_reasons = expected.get("left", {})
    for name, part in expected_reasons.items():
        assert [reason for source, reason in reasons if source == name and part in reason], (
            name,
            report.text(),
        )
    assert [source for source, _ in reasons if source not in expected_reasons] == []
    for part in expected.get("changed", ()):
        assert [outcome for outcome in report.of("changed") if part in outcome.reason], (
            part,
            report.text(),
        )
    assert list(report.notes) == expected.get("notes", list(report.notes))


def test_the_records_are_those_expected(imported: Imported) -> None:
    records, expected = imported.records, imported.expected
    for name, fields in expected.get("records", {}).items():
        assert {field: records.get(name).data.get(field) for field in fields} == fields
    for name, count in expected.get("votes", {}).items():
        assert len(records.get(name).votes) == count
    for name, ids in expected.get("ambiguous", {}).items():
        with pytest.raises(AmbiguousIdError) as raised:
            records.get(name)
        assert list(raised.value.candidates) == ids
    assert [
        name for name in expected.get("present", ()) if not (imported.root / name).is_file()
    ] == []
    assert [name for name in expected.get("absent", ()) if (imported.root / name).exists()] == []


def test_a_dry_run_reports_the_same_and_writes_nothing(imported: Imported) -> None:
    assert imported.after_dry_run == imported.before
    assert imported.dry_run == replace(imported.report, dry_run=True)


def test_no_document_changes(imported: Imported) -> None:
    documents = [
        {name: content for name, content in files.items() if not name.startswith(".")}
        for files in (imported.before, imported.after)
    ]
    assert documents[0] == documents[1]


def test_a_second_import_changes_nothing(imported: Imported) -> None:
    for source in (imported.expected["from"], "auto"):
        again = import_from(imported.root, source, start=imported.root)
        assert (again.of("taken"), again.of("changed")) == ([], [])
        assert contents(imported.root) == imported.after


def test_a_repository_within_is_reported(git_repo: Path, git: Git) -> None:
    setup_workspace(git_repo, load_kinds())
    inner = git_repo / "vendor/inner"
    (inner / "docs/adr").mkdir(parents=True)
    (inner / "docs/adr/0001-inner.md").write_text("# 1. Inner\n\n## Status\n\nAccepted\n")
    git(inner, "init", "-q")
    commit(inner, "Start")
    report = import_from(git_repo, "auto", start=git_repo)
    reasons = {outcome.source.rstrip("/"): outcome.reason for outcome in report.of("left")}
    assert "another repository" in reasons["vendor/inner"]
    assert report.records == ()
