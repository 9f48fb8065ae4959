"""Edits of records, as git has them."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Git

from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.edits import BULK, edits_of
from orbit_registry.snapshot.publication import publication_of

DOCUMENT = "# Use one queue {}\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use one queue.\n"


def test_an_edit_is_a_later_commit_of_few_records(git_repo: Path, git: Git) -> None:
    setup_workspace(git_repo, load_kinds())
    documents = git_repo / "docs/adr"
    documents.mkdir(parents=True)
    for number in range(1, BULK + 3):
        document = documents / f"{number:04}-one.md"
        document.write_text(DOCUMENT.format(number), "utf-8")

    import_from(documents, start=git_repo)
    _commit(git, git_repo, "Add all")
    changed = sorted(documents.iterdir())
    for document in changed:
        document.write_text(document.read_text("utf-8") + "\nAll of them.\n", "utf-8")

    _commit(git, git_repo, "Format all")
    changed[0].write_text(DOCUMENT.format("only"), "utf-8")
    _commit(git, git_repo, "Say why\n\nAt length.")

    registry = Registry.open(git_repo)
    publication = publication_of(registry.workspace, registry.collection)
    edits = edits_of(publication, registry.records)
    assert {path: edit.subject for path, edit in edits.items()} == {
        ".orbit/adrs/ADR-0001/adr.yaml": "Say why"
    }
    assert all(edit.person and "@" not in edit.person for edit in edits.values())


def _commit(git: Git, root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
