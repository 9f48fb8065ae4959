"""The baseline knows findings by their words, and lets no new one pass."""

from pathlib import Path

import pytest

from orbit_registry.checks.engine import run, update_baseline
from orbit_registry.errors import RefusedError
from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.registry import Registry
from orbit_registry.repository.baseline import (
    NEVER_BASELINED,
    apply,
    baseline_of,
    read_baseline,
    write_baseline,
)
from orbit_registry.workspace.workspace import Workspace


def finding(message: str, line: int = 1, code: str = "ORB503") -> Diagnostic:
    return Diagnostic(
        code, Severity.WARNING, message, Location("a.yaml", Position(line)), record="ADR-0001"
    )


@pytest.fixture
def workspace(git_repo: Path) -> Workspace:
    Registry.init(git_repo)
    return Registry.open(git_repo).workspace


@pytest.mark.parametrize("code", sorted(NEVER_BASELINED))
def test_findings_about_this_run_are_never_held(code: str) -> None:
    assert len(baseline_of([finding("it is so", code=code)])) == 0


def test_a_finding_that_moved_is_still_known() -> None:
    sorted_ = apply(baseline_of([finding("no cost", 3)]), [finding("no cost", 40)])

    assert (sorted_.new, len(sorted_.baselined)) == ((), 1)


@pytest.mark.parametrize(
    ("then", "now", "is_new"),
    [
        ("it matches 512 of 514 tracked files", "it matches 513 of 520 tracked files", False),
        (
            "nearly the same as ADR-0047 (57% alike)",
            "nearly the same as ADR-0047 (58% alike)",
            False,
        ),
        (
            "it is 4,804 characters long; above 4,000",
            "it is 4,900 characters long; above 4,000",
            False,
        ),
        (
            "ADR-0047 is cited, but no record has that id",
            "ADR-0048 is cited, but no record has that id",
            True,
        ),
        ("the link docs/2.md leads nowhere", "the link docs/3.md leads nowhere", True),
    ],
)
def test_a_count_that_moved_makes_no_new_finding(then: str, now: str, is_new: bool) -> None:
    assert bool(apply(baseline_of([finding(then)]), [finding(now)]).new) is is_new


def test_the_same_finding_once_more_is_new() -> None:
    sorted_ = apply(
        baseline_of([finding("no cost")]), [finding("no cost", 3), finding("no cost", 9)]
    )

    assert (len(sorted_.baselined), len(sorted_.new)) == (1, 1)


def test_the_file_reads_back_and_is_written_once(workspace: Workspace) -> None:
    findings = [finding("b"), finding("a"), finding("a", 7), finding('odd: "words" # here\n')]
    assert write_baseline(workspace, baseline_of(findings))

    assert not write_baseline(workspace, baseline_of(reversed(findings)))
    assert read_baseline(workspace) == (baseline_of(findings), [])


@pytest.mark.parametrize(
    "text",
    [
        "findings: 3\n",
        "findings: [x]\n",
        "- a\n",
        "findings: [{count: many}]\n",
        "a: [\n",
        "schema_version: 2\nfindings: []\n",
    ],
)
def test_a_broken_file_lets_nothing_pass(workspace: Workspace, text: str) -> None:
    workspace.baseline.write_text(text, "utf-8")

    baseline, problems = read_baseline(workspace)

    assert len(baseline) == 0
    assert [problem.code for problem in problems] == ["ORB109"]


def test_fewer_of_several_are_still_accepted(workspace: Workspace) -> None:
    several, last = finding("it holds a prompt (3 of them)"), finding("it holds a prompt")
    write_baseline(workspace, baseline_of([several]))
    assert apply(read_baseline(workspace)[0], [last]).new == ()

    text = workspace.baseline.read_text("utf-8")
    earlier = text.replace(
        "holds a prompt", "holds a prompt (… of them)"
    )  # as it was written before
    workspace.baseline.write_text(earlier, "utf-8")
    assert earlier != text
    assert apply(read_baseline(workspace)[0], [several, last]).baselined == (several,)


def test_a_baseline_of_a_newer_version_is_not_written_over(workspace: Workspace) -> None:
    """What a newer version knows of a finding would be lost; updating says what reading says."""
    newer = "schema_version: 2\nfindings: []\n"
    workspace.baseline.write_text(newer, "utf-8")

    with pytest.raises(RefusedError) as refused:
        Registry.open(workspace.root).baseline_update()

    assert workspace.baseline.read_text("utf-8") == newer
    _, (problem,) = read_baseline(workspace)
    assert (refused.value.message, refused.value.hint) == (
        f".orbit/baseline.yaml: {problem.message}",
        problem.hint,
    )


@pytest.mark.parametrize("text", ["title: [x", "a: 1\na: 2\n", "\x00"])
def test_a_record_that_cannot_be_read_is_no_older_finding(workspace: Workspace, text: str) -> None:
    """Accepted, it would be missing from every answer without a word."""
    file = workspace.root / ".orbit/learnings/L-00001/learning.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    codes = [row.code for row in run(workspace).diagnostics]
    assert {"ORB101", "ORB102"} & {*codes}
    update_baseline(workspace)
    assert [row.code for row in run(workspace).diagnostics] == codes
