"""What two documents say of each other, as their records then have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.checks import engine
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adoption import adopt, backfill
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import Workspace, open_workspace

Write = Callable[[str, str, str], None]


@pytest.fixture
def workspace(git_repo: Path) -> Workspace:
    """Return a workspace without decisions."""
    setup_workspace(git_repo, load_kinds())
    return open_workspace(git_repo)


@pytest.fixture
def write(workspace: Workspace) -> Write:
    """Write a decision's document with its status."""

    def put(name: str, title: str, status: str) -> None:
        file = workspace.root / "docs/adr" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nstatus: {status}\n---\n\n# {title}\n\n## Context\n\nWhy.\n\n## Decision\n\nThat.\n")

    return put


def records(workspace: Workspace) -> RecordSet:
    """Return the records as they stand on disk."""
    return read_collection(open_workspace(workspace.root)).records


@pytest.mark.parametrize("first", [(), ("docs/adr/0001-a.md",), ("docs/adr/0002-b.md",)])
def test_a_proposed_successor_that_both_documents_name_is_one(
    workspace: Workspace, write: Write, first: tuple[str, ...]
) -> None:
    """The two are no less than that, nothing is left or implied, and no check asks for more; in any order."""
    write("0001-a.md", "A", "superseded by [B](0002-b.md)")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    if first:
        adopt(workspace, first)
    report = backfill(workspace)
    assert (report.of("left"), report.of("changed")) == ([], [])
    old, new = records(workspace)
    assert (old.superseded_by, new.supersedes, old.links, new.links) == (("ADR-0002",), ("ADR-0001",), (), ())
    assert not {"x-unresolved"} & {*old.data, *new.data}


def test_a_decision_in_force_replaces_a_proposed_one_that_would_replace_it(workspace: Workspace, write: Write) -> None:
    """The report says which of the two holds, and they are not related beside that."""
    write("0001-a.md", "A", "accepted; supersedes [B](0002-b.md)")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    (remaining,) = backfill(workspace).of("left")
    assert remaining.reason.endswith("a proposed decision replaces nothing; the other one replaces it")
    old = records(workspace).get("ADR-0002")
    assert (old.superseded_by, old.supersedes, old.links) == (("ADR-0001",), (), ())


def test_what_a_proposed_decision_would_replace_is_a_record_still(workspace: Workspace, write: Write) -> None:
    """Where the other document says nothing of it, no check says that the record is not there."""
    write("0001-a.md", "A", "accepted")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    backfill(workspace)
    (finding,) = (item for item in engine.findings(workspace) if item.code == "ORB301")
    assert finding.message == "its document says `supersedes 0001-a.md`, which is no link between records"
