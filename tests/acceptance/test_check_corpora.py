"""The gate on real collections: it finds what is wrong there, and invents nothing."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.registry import Registry

Git = Callable[..., str]
COLLECTIONS = (
    "alphagov__govuk-infrastructure",
    "arachne-framework__architecture",
    "cometbft__cometbft",
    "curie-eng__curie",
    "mbeacom__adrkit",
    "opinionated-digital-center__pyadr",
)
"""Those that `test_import_corpora` does not check after it has imported them."""

REVIEW_DUE = "ORB808"  # no baseline holds it, and the day decides which decisions have it


def committed(root: Path, git: Git) -> None:
    git(root, "init", "-q")
    git(root, "add", "--all", "--force")
    git(root, "commit", "-q", "-m", "Everything")


@pytest.fixture(scope="module")
def findings(
    corpora: Path, tmp_path_factory: pytest.TempPathFactory, git: Git
) -> tuple[Diagnostic, ...]:
    """Return what the gate finds in the imported registry, with the file list of its time."""
    source = corpora / "orbit-2026-07"
    root = tmp_path_factory.mktemp("corpus") / "project"
    shutil.copytree(source / "docs", root / "docs")
    shutil.copytree(source / "dot_orbit", root / ".orbit")
    for name in (source / "files.txt").read_text("utf-8").splitlines():
        file = root / name
        if name and not file.exists() and not name.startswith((".orbit/", "docs/")):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("", "utf-8")
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    committed(root, git)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)  # what is imported goes into the workspace of the current folder
        Registry.import_from(".")
    return Registry.open(root).check(everything=True).diagnostics


def of(findings: tuple[Diagnostic, ...], code: str) -> list[Diagnostic]:
    return [diagnostic for diagnostic in findings if diagnostic.code == code]


def test_a_number_that_names_two_decisions_is_found(findings: tuple[Diagnostic, ...]) -> None:
    twice = sorted(diagnostic.record or "" for diagnostic in of(findings, "ORB707"))
    assert twice == ["ADR-0167", "ADR-0180", "ADR-0199"]
    assert "ADR-0167" in of(findings, "ORB202")[0].message


def test_records_that_are_gone_are_missed(findings: tuple[Diagnostic, ...]) -> None:
    dangling = of(findings, "ORB301")
    assert {diagnostic.severity for diagnostic in dangling} == {Severity.ERROR}
    assert sorted(diagnostic.message.split("replaces ")[1][:6] for diagnostic in dangling) == [
        "L-0012",
        "L-0025",
        "L-0032",
        "L-0039",
        "L-0057",
        "L-0061",
        "L-0063",
    ]


def test_two_texts_of_one_decision_are_found(findings: tuple[Diagnostic, ...]) -> None:
    aside = [
        entry
        for entry in of(findings, "ORB705")
        if entry.location.path.endswith("/imported-body.md")
    ]
    assert len(aside) == 35
    assert {diagnostic.severity for diagnostic in aside} == {Severity.WARNING}


def test_adopted_decisions_are_not_asked_for_a_cost(findings: tuple[Diagnostic, ...]) -> None:
    assert of(findings, "ORB401") == []


def test_globs_that_match_nothing_are_found(findings: tuple[Diagnostic, ...]) -> None:
    dead = " ".join(diagnostic.message for diagnostic in of(findings, "ORB502"))
    assert "`bench/**`" in dead
    assert "`crates/orbit-core/src/command/learning_hook/**`" in dead


def test_nothing_else_is_an_error(findings: tuple[Diagnostic, ...]) -> None:
    errors = Counter(
        diagnostic.code for diagnostic in findings if diagnostic.severity is Severity.ERROR
    )
    assert set(errors) == {"ORB301", "ORB305"}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_an_adopted_collection_has_no_errors(
    name: str, corpora: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / name
    shutil.copytree(corpora / "adr" / name, root)
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    committed(root, git)
    monkeypatch.chdir(root)
    Registry.init(".")
    Registry.import_from(".")
    diagnostics = Registry.open(root).check(everything=True).diagnostics
    assert [
        str(diagnostic.location)
        for diagnostic in diagnostics
        if diagnostic.severity is Severity.ERROR
    ] == []
    later = Registry.open(root).check().diagnostics
    assert [str(each) for each in later if each.code != REVIEW_DUE] == []
