"""Each folder in `tests/cases/importers` is a project before an import, and what is true after it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import AmbiguousIdError
from orbit_registry.formats.yaml import load
from orbit_registry.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import open_workspace

CASES = Path(__file__).resolve().parents[2] / "cases" / "importers"
Expected = Mapping[str, Any]

each_case = pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))


def laid_out(case: str, folder: Path, git: Callable[..., str]) -> tuple[Path, Expected]:
    """Return a committed copy of a case's project, and what the case expects."""
    expected = load((CASES / case / "expected.yaml").read_text("utf-8"))
    assert isinstance(expected, dict)
    root = Path(shutil.copytree(CASES / case / "tree", folder / "project"))
    if (root / "dot_orbit").exists():
        (root / "dot_orbit").rename(root / ".orbit")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    if expected.get("init"):
        setup_workspace(root, load_kinds())
    return root, expected


def contents(root: Path) -> dict[str, bytes]:
    """Return every file but git's and what is derived or local."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in files
        if not path.relative_to(root).as_posix().startswith(".orbit/state/")
    }


def records_of(root: Path) -> RecordSet:
    """Return the records of a project."""
    return read_collection(open_workspace(root)).records


def pick(records: RecordSet, name: str) -> Record:
    """Return the record that an expectation names by its id or by an earlier name."""
    return records.get(name)


@each_case
def test_an_import_reports_what_became_of_each_file(case: str, tmp_path: Path, git: Callable[..., str]) -> None:
    """What was taken and left is what the case says, nothing more; each expected change is said."""
    root, expected = laid_out(case, tmp_path, git)
    report = import_from(root, expected["from"], start=root)

    taken = {outcome.source: outcome.record for outcome in report.of("taken")}
    wanted = expected["taken"]
    assert set(taken) == set(wanted)
    assert {name: one for name, one in taken.items() if wanted[name] != "?"} == {
        name: one for name, one in wanted.items() if one != "?"
    }
    left = expected.get("left", {})
    assert {outcome.source for outcome in report.of("left")} - set(left) <= {
        outcome.source for outcome in report.of("left") if "is no link between records" in outcome.reason
    }
    for name, reason in left.items():
        assert [one for one in report.of("left") if one.source == name and reason in one.reason], (name, report.text())
    for reason in expected.get("changed", ()):
        assert [one for one in report.of("changed") if reason in one.reason], (reason, report.text())
    assert list(report.notes) == expected.get("notes", list(report.notes))


@each_case
def test_an_import_makes_the_records_that_are_expected(case: str, tmp_path: Path, git: Callable[..., str]) -> None:
    """Fields, votes, files and earlier names are those of the case; null says that a field is absent."""
    root, expected = laid_out(case, tmp_path, git)
    import_from(root, expected["from"], start=root)
    records = records_of(root)
    for name, fields in expected.get("records", {}).items():
        record = pick(records, name)
        assert {field: record.data.get(field) for field in fields} == fields
    for name, count in expected.get("votes", {}).items():
        assert len(pick(records, name).votes) == count
    for name, ids in expected.get("ambiguous", {}).items():
        with pytest.raises(AmbiguousIdError) as raised:
            records.get(name)
        assert list(raised.value.candidates) == ids
    assert [name for name in expected.get("present", ()) if not (root / name).is_file()] == []
    assert [name for name in expected.get("absent", ()) if (root / name).exists()] == []


@each_case
def test_a_dry_run_says_the_same_and_writes_nothing(case: str, tmp_path: Path, git: Callable[..., str]) -> None:
    """A dry run leaves every byte alone and reports what the import then reports."""
    root, expected = laid_out(case, tmp_path, git)
    before = contents(root)
    dry = import_from(root, expected["from"], start=root, dry_run=True)
    assert contents(root) == before
    assert said(import_from(root, expected["from"], start=root)) == said(dry)


@each_case
def test_a_second_import_changes_nothing(case: str, tmp_path: Path, git: Callable[..., str]) -> None:
    """Running it again, by name or by looking, takes nothing and leaves every byte alone."""
    root, expected = laid_out(case, tmp_path, git)
    import_from(root, expected["from"], start=root)
    after = contents(root)
    for source in (expected["from"], "auto"):
        again = import_from(root, source, start=root)
        assert (again.of("taken"), again.of("changed")) == ([], [])
        assert contents(root) == after


@each_case
def test_no_document_changes(case: str, tmp_path: Path, git: Callable[..., str]) -> None:
    """Every file outside `.orbit/` and git's own settings keeps its bytes."""
    root, expected = laid_out(case, tmp_path, git)
    before = {name: text for name, text in contents(root).items() if not name.startswith(".")}
    import_from(root, expected["from"], start=root)
    assert {name: text for name, text in contents(root).items() if not name.startswith(".")} == before


def said(report: TakeoverReport) -> Expected:
    """Return a report without what tells a dry run from a real one."""
    return {name: value for name, value in report.as_data().items() if name != "dry_run"}


def test_a_repository_within_is_reported(git_repo: Path, git: Callable[..., str]) -> None:
    """Its decisions are git's and a registry's of their own; an import around it says so and reads none."""
    setup_workspace(git_repo, load_kinds())
    inner = git_repo / "vendor/inner"
    (inner / "docs/adr").mkdir(parents=True)
    (inner / "docs/adr/0001-inner.md").write_text("# 1. Inner\n\n## Status\n\nAccepted\n")
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "Start")
    report = import_from(git_repo, "auto", start=git_repo)
    found = {one.source.rstrip("/"): one.reason for one in report.of("left")}
    assert "a repository of its own" in found["vendor/inner"]
    assert report.records == ()
