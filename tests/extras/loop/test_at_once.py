"""Two processes that write from the same records."""

from pathlib import Path

import pytest
from tests.files import events

from orbit_loop.consolidate import clusters, propose_cluster
from orbit_loop.proposals import (
    ADDITIVE,
    STRUCTURAL,
    Draft,
    ProposalHistory,
    proposal_digest,
    write_proposals,
)
from orbit_loop.retro.note import NoteRequest, note
from orbit_registry.errors import RefusedError
from orbit_registry.formats.diff import unified_diff
from orbit_registry.hook.events import PROPOSED
from orbit_registry.registry import Registry

PAGE = "skills/testing/SKILL.md"


@pytest.fixture
def registry(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    Registry.init(git_repo)
    return Registry.open(git_repo)


def draft(drift: str, message: str) -> Draft:
    """Return what would be proposed for the page."""
    diff = (
        unified_diff(PAGE, "# Testing\n", f"# Testing\n\n- {message}\n")
        if drift == ADDITIVE
        else ""
    )
    return Draft(PAGE, drift, message, message, (proposal_digest(PAGE, message),), (), diff)


@pytest.mark.parametrize("second", [draft(STRUCTURAL, "Close it"), draft(ADDITIVE, "Mind the gap")])
def test_a_concurrent_proposal_is_not_repeated(registry: Registry, second: Draft) -> None:
    record_id, workspace = (
        ProposalHistory.from_records(registry.collection.records),
        registry.workspace,
    )
    write_proposals(
        workspace,
        [draft(STRUCTURAL, "Close it"), draft(ADDITIVE, "Open it")],
        record_id,
        registry.author(),
    )

    with pytest.raises(RefusedError, match=f"{PAGE}: another process has just proposed this"):
        write_proposals(
            workspace, [draft(STRUCTURAL, "Lock it"), second], record_id, registry.author()
        )

    registry.refresh()
    current = registry.collection.records.of_kind("proposal")
    assert sorted(entry.title for entry in current) == ["Close it", "Lock it", "Open it"]
    assert [len(row["ids"]) for row in events(workspace.root, PROPOSED)] == [2, 1]


def test_a_cluster_is_proposed_once(registry: Registry) -> None:
    for summary in (
        "Sign the release tag before publishing wheels",
        "Publishing wheels needs a signed tag of the release",
        "Tooltips vanish when the sidebar is folded",
        "Migrations run in one transaction on Postgres",
    ):
        registry.add("learning", {"summary": summary})
    (result,) = clusters(registry.collection.records)
    propose_cluster(registry.workspace, result, registry.author())

    with pytest.raises(RefusedError, match="another process has just proposed what L-"):
        propose_cluster(registry.workspace, result, registry.author())


def test_an_unsolved_problem_is_noted_once(registry: Registry) -> None:
    records = registry.collection.records
    message = NoteRequest("Uploads fail without a retry key", attempts=3, failed=True)
    note(registry.workspace, records, message, registry.author())

    with pytest.raises(RefusedError, match="another process has just noted the same"):
        note(registry.workspace, records, message, registry.author())

    registry.refresh()
    assert len(registry.collection.records) == 1
