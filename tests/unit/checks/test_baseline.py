"""The baseline: what it knows a finding by, and that its file is always the same for the same findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.store.baseline import (
    NEVER,
    Baseline,
    apply,
    baseline_of,
    baseline_text,
    read_baseline,
    write_baseline,
)
from orbit_registry.store.workspace import Workspace, open_workspace
from orbit_registry.text.position import Position
from orbit_registry.text.yaml import load

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
FINDINGS = st.lists(
    st.builds(
        Diagnostic,
        st.sampled_from(["ORB301", "ORB502"]),
        st.just(Severity.ERROR),
        WORDS,
        st.builds(Location, st.sampled_from(["a.md", "b.md"]), st.builds(Position, st.integers(1, 99))),
        st.none(),
        st.none() | st.sampled_from(["L-7k3fq"]),
    ),
    max_size=6,
)


def finding(line: int = 1, message: str = "it is so", code: str = "ORB301") -> Diagnostic:
    """Return a finding."""
    return Diagnostic(code, Severity.ERROR, message, Location("a.md", Position(line)))


@pytest.fixture
def space(workspace: Path) -> Workspace:
    """Return the workspace as the store sees it."""
    return open_workspace(workspace)


def test_a_finding_twice_needs_two_places_in_the_baseline() -> None:
    """One known finding lets one pass; the second of the same words is new."""
    parts = apply(baseline_of([finding(1)]), [finding(5), finding(9)])
    assert (parts.baselined, parts.new, parts.gone) == ((finding(5),), (finding(9),), ())
    parts = apply(baseline_of([finding(1), finding(2)]), [finding(5)])
    assert (len(parts.baselined), parts.new, len(parts.gone)) == (1, (), 1)


@pytest.mark.parametrize("code", sorted(NEVER))
def test_findings_about_this_run_are_never_held(code: str) -> None:
    """What git can't tell, a broken baseline, a promotion: they are said each time."""
    assert len(baseline_of([finding(code=code)])) == 0


@given(FINDINGS)
def test_the_file_gives_back_what_went_in(found: list[Diagnostic]) -> None:
    """Text and back is the same baseline, which knows each of its findings; order does not matter."""
    baseline = baseline_of(found)
    text = baseline_text(baseline)
    assert text == baseline_text(baseline_of(list(reversed(found))))
    assert isinstance(load(text), dict)
    assert apply(baseline, found).new == ()


def test_reading_gives_what_was_written(space: Workspace) -> None:
    """A written baseline reads back as it was, and writing it again touches nothing."""
    baseline = baseline_of([finding(1), finding(2), finding(3, 'odd: "words" # and\u2028more')])
    assert write_baseline(space, baseline)
    before = space.baseline.stat().st_mtime_ns
    assert not write_baseline(space, baseline)
    assert space.baseline.stat().st_mtime_ns == before
    assert read_baseline(space) == (Baseline(dict(baseline.counts)), [])


@pytest.mark.parametrize(
    "content",
    [b"findings: [", b"- a\n", b"findings: 3\n", b"findings:\n  - 3\n", b"findings:\n  - {count: many}\n", b"\xff"],
)
def test_a_broken_baseline_is_one_finding(space: Workspace, content: bytes) -> None:
    """What can't be read is empty, and one diagnostic says so."""
    space.baseline.write_bytes(content)
    baseline, problems = read_baseline(space)
    assert len(baseline) == 0
    assert [one.code for one in problems] == ["ORB109"]


def test_no_baseline_is_an_empty_one(space: Workspace) -> None:
    """A workspace without the file has no known findings."""
    assert read_baseline(space) == (Baseline(), [])
