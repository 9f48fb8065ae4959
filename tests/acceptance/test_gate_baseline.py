"""A change can't accept its own findings: the baseline of its base judges it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.registry import Registry

Git = Callable[..., str]
DOCUMENT = """# 1. Use one store

Date: 2026-01-02

## Status

Accepted

## Context

Two stores differ. See [the old one](0000-gone.md).

## Decision

We use one store.

## Consequences

- Cost: a migration.
"""
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
BROUGHT: dict[str, dict[str, Any]] = {
    "a duplicate": {"summary": "Run the migrations before the tests", "expects": "ORB601"},
    "a secret": {"summary": f"The token is {TOKEN}", "expects": "ORB406"},
    "an unknown field": {"summary": "A new lesson", "colour": "red", "expects": "ORB104"},
    "a successor that is not there": {"supersedes": ["L-zzzzz"], "expects": "ORB301"},
}


def _errors(root: Path) -> set[str]:
    outcome = Registry.open(root).check(against="main")
    return {row.code for row in outcome.diagnostics if row.severity.value == "error"}


@pytest.fixture
def project(git_repo: Path, git: Git) -> Path:
    """Return a repository with a learning, on a branch for a change."""
    make_workspace(git_repo)
    write_learning(git_repo, 1, summary="Run the migrations before the tests")
    commit(git_repo)
    git(git_repo, "checkout", "-qb", "work")
    return git_repo


@pytest.mark.parametrize("case", BROUGHT.values(), ids=BROUGHT)
def test_a_change_accepts_none_of_its_findings(project: Path, case: dict[str, Any]) -> None:
    fields = dict(case)
    code = fields.pop("expects")
    write_learning(project, 2, **fields)
    commit(project)
    assert _errors(project) == {code}

    Registry.open(project).baseline_update()
    commit(project)

    assert code in _errors(project)


def test_what_the_base_accepted_stays_accepted(project: Path, git: Git) -> None:
    git(project, "checkout", "-q", "main")
    write_learning(project, 2, **BROUGHT["a duplicate"] | {"expects": None})
    Registry.open(project).baseline_update()
    commit(project)
    git(project, "checkout", "-q", "-B", "work")
    write(project, "src/a.py")
    commit(project)

    assert _errors(project) == set()


def test_a_change_that_brings_orbit_brings_its_baseline(git_repo: Path, git: Git) -> None:
    git(git_repo, "checkout", "-qb", "work")
    make_workspace(git_repo)
    write_learning(git_repo, 1, summary=BROUGHT["a secret"]["summary"])
    Registry.open(git_repo).baseline_update()
    commit(git_repo)

    assert _errors(git_repo) == set()


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited"])
def test_a_change_that_adopts_documents_accepts_what_they_had(
    project: Path, git: Git, edited: bool
) -> None:
    git(project, "checkout", "-q", "main")
    document = write(project, "docs/adr/0001-store.md", DOCUMENT.replace("Two", f"{TOKEN} two"))
    commit(project)
    git(project, "checkout", "-q", "-B", "work")
    if edited:
        document.write_text(DOCUMENT.replace("Two", f"{TOKEN} three"), "utf-8")

    import_from(project)
    Registry.open(project).baseline_update()
    commit(project)

    assert _errors(project) == ({"ORB406"} if edited else set())
